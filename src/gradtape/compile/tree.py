"""The recordings of one function for one key of arguments: a program for each outcome of guards."""

from __future__ import annotations

import logging
import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import numpy as np

from .. import dtypes, nest
from ..arrays.tensor_array import TensorArray
from ..autodiff.custom import graphs
from ..core.apply import followers, tensor
from ..core.record import Value, threads
from ..framework import convert
from ..framework.shapes import CompositeTensor, TensorShape, TensorSpec
from ..framework.variable import Variable
from ..ops.shape import identity, identity_n
from ..random import global_seed
from . import hearing
from .backends.choice import ready
from .backends.numpy import line_of
from .calls import derive, may_call
from .draws import Kernels
from .play import interpret
from .program import Failed, Program
from .record import Recording, Unrecordable, stand_ins
from .traced import untraced

log = logging.getLogger("gradtape")
LIMIT = 64  # programs for one key
RAISED = -1  # in place of a guard's number: the program raised an exception
FIRST = "the first call"


_UNKNOWN = object()


class Take:
    """One recording: a program, and how its results become what the function returned."""

    def __init__(
        self,
        program: Program,
        pack: Callable[[list], Any],
        cause: str,
        compile: bool | None = None,
    ) -> None:
        self.program, self.pack, self.cause, self.compile = program, pack, cause, compile
        self.outcomes = tuple([e.op.outcome for e in program.guards])
        self.handles = any(e.op.name == "raises" for e in program.guards)  # an exception
        self.passes: list[tuple[str, int, int]] = []
        self.heard: Any = None  # what a listener noted of the dry run
        self._runner: Any = None
        self._derivative: Any = _UNKNOWN

    @property
    def runner(self) -> Any:
        """The program made ready to run, when it is first needed."""
        if self._runner is None:
            self._runner = ready(self.program, self.passes, self.compile, self._arrived)
        return self._runner

    @property
    def direct(self) -> Any:
        """What plays it without further ado, if there is such a function."""
        return getattr(self.runner, "direct", None)

    def _arrived(self, runner: Any) -> None:
        self._runner = runner

    @property
    def outputs(self) -> Any:
        """What the function returns, with specs in the places of tensors."""
        return self.pack([TensorSpec(v.shape, dtypes.of(v.dtype)) for v in self.program.outputs])

    def play(self, leaves: list, done: dict[int, Any] | None, hear: Any = None) -> Any:
        """The results as tensors, or the guard that did not hold; None if only Python will do. The
        list `hear` gets who played it, if it was played equation by equation."""
        alone = threads.recording is None and not (threads.active and self._followed(leaves))
        if alone:
            captured = [t._value for t, _ in self.program.captures]
            return self.run([t._value for t in leaves] + captured, done)
        if self.program.custom and not alone:
            return None
        if threads.recording is None and not alone and may_call() and not self._watched_by_hand():
            if self._derivative is _UNKNOWN:
                self._derivative = derive(self.program, leaves)
            if self._derivative is not None:
                return self._derivative.call(leaves, done)
        found = interpret(self.program, leaves, done, mode(), hear)
        return found if found.__class__ is Failed else _bundled(found)

    def _followed(self, leaves: list) -> bool:
        """Whether somebody follows what the program starts from."""
        program = self.program
        if threads.watching is not None and any(v._trainable for v, _ in program.variables):
            return True
        captured = [t for t, _ in program.captures]
        return followers([*leaves, *captured]) is not None or self._watched_by_hand()

    def _watched_by_hand(self) -> bool:
        """Whether somebody watches a variable, or a tensor that the function found outside."""
        held = [*self.program.held.values(), *[v for v, _ in self.program.variables]]
        return followers(held) is not None

    def run(self, values: list, done: dict[int, Any] | None = None) -> Any:
        """`play` on arrays, where nobody looks on."""
        found: Any = (self._runner or self.runner)(values, done)
        return found if found.__class__ is Failed else list(map(tensor, found))


def mode() -> str:
    """Which kernels TensorFlow would run: those for a tape, for several, for forward mode."""
    if threads.recording is not None or not threads.active:
        return ""
    if any(r.append is None for r in threads.active):
        return "forward"
    several = len(threads.active) > 1 or getattr(threads.active[0], "persistent", False)
    return "tapes" if several else "tape"


def _bundled(tensors: list) -> list:
    """The results as those of one op: where one of them is asked for its gradient, what the others
    depend on has zeros."""
    where = [k for k, t in enumerate(tensors) if t._value.dtype.kind in "fcV"]
    if len(where) > 1:
        for k, t in zip(where, identity_n.apply(*[tensors[k] for k in where]), strict=True):
            tensors[k] = t
    return tensors


class Tree:
    """What a function does for one key."""

    def __init__(
        self,
        python_function: Callable[..., Any],
        name: str,
        cause: str,
        kernels: Kernels,
        compile: bool | None = None,
    ) -> None:
        self._compile = compile
        self._function, self._name, self._cause = python_function, name, cause
        self._kernels = kernels
        self.takes: list[Take] = []  # the latest one first
        self.recordings = 0
        self.eager = ""  # why it runs eagerly, if it does
        self.created = False  # whether variables were made when it was recorded
        self._seed: Any = global_seed()
        self._warned = False

    def call(self, bound: Any, may_create: bool = False, tried: Any = None) -> Any:
        """Play the program that holds, or make it; `tried` is one with what it gave instead of
        results: the guard that did not hold, or an exception."""
        done: dict[int, Any] = {}  # what effects gave that were performed
        take = self.takes[0] if self.takes else None
        cause, over = self._cause, list[Take]()  # `over`: programs that do not hold
        found: Any = None
        if tried is not None:
            take, found = tried
            if found.index == RAISED and self._is_final(found.read):
                raise found.read
            over.append(take)
            done, cause, take = found.done, self._told(take, found), self._other(take, found, over)
        while not self.eager:
            fresh = take is None
            if take is None:
                with noted(found):
                    take, made = self._record(bound, done, may_create, cause)
                if take is None:
                    break
                done = done if made is None else made
            play = hearing.listeners[0].play if hearing.listeners else Take.play
            try:
                found = play(take, bound.leaves, done)
            except Exception as error:
                if fresh or self._is_final(error):
                    raise
                found = Failed(RAISED, error, done)
            if found is None:  # only Python will do, whatever was done for the recording
                if threads.recording is not None:
                    threads.recording.take_over(done)
                done = {}
                break
            if found.__class__ is not Failed:
                if take is not self.takes[0]:
                    self.takes = [take, *[t for t in self.takes if t is not take]]
                return take.pack(found)
            if fresh:  # what is played differs in last bits from what was recorded
                done = found.done
                break
            over.append(take)
            done, cause, take = found.done, self._told(take, found), self._other(take, found, over)
        if done and not self.eager:
            return self._once(bound, done)
        return self._eagerly(bound)

    def _is_final(self, error: Exception) -> bool:
        """Whether an exception is the function's own: what an effect raised is, unless Python has
        handled one before. Of others the function itself tells, when it is recorded again."""
        return hasattr(error, "of_an_effect") and not any(take.handles for take in self.takes)

    def _eagerly(self, bound: Any) -> Any:
        """Run Python; an exception leaves the variables that are known as they were."""
        held = {id(v): v for take in self.takes for v, _ in take.program.updates}.values()
        before = [(variable, variable._outside()) for variable in held]
        outside, graphs.eager = graphs.eager, True
        try:
            return run_eagerly(self._function, *bound.rebuild(bound.leaves))
        except BaseException:
            for variable, array in before if threads.recording is None else ():
                variable._array = array
            raise
        finally:
            graphs.eager = outside

    def _once(self, bound: Any, done: dict[int, Any]) -> Any:
        """A recording for this call alone, in which what was performed is not done again."""
        take, recording = self.record(bound, done, False, "")
        return take.pack(interpret(take.program, bound.leaves, recording.done, mode()))

    def some_take(self, bound: Any, may_create: bool) -> Take:
        """A recording for these arguments, which is not played."""
        try:
            return self.taken(bound, may_create)
        except Unrecordable as reason:
            raise TypeError(f"{self._name} cannot be recorded: {reason}.") from None

    def taken(self, bound: Any, may_create: bool) -> Take:
        """The same, for those who know what to do without one."""
        if not self.takes:
            self._record(bound, None, may_create, self._cause)
        if not self.takes:
            raise Unrecordable(self.eager)
        return self.takes[0]

    def tried(self, bound: Any) -> Take:
        """A recording for these very numbers, which is not kept."""
        return self.record(bound, None, False, self._cause)[0]

    def _other(self, take: Take, failed: Failed, over: list[Take]) -> Take | None:
        """The recording in which all went the same way, up to this guard. Of exceptions only those
        that Python handled are guards: where there is one, all that may hold are tried."""
        left = [t for t in self.takes if t not in over]
        if failed.index == RAISED:
            return next((t for t in left if t.handles), None)
        before = take.outcomes[: failed.index]
        way = (*before, failed.read)
        if take.program.guards[failed.index].op.name == "raises":
            way = before
        return next((t for t in left if t.outcomes[: len(way)] == way), None)

    def _told(self, take: Take, failed: Failed) -> str:
        """Which guard did not hold, in words."""
        if failed.index == RAISED:
            return f"{type(failed.read).__name__} was raised"
        guard = take.program.guards[failed.index]
        read = failed.read if guard.op.name != "numbers" else "other numbers"
        return f"{guard.op.name} was {read} at {line_of(guard)}"

    def _record(
        self, bound: Any, done: dict[int, Any] | None, may_create: bool, cause: str
    ) -> tuple[Take | None, dict[int, Any] | None]:
        if len(self.takes) >= LIMIT:
            self._warn(cause)
            return None, None
        try:
            take, recording = self.record(bound, done, may_create, cause)
            if recording.created:
                self.created = True
                if self._cause != FIRST:
                    raise ValueError(
                        "Creating variables on a non-first call to a function decorated with "
                        "tf.function."
                    )
                # And once more, as it will be from now on; what was performed is not done again.
                take, recording = self.record(bound, recording.done, False, cause)
        except Unrecordable as reason:
            self.eager = str(reason)
            return None, None
        # Nothing is locked while a function is recorded: it may wait for another thread, as a step
        # for its next batch, and that may record, too. What two threads record at once is one.
        self.takes = [take, *self.takes]
        return take, recording.done

    def record(
        self, bound: Any, done: dict[int, Any] | None, may_create: bool, cause: str
    ) -> tuple[Take, Recording]:
        """Run the function once, on the values of the leaves."""
        self.recordings += 1
        recording = Recording(self._kernels, self._seed, may_create)
        if followers(bound.leaves) is not None or threads.watching is not None:
            recording.mode = mode()
        recording.done.update(done or {})
        recording.knows_shapes = not stand_ins.used and not bound.leaves_sizes_open
        with hearing.recording(recording, bound.leaves) as heard, recording.running():
            inputs = [recording.trace(untraced(leaf._value)) for leaf in bound.leaves]
            args, kwargs = bound.rebuild([tensor(value) for value in inputs])
            before = _parts(bound, args, kwargs)
            try:
                tensors, pack = _results(self._function(*args, **kwargs), self._function)
            except Unrecordable:  # it runs eagerly, and does it all again
                for undo in reversed(recording.undoing):
                    undo()
                raise
            self._check_unchanged(before, _parts(bound, args, kwargs))
            program = recording.finish(inputs, tensors)
        take = Take(program, pack, cause, self._compile)
        take.heard = heard
        return take, recording

    def _check_unchanged(self, before: dict[str, list], after: dict[str, list]) -> None:
        """What the function does to its arguments would not be done when it is played."""
        changed = [
            name
            for name, leaves in before.items()
            if len(leaves) != len(after[name])
            or any(a is not b for a, b in zip(leaves, after[name], strict=True))
        ]
        if changed:
            called = getattr(self._function, "__qualname__", self._name)
            raise ValueError(
                f"{called}({', '.join(before)}) should not modify its Python input arguments. "
                "Modifying a copy is allowed. The following parameter(s) were modified: "
                f"{', '.join(changed)}"
            )

    def _warn(self, cause: str) -> None:
        if not self._warned:
            self._warned = True
            log.warning(
                "%s has been recorded %d times for one kind of arguments, and runs eagerly where "
                "none of these holds: %s. Let Python look at fewer numbers: use tf.cond, tf.where "
                "or tf.while_loop, or pass what changes as an argument. step.explain() tells more.",
                self._name, LIMIT, cause,
            )  # fmt: skip


@contextmanager
def noted(found: Any) -> Iterator[None]:
    """What a program said of an exception is said of the function's own, too."""
    try:
        yield
    except Exception as error:
        if found is not None and found.index == RAISED and type(found.read) is type(error):
            for note in getattr(found.read, "__notes__", ()):
                error.add_note(note)
        raise


def _parts(bound: Any, args: tuple, kwargs: dict[str, Any]) -> dict[str, list]:
    """The leaves of each argument."""
    values = zip(bound.key[0], (*args, *kwargs.values()), strict=False)
    return {name: nest.flatten(value) for name, value in values}


def run_eagerly(function: Callable[..., Any], args: tuple, kwargs: dict[str, Any]) -> Any:
    """The function itself; its results are tensors all the same."""
    tensors, pack = _results(function(*args, **kwargs), function)
    # Never the very tensor that was given or captured, which would have derivative 1 to itself.
    return pack([t if t._mark is not None else identity.apply(t) for t in tensors])


def _results(result: Any, function: Any) -> tuple[list, Callable[[list], Any]]:
    """The tensors in a result, and what puts others in their places."""
    if isinstance(result, range):
        result = list(result)
    leaves = nest.flatten(result, expand_composites=True)
    made = [_as_tensor(leaf, function) for leaf in leaves]
    where = [k for k, leaf in enumerate(made) if leaf is not None]
    others = [leaf if made[k] is None else None for k, leaf in enumerate(leaves)]
    single = len(leaves) == 1 and result is leaves[0]
    # Without the tensors themselves, which would live as long as the program.
    like = nest.map_structure(lambda x: x if isinstance(x, CompositeTensor) else None, result)

    if single:
        return [made[k] for k in where], operator.itemgetter(0) if where else lambda tensors: None
    names: dict[str, Any] = {}
    text = _written(result, count(), names)
    if text is not None:
        return [made[k] for k in where], eval(f"lambda t: {text}", names)

    def pack(tensors: list) -> Any:
        flat = list(others)
        for k, one in zip(where, tensors, strict=True):
            flat[k] = one
        return nest.pack_sequence_as(like, flat, expand_composites=True)

    return [made[k] for k in where], pack


def _written(structure: Any, numbers: Iterator[int], names: dict[str, Any]) -> str | None:
    """A structure of plain tuples, lists, dictionaries and tensors as Python writes it, which is
    ten times as quick to make as any other; what it needs for more goes to `names`."""
    kind = structure.__class__
    if kind is dict:
        if not all(isinstance(key, (str, int)) for key in structure):
            return None
        # Leaves are in the order of the keys.
        parts = {key: _written(structure[key], numbers, names) for key in nest_order(structure)}
        if None in parts.values():
            return None
        return f"{{{', '.join(f'{key!r}: {parts[key]}' for key in structure)}}}"
    if kind in (tuple, list):
        inside = [_written(part, numbers, names) for part in structure]
        if None in inside:
            return None
        words = ", ".join(map(str, inside))
        return f"[{words}]" if kind is list else f"({words}{',' * (len(inside) == 1)})"
    if structure is None:
        return "None"
    if isinstance(structure, CompositeTensor):
        spec = structure._type_spec
        parts_text = _written(spec._to_components(structure), numbers, names)
        name = f"made_{len(names)}"
        names[name] = spec._from_components
        return None if parts_text is None else f"{name}({parts_text})"
    plain = isinstance(structure, (Value, Variable, *_PLAIN))
    return f"t[{next(numbers)}]" if plain else None


def nest_order(mapping: dict) -> list:
    """The keys as `tf.nest` goes through them."""
    return sorted(mapping)


_PLAIN = (bool, int, float, complex, str, bytes, np.ndarray, np.generic)


def _as_tensor(leaf: Any, function: Any) -> Any:
    """A tensor for what TensorFlow makes one of, None for None."""
    if leaf is None or isinstance(leaf, TensorArray):
        return None
    if isinstance(leaf, Variable):
        return leaf.read_value()
    if isinstance(leaf, TensorShape):
        return convert.to_tensor(np.array(leaf.as_list(), np.int32))
    if isinstance(leaf, Value):
        return leaf
    if isinstance(leaf, _PLAIN):
        return convert.to_tensor(leaf)
    raise TypeError(
        "To be compatible with tf.function, Python functions must return zero or more Tensors or "
        f"ExtensionTypes or None values; in compilation of {function}, found return value of type "
        f"{type(leaf).__name__}, which is not a Tensor or ExtensionType."
    )
