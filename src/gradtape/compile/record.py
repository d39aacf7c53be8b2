"""Recording a function: a dry run on its real arguments, in which every op becomes an equation.

Tensors that depend on the arguments or on variables are `Recorded`, and hold a `Traced` instead of
an array. Shape and dtype of it are free to all; whoever looks at its numbers, Python or gradtape's
own functions, gets them, and the program gets a guard: it holds as long as they are the same. So
nothing that a function does can go unnoticed, and what is not an op yet is slow, not wrong.

Nothing happens to the world in the dry run: variables are read and written in the recording, draws
come from places that nobody moves on, prints are left to the program, which is played afterwards.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from itertools import count
from threading import local
from typing import Any

import numpy as np

from ..autodiff import sweep
from ..autodiff.custom import suspended
from ..autodiff.recording import resume
from ..core import apply as engine
from ..core.apply import QUIET, followers, note, restore, several, silence, tensor
from ..core.place import NAME, caller
from ..core.record import Mark, Recorder, join, mark_of, next_id, threads
from ..errors import InvalidArgumentError, invalid
from ..framework.shapes import TensorShape
from ..random import seeds_of_op
from .draws import Kernel, Kernels, Number, Place
from .program import Assign, Check, Effect, Equation, Guard, Program, Python, Var
from .traced import OUT_OF_SCOPE, READERS, Recorded, Traced, numbers, raised, untraced

log = logging.getLogger("gradtape")
MANY = 2000  # equations from one place, of which a user should know


class Unrecordable(Exception):
    """A function cannot be played without Python: it runs eagerly, and `explain` says why."""


class Unseen(Exception):
    """Only the world knows what an effect gives, and a recording on stand-ins does not ask it."""


class _StandIns(local):
    """Per thread: whether functions are recorded on stand-ins."""

    used = False
    size = 2  # of what is open
    guessed = False  # whether an effect has given one


stand_ins = _StandIns()


def once(function: Callable[..., Any]) -> Callable[..., Any]:
    """An effect whose exception says that it is one's: the world has seen it, and it must not be
    tried again."""

    def perform(*values: Any) -> Any:
        try:
            return function(*values)
        except Exception as error:
            error.of_an_effect = True  # type: ignore[attr-defined]
            raise

    perform.__dict__.update(vars(function))  # what it says of itself, such as the user's function
    return perform


@contextmanager
def looking() -> Iterator[None]:
    """A block that computes with the numbers of a call, whose errors are those of eager ops."""
    recording, threads.recording = threads.recording, None
    try:
        yield
    finally:
        threads.recording = recording


# --- the recording --------------------------------------------------------------------------------
class Recording(Recorder):
    """The dry run of a function, and the program that it becomes.

    Among the recorders at work it stands for itself: a sweep that somebody may follow is recorded.
    """

    pauses = False
    sketches = False  # whether it only tells shapes
    knows_shapes = False  # whether TensorFlow knows all sizes before it computes
    mode = ""  # that of its draws

    def __init__(self, kernels: Kernels, seed: Any, may_create: bool) -> None:
        super().__init__()
        self.program = Program()
        self.outer: Recording | None = None
        self.streams: list[tuple[Any, Var, int]] = []
        self.created: list[Any] = []  # variables
        self.done: dict[int, Any] = {}  # what effects gave that were performed in the dry run
        self.effects = 0
        self.undoing: list[Callable[[], None]] = []  # how to undo those that can be undone
        self._kernels, self._seed, self._may_create = kernels, seed, may_create
        self._drawn = count()  # the seeds of ops without one of their own
        self._scope: tuple[int, ...] = ()  # the branches and loops that it is in
        self._position = 0  # of the next random op there, among random ops and blocks
        self._constants: dict[Any, tuple[Var, Any]] = {}
        self._captured: dict[int, tuple[Any, Var]] = {}  # tensors, by their id or their value's
        self._variables: dict[int, tuple[Any, Traced]] = {}  # as they are at the beginning
        self._written: dict[int, tuple[Any, Traced]] = {}
        self._seen: dict[int, Any] = {}  # tensors that were read of variables
        self._guarded: set[tuple[Var, str]] = set()
        self._from: dict[Any, int] = {}  # how many equations come from a place

    @contextmanager
    def running(self) -> Iterator[Recording]:
        """While this block runs, this thread records. Tapes around it pause, and this recording
        follows what they follow: the program gets it from outside at every call."""
        self.outer = threads.recording
        if self.outer is not None and not self.sketches:
            self.knows_shapes = self.outer.knows_shapes
        tapes = [r for r in threads.active if r.pauses]

        def end() -> None:
            threads.recording = self.outer
            self.close()
            resume(tapes)

        try:
            for tape in tapes:
                tape.stop()
            self.start()
            own = mark_of((self,))
            for mark in [mark for tape in tapes for mark in tape.marks.values()]:
                if mark.live is None:
                    mark.live = own
            threads.recording = self
            yield self
        finally:
            try:
                end()
            except BaseException:  # Ctrl-C in the middle of it
                end()
                raise

    def push(self, op: Any, operands: Any, params: dict, results: Any) -> None:
        """An op on tensors that a tape around this recording follows has been applied as if nothing
        was recorded: its results become part of the program after all."""
        several = results.__class__ is tuple
        tensors = results if several else (results,)
        if any(type(t._value) is Traced for t in tensors):
            return
        made = self.say(op, operands, params, [t._value for t in tensors])
        for t, value in zip(tensors, made, strict=True):
            t._value, t.__class__ = value, Recorded
            t._mark = without(self, t._mark)

    # --- values -----------------------------------------------------------------------------------
    def trace(self, array: Any, var: Var | None = None) -> Traced:
        return Traced(array, self, self.program.like(array) if var is None else var)

    def number(self, value: int, var: Var) -> Number:
        made = Number(value)
        made.var, made.recording = var, self
        return made

    def var(self, value: Any) -> Var:
        """The program's name for a value: its own, a captured one, or a constant."""
        if type(value) is Traced or type(value) is Number:
            if value.recording is self:
                return value.var
            return self._capture(value)
        scalar = not isinstance(value, np.ndarray)
        key = (value.dtype, numbers(value)) if scalar else id(value)
        if key not in self._constants:
            self._constants[key] = self.program.constant(value), value
        return self._constants[key][0]

    def _capture(self, value: Any) -> Var:
        """A value of the recording around this one."""
        if value.recording.closed:
            raise TypeError(OUT_OF_SCOPE.format("A tensor"))
        if type(value) is Number:
            raise Unrecordable("it draws from a place that another function computed")
        if id(value) not in self._captured:
            self._captured[id(value)] = tensor(value), self.program.like(value)
        return self._captured[id(value)][1]

    def var_of(self, operand: Any) -> Var:
        """The name for the value of a tensor; one that somebody follows comes from outside."""
        value = operand._value
        if type(value) is Traced and value.recording is self:
            return value.var
        if type(value) is Traced and value.recording.closed:
            raise TypeError(OUT_OF_SCOPE.format(repr(operand)))
        if type(value) is Traced or operand._mark is not None:
            own = id(value) if type(value) is Traced else id(operand)
            if own not in self._captured:
                self._captured[own] = operand, self.program.like(value)
            elif self._captured[own][0]._mark is None:  # its value was captured, and is followed
                self._captured[own] = operand, self._captured[own][1]
            return self._captured[own][1]
        if value.dtype.kind not in "fcV":
            return self.var(value)
        key = "tensor", id(operand)  # each its own: another may be watched one day
        if key not in self._constants:
            var = self.program.constant(value)
            self._constants[key] = var, operand
            self.program.held[var] = operand
        return self._constants[key][0]

    def guard(self, how: str, value: Any) -> None:
        """Somebody read this of a value."""
        var = self.var(value)
        if not {(var, how), (var, "numbers")} & self._guarded:
            self._guarded.add((var, how))
            read = READERS[how]
            self._say(Guard(how, read, read(value.array)), (var,), {}, ())

    def _say(self, op: Any, inputs: Any, params: dict, outputs: Any) -> None:
        user = caller(3)
        place = user.f_code, user.f_lasti
        self.program.equations.append(Equation(op, inputs, params, outputs, place))
        self._from[place] = said = self._from.get(place, 0) + 1
        if said == MANY and _calls(user):
            log.warning(
                "%d equations come from one place in a function, %s:%d: a Python loop is recorded "
                "step by step. tf.scan, tf.map_fn and tf.while_loop stay loops.",
                MANY, user.f_code.co_filename, _line(*place),
            )  # fmt: skip

    def say(self, op: Any, operands: Any, params: dict, arrays: Any) -> tuple[Traced, ...]:
        """An equation of tensors that gives these arrays."""
        made = tuple([self.trace(array) for array in arrays])
        for name, value in params.items():
            if type(value) is Number:
                params = {**params, name: self.var(value)}
        self._say(op, tuple(map(self.var_of, operands)), params, tuple([t.var for t in made]))
        return made

    # --- for the layers below ---------------------------------------------------------------------
    def compute(self, name: str, function: Callable[..., Any], *values: Any) -> Traced:
        """The array that a pure function gives, which no op has."""
        with looking():
            made = self.trace(function(*map(untraced, values)))
        self._say(Python(name, function), tuple(map(self.var, values)), {}, (made.var,))
        return made

    def compute_sizes(
        self, name: str, function: Callable[..., Any], values: Any, sizes: Any, dtype: np.dtype
    ) -> Traced:
        """The same of a function whose numbers tell sizes of the result, None in `sizes`."""
        if stand_ins.used:
            made = self.trace(sized(sizes, dtype))
            self._say(Python(name, function), tuple(map(self.var, values)), {}, (made.var,))
        else:
            made = self.compute(name, function, *values)
        self.guard("shape", made)
        return made

    def numbers(self, name: str, function: Callable[..., Any], *values: Any) -> list[Number]:
        """The Python numbers that a pure function gives: one, or a tuple of several."""
        with looking():
            found = function(*map(untraced, values))
        found = found if isinstance(found, tuple) else (found,)
        made = [self.number(value, self.program.new(None, None)) for value in found]
        outputs = tuple([n.var for n in made])
        self._say(Python(name, function), tuple(map(self.var, values)), {}, outputs)
        return made

    def check(self, function: Callable[..., None], *values: Any) -> None:
        """Let a function look at numbers, which raises or does nothing."""
        try:
            with looking():
                function(*map(untraced, values))
        except Exception:
            self.failed(function, values)
            raise
        self._say(Check("check", function), tuple(map(self.var, values)), {}, ())

    def failed(self, function: Callable[..., Any], values: Any) -> None:
        """A function raised an exception, which Python may handle: the program holds as long as
        it does so."""
        read = partial(raised, function)
        with looking():
            outcome = read(*map(untraced, values))
        self._say(Guard("raises", read, outcome), tuple(map(self.var, values)), {}, ())

    def effect(
        self,
        name: str,
        function: Callable[..., Any],
        values: Any,
        arrays: bool,
        looks: bool = True,
        like: Callable[[int], Any] | None = None,
    ) -> Any:
        """Something that the world can see; if it gives arrays, it is done now, once for the dry
        run and for the first time that the program is played. `looks`: perhaps at variables.
        `like` gives arrays of the kind, with a size where theirs is open."""
        index, self.effects = self.effects, self.effects + 1
        inputs: tuple = tuple(map(self.var, values))
        made: tuple[Traced, ...] = ()
        if arrays:
            if stand_ins.used and like is None:
                raise Unseen
            if self._written and looks:
                raise Unrecordable(f"{name} may look at variables that were assigned before it")
            if stand_ins.used and like is not None:
                stand_ins.guessed |= not getattr(like, "exact", False)
                found = like(stand_ins.size)
            else:
                if index not in self.done:
                    with suspended():
                        self.done[index] = function(*map(untraced, values))
                found = self.done[index]
                undo = getattr(function, "undo", None)
                if undo is not None:
                    self.undoing.append(partial(undo, found, *map(untraced, values)))
            made = tuple([self.trace(array) for array in found])
        self._say(Effect(name, once(function), looks), inputs, {}, tuple([t.var for t in made]))
        for one in made:
            self.guard("shape", one)
        return made

    def take_over(self, done: dict[int, Any]) -> None:
        """The next effects were performed when a function was recorded that runs now, in this."""
        for index, found in done.items():
            self.done.setdefault(self.effects + index, found)

    def kernel(self, seed: Any) -> Kernel:
        """The stream of a random op, by TensorFlow's rules for graphs: ops without a seed of their
        own count from 0 in each function."""
        return self.kernel_of(seeds_of_op(self._seed, seed, self._drawn.__next__))

    def kernel_of(self, pair: tuple[int, int] | None) -> Kernel:
        index = (*self._scope, self._position)
        self._position += 1
        return Kernel(self, self._kernels.at(index, pair))

    def set_seed(self, seed: Any) -> None:
        """Graphs have a seed of their own, which the global one is when they begin."""
        self._seed = seed

    def block(self, number: int) -> Callable[[], AbstractContextManager[None]]:
        """A block that is a graph of its own in TensorFlow, a branch or a loop's body: its random
        ops count from 0, and go on where they stopped each time that it is entered."""
        scope = (*self._scope, self._position, number)
        self._position += 1

        @contextmanager
        def entered() -> Iterator[None]:
            before = self._drawn, self._scope, self._position
            self._drawn, self._scope, self._position = count(), scope, 0
            try:
                yield
            finally:
                self._drawn, self._scope, self._position = before

        return entered

    def turns(self, elements: Iterator[Any]) -> Iterator[Any]:
        """What a Python loop goes through, which is a loop with a body in TensorFlow, too."""
        entered = self.block(0)
        for element in elements:
            with entered():
                yield element

    def row(self, array: Any, index: Any) -> Any:
        """An element of a `TensorArray` at a place that the loop computes whose body is recorded;
        None if this is not one."""
        return None

    def counted_loop(self, *loop: Any) -> Any:
        """A loop of a length that is known as one equation, or None."""
        from .counting import counted_loop

        return counted_loop(*loop)

    def while_loop(self, *loop: Any) -> Any:
        """A loop as one equation, or None."""
        from .loops import while_loop

        return while_loop(*loop)

    def scan(self, *loop: Any) -> Any:
        from .loops import scan

        return scan(*loop)

    def map_rows(self, *loop: Any) -> Any:
        from .loops import map_rows

        return map_rows(*loop)

    def place(self, function: Callable[..., Any], *values: Any) -> Place:
        """Where to draw, as a pure function computes it."""
        return Place(*self.numbers("place", function, *values))

    # --- variables --------------------------------------------------------------------------------
    def value_of(self, variable: Any) -> Traced:
        """What a variable holds at this point of the function."""
        entry = self._written.get(variable._id) or self._variables.get(variable._id)
        if entry is None:
            outer = self.outer
            array = variable._outside() if outer is None else outer.value_of(variable).array
            entry = self._variables[variable._id] = variable, self.trace(array)
            if not variable._shape.is_fully_defined():
                self.guard("shape", entry[1])
        return entry[1]

    def read(self, variable: Any) -> Any:
        """The tensor that ops see: one as long as value and tapes stay the same."""
        value, mark = self.value_of(variable), threads.watching if variable._trainable else None
        if variable._mark is not None:
            mark = join(mark, variable._mark)
        seen = self._seen.get(variable._id)
        if seen is not None and seen._value is value and seen._mark is mark:
            return seen
        seen = self._seen[variable._id] = tensor(value)
        for recorder in mark.recorders if mark is not None else ():
            recorder.variables[variable._id] = variable
        if mark is not None and value.dtype.kind in "fcV":
            seen._mark, seen._id = mark, variable._id
        return seen

    def write(self, variable: Any, value: Any) -> None:
        """Assign; `value` is an array or traced."""
        self.value_of(variable)  # it is part of the program, whatever is done with it
        made = self.trace(untraced(value))
        op = Assign("assign", lambda value: value, variable)
        self._say(op, (self.var(value),), {}, (made.var,))
        self._written[variable._id] = variable, made

    def here(self) -> Callable[[], None]:
        """This point of the recording: called, it takes back what was said since then. Effects that
        were performed are not performed again."""
        equations, effects = len(self.program.equations), self.effects
        written, seen = dict(self._written), dict(self._seen)
        streams, guarded, position = list(self.streams), set(self._guarded), self._position

        def take_back() -> None:
            del self.program.equations[equations:]
            self.effects, self.streams, self._guarded = effects, streams, guarded
            self._written, self._seen, self._position = written, seen, position

        return take_back

    def known(self, shape: tuple[int, ...]) -> TensorShape:
        """A shape as users see it."""
        return TensorShape.known(shape)

    def create(self, variable: Any, value: Any) -> Any:
        """Note a new variable; the array that it begins with."""
        if not self._may_create:
            raise ValueError(
                "tf.function only supports singleton tf.Variables created on the first call. Make "
                "sure the tf.Variable is only created once or created outside tf.function."
            )
        self.created.append(variable)
        return untraced(value)

    # --- the end ----------------------------------------------------------------------------------
    def finish(self, inputs: list[Traced], outputs: list[Any]) -> Program:
        """The program, with these tensors as results."""
        program = self.program
        program.outputs = tuple(map(self.var_of, outputs))
        program.inputs = tuple([t.var for t in inputs])
        program.variables = tuple([(v, t.var) for v, t in self._variables.values()])
        program.streams = tuple([(stream, var) for stream, var, _ in self.streams])
        program.advances = tuple([(stream, blocks) for stream, _, blocks in self.streams])
        program.captures = tuple(self._captured.values())
        program.updates = tuple([(v, t.var) for v, t in self._written.values()])
        return program


def without(recording: Recording, mark: Mark | None) -> Mark | None:
    """The others of a mark."""
    if mark is None or recording not in mark.recorders:
        return mark
    return mark_of(tuple([r for r in mark.recorders if r is not recording]))


def _calls(user: Any) -> bool:
    """Whether this frame of the user's calls what is recorded just now, once for each equation, and
    does not call a library or a sweep that does."""
    frame = sys._getframe(2)
    while frame is not user:
        name = frame.f_globals.get("__name__", "")
        if frame.f_back is None or not name.startswith(f"{NAME}.") or name == sweep.__name__:
            return False
        frame = frame.f_back
    return True


def _line(code: Any, offset: int) -> int:
    lines = [line for start, end, line in code.co_lines() if start <= offset < end and line]
    return lines[0] if lines else code.co_firstlineno


_OF_NUMPY = (TypeError, ValueError, IndexError, AttributeError, MemoryError)


def apply_recorded(op: Any, operands: Any, params: dict[str, Any]) -> Any:
    """Apply an op of which an operand is recorded, or a parameter is a `Number`."""
    recording = threads.recording
    values = [a._value for a in operands]
    if recording is None:
        raise TypeError(OUT_OF_SCOPE.format(repr(operands[0]) if operands else op.name))
    if op.broadcasts and values[0].dtype.kind not in op.takes:
        if op.of_texts is not None and values[0].dtype.kind == "O":
            return op.of_texts.apply(*operands)
        raise engine.wrong_dtype(op, values[0].dtype)
    if recording.sketches:
        return recording.apply(op, operands, params)
    arrays = [v.array if type(v) is Traced else v for v in values]
    token = silence[QUIET]
    threads.recording = None  # as `looking` does, which takes 1 us
    try:
        y = op.forward(*arrays, **params)
    except Exception as error:
        threads.recording = recording
        recording.failed(partial(op.forward, **params), values)
        if isinstance(error, InvalidArgumentError) and _misfits(op, values, params):
            raise invalid(error.message) from None
        if not isinstance(error, _OF_NUMPY):
            raise
        raise engine.complain(op, error, arrays, params) from None
    finally:
        threads.recording = recording
        restore(token)
    parts: Any = y if y.__class__ is tuple else (y,)
    told = _unknown(op, values, params)
    if stand_ins.used and told:
        # Nobody's numbers tell these sizes: another one in each recording shows what they decide.
        pairs = zip(parts, told, strict=True)
        parts = tuple([sized(shape, z.dtype) if None in shape else z for z, (shape, _) in pairs])
    results = [z if z.ndim or z.dtype.kind == "O" else z[()] for z in parts]
    made = recording.say(op, operands, params, results)
    for one in made if told is not None else ():
        recording.guard("shape", one)
    discrete = not any(getattr(rule, "followed", True) for rule in op.rules)
    mark = None if discrete else without(recording, followers(operands))
    if y.__class__ is tuple:
        return several(op, operands, params, made, mark)
    t = tensor(made[0])
    if mark is not None and (op.broadcasts or y.dtype.kind in "fcV"):
        t._mark = mark
        t._id = i = next_id()
        note(mark, op, i, operands, params, t)
    return t


def _misfits(op: Any, values: list, params: dict) -> bool:
    """Whether the shapes alone tell that an op cannot be applied."""
    try:
        op.infer(*[(v.shape, v.dtype) for v in values], **params)
    except Exception:
        return True
    return False


def sized(sizes: Any, dtype: np.dtype) -> Any:
    """A stand-in for a result of which only the numbers tell some sizes, None here."""
    shape = [stand_ins.size if n is None else n for n in sizes]
    return np.full(shape, b"0", object) if dtype.kind == "O" else np.zeros(shape, dtype)


def _unknown(op: Any, values: list, params: dict) -> list | None:
    """What is known of results whose shapes only the numbers tell: shapes and dtypes, an empty list
    if not even the ranks; None if the shapes of the operands tell all."""
    told = op.infer(*[(v.shape, v.dtype) for v in values], **params)
    if told is None:
        return []
    pairs = told if isinstance(told, list) else [told]
    return pairs if any(None in shape for shape, _ in pairs) else None


engine.Traced, engine.Recorded, engine.record = Traced, Recorded, apply_recorded
