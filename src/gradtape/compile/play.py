"""Playing a program equation by equation, on tensors: what a program means.

Tapes, recordings around it and the doctor see every op, at the place where the user called it. It
is also how a program shows why it failed; where nobody looks, a backend plays it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from types import CodeType
from typing import Any, NamedTuple, cast

from ..core.apply import tensor
from ..core.op import Op
from ..core.place import stand_ins
from ..core.record import threads
from ..ops.shape import identity
from .program import Assign, Check, Effect, Equation, Failed, Guard, Loop, Program, Var
from .record import Number, apply_recorded
from .traced import Traced, untraced


class Spot(NamedTuple):
    """The place of an op, as a frame tells it."""

    f_code: CodeType
    f_lasti: int
    f_back: None = None

    @staticmethod
    def of(equation: Equation) -> Spot:
        return Spot(*(equation.place or _NOWHERE))


_NOWHERE = (Spot.__new__.__code__, 0)


def interpret(
    program: Program, leaves: Any, done: dict[int, Any] | None = None, mode: str = "",
    hear: list[Player] | None = None,
) -> Any:  # fmt: skip
    """The results as tensors, or which guard did not hold; an exception and a guard that fails
    leave variables as they were. Draws come from the streams of a `mode`. Who wants to `hear` of
    all values is given the player."""
    player = Player(program, {} if done is None else done, mode)
    player.heard = hear is not None
    if hear is None or threads.recording is not None:
        player.last_uses = _last_uses(program)
    if hear is not None:
        hear.append(player)
    try:
        return player.play(leaves)
    except BaseException:
        player.undo()
        raise


def _last_uses(program: Program) -> list[list[Var]]:
    """For each equation the values that nothing after it needs. A training step that is played in
    a function around it would hold every array of the forward pass, the sweep and the update."""
    kept = {*program.results}
    uses: list[list[Var]] = []
    for equation in reversed(program.equations):
        last = [v for v in dict.fromkeys((*equation.uses, *equation.outputs)) if v not in kept]
        kept.update(last)
        uses.append(last)
    return uses[::-1]


class Player:
    """One play of a program; `known` are its values, but for those behind their last use. Of these
    one who hears of a play inside of a recording has the names that they have there."""

    last_uses: list[list[Var]] | None = None
    heard = False

    def __init__(self, program: Program, done: dict[int, Any], mode: str) -> None:
        self.program, self.done, self.mode = program, done, mode
        self.recording = threads.recording
        self.known: dict[Any, Any] = {}  # tensors, and Python's numbers
        self.journal: list[tuple[Any, Any]] = []  # variables and what they held
        self.began: list[int] = []  # equations of the recording around it before each of its own
        self.guards = self.effects = 0
        self.take_back = None if self.recording is None else self.recording.here()

    def begin(self, leaves: Any) -> None:
        """What is there before the first equation."""
        program, known = self.program, self.known
        known.update(zip(program.inputs, leaves, strict=True))
        known.update((var, captured) for captured, var in program.captures)
        known.update((var, self._read(variable)) for variable, var in program.variables)
        known.update((var, tensor(array)) for var, array in program.constants.items())
        known.update(program.held)
        for (stream, var), (_, blocks) in zip(program.streams, program.advances, strict=True):
            known[var] = self._counter(stream, blocks)

    def play(self, leaves: Any) -> Any:
        self.begin(leaves)
        program, known = self.program, self.known
        given = {*program.given}
        for k, equation in enumerate(program.equations):
            if self.recording is not None:
                self.began.append(len(self.recording.program.equations))
            failed = self._play(equation)
            for var in self.last_uses[k] if self.last_uses is not None else ():
                self._release(var)
            if failed is not None:
                self.undo()
                if self.take_back is not None:  # another recording is played in its place
                    self.take_back()
                return failed
        self._advance()
        # Never the very tensor that was given, which would have derivative 1 to itself.
        return [identity.apply(known[v]) if v in given else known[v] for v in program.outputs]

    def _release(self, var: Var) -> None:
        value = self.known.pop(var, None)
        if self.heard and value is not None:
            array: Any = getattr(value, "_value", None)
            recorded = type(array) is Traced and array.recording is self.recording
            self.known[var] = array.var if recorded else value

    # --- the world --------------------------------------------------------------------------------
    def _read(self, variable: Any) -> Any:
        return variable._read()

    def _counter(self, stream: Any, blocks: int) -> Any:
        if self.recording is None:
            return stream.twin(self.mode).counter
        return self.recording.kernel_of(stream.pair).reserve(blocks).counter

    def _advance(self) -> None:
        if self.recording is None:
            for stream, blocks in self.program.advances:
                stream.twin(self.mode).reserve(blocks)

    def _assign(self, variable: Any, value: Any) -> Any:
        if self.recording is None:
            self.journal.append((variable, variable._outside()))
        variable.assign(value)
        return variable._read()

    def undo(self) -> None:
        for variable, array in reversed(self.journal):
            variable._array = array

    def _play(self, equation: Equation) -> Failed | None:
        op, known = equation.op, self.known
        if isinstance(op, Op):
            operands = [known[v] for v in equation.inputs]
            params = {
                name: known[value] if value.__class__ is Var else value
                for name, value in equation.params.items()
            }
            made = apply_at(op, operands, params, Spot.of(equation))
            results = made if made.__class__ is tuple else (made,)
            known.update(zip(equation.outputs, results, strict=True))
            return None
        if isinstance(op, Loop) and op.state is not None:
            from .loops import play

            found = play(op.state, [known[v] for v in equation.inputs])
            known.update(zip(equation.outputs, found, strict=False))
            return None
        values = [_raw(known[v]) for v in equation.inputs]
        if isinstance(op, Guard):
            return self._guard(op, values)
        if isinstance(op, Assign):
            (value,) = equation.inputs
            known[equation.outputs[0]] = self._assign(op.variable, known[value])
            return None
        traced = self.recording is not None and any(
            type(v) is Traced or type(v) is Number for v in values
        )
        if isinstance(op, Check):
            self.recording.check(op.forward, *values) if traced else op.forward(*values)
            return None
        if isinstance(op, Effect):
            results = self._effect(op, values, bool(equation.outputs))
        elif not traced:
            results = op.forward(*values)
            several = len(equation.outputs) > 1 or isinstance(op, Loop)
            results = results if several else (results,)
        elif equation.outputs[0].dtype is None:
            results = self.recording.numbers(op.name, op.forward, *values)
        else:
            results = (self.recording.compute(op.name, op.forward, *values),)
        for var, value in zip(equation.outputs, results, strict=True):
            known[var] = value if var.dtype is None else tensor(value)
        return None

    def _guard(self, guard: Guard, values: list) -> Failed | None:
        traced = [v for v in values if type(v) is Traced]
        if traced and guard.name == "raises":
            self.recording.failed(cast(partial, guard.forward).args[0], values)
        elif traced:
            traced[0].recording.guard(guard.name, traced[0])
        read = guard.forward(*map(untraced, values))
        index, self.guards = self.guards, self.guards + 1
        return None if read == guard.outcome else Failed(index, read, self.done)

    def _effect(self, op: Effect, values: list, arrays: bool) -> Any:
        index, self.effects = self.effects, self.effects + 1
        recording = self.recording
        if recording is not None:
            if index in self.done:  # it was performed when this program was recorded
                recording.take_over({0: self.done[index]})
            return recording.effect(op.name, op.forward, values, arrays, op.looks)
        if index not in self.done:
            self.done[index] = op.forward(*values)
        return self.done[index] if arrays else ()


class Rehearsal(Player):
    """A program played on the values that variables and streams have just now, and nothing happens
    to the world: what its effects gave is in `done` by the time that it is played."""

    def __init__(self, program: Program, mode: str, done: dict[int, Any]) -> None:
        super().__init__(program, done, mode)
        self.held = {id(v): v._outside() for v, _ in program.variables}
        self._counters = {id(s): s.twin(mode).counter for s, _ in program.streams}

    def pieces(self, leaves: Any, length: int) -> Iterator[int]:
        """Play so many equations at a time; how many pieces there were by then."""
        self.begin(leaves)
        yield 0
        equations = self.program.equations
        for k in range(0, len(equations), length):
            if any(self._play(equation) is not None for equation in equations[k : k + length]):
                return
            yield k // length + 1

    def _read(self, variable: Any) -> Any:
        return tensor(self.held[id(variable)])

    def _counter(self, stream: Any, blocks: int) -> Any:
        return self._counters[id(stream)]

    def _advance(self) -> None:
        pass

    def _assign(self, variable: Any, value: Any) -> Any:
        return tensor(value._value)

    def _effect(self, op: Effect, values: list, arrays: bool) -> Any:
        index, self.effects = self.effects, self.effects + 1
        return self.done[index] if arrays else ()


def _raw(value: Any) -> Any:
    """The array of a tensor; numbers are themselves."""
    return value if isinstance(value, int) else value._value


def apply_at(op: Op, operands: list, params: dict[str, Any], spot: Spot) -> Any:
    """Apply an op; whoever asks for the caller finds the `spot` in this frame."""
    if any(type(value) is Number for value in params.values()):  # a draw, also of constants
        return apply_recorded(op, operands, params)
    return op.apply(*operands, **params)


stand_ins.add(id(apply_at.__code__))
