"""What was heard while a function was recorded: events with blanks, for the values of each call.

The Python function runs once, on tensors that stand for values of a program. So do the events: when
the program is played, they are written into the log with the tensors of that call in the blanks, as
if the function had run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from types import FrameType
from typing import Any
from weakref import ref

import numpy as np

from .... import nest
from ....compile.draws import Kernels, Number
from ....compile.program import Assign, Effect, Equation, Loop, Program, Var
from ....compile.record import Recorded, Recording
from ....compile.traced import Traced
from ....core.apply import tensor
from ....core.op import Op
from ....core.record import Value, threads
from ....framework.shapes import CompositeTensor
from ....framework.tensor import Tensor
from ....framework.variable import Variable
from .. import gradtape as raw
from ..frozen import found
from .fading import LARGE

_PLAIN = (int, float, str, bytes, bool, complex, type(None), Tensor, Variable)
_MAKERS = {raw.OP: 4, raw.CONVERT: 2, raw.ESCAPE: 3}  # events that make arrays: their places
# Fields that hold values of a step, all of which are known by their names.
_HOLDING = {raw.OP: (2, 4), raw.READ: (2,), raw.ASSIGN: (3, 4), raw.QUERY: (3, 4, 7)}
_reviving = Lock()


@dataclass(eq=False, slots=True)
class Entry:
    """An event; one that belongs to a sweep is there for the tapes that follow the sweep."""

    event: tuple
    at: float  # equations of the program that came before it
    swept: bool = False
    scene: Any = None  # of a query: what was in sight


@dataclass(eq=False, slots=True)
class ArrayOf:
    """The array of a value."""

    var: Var


@dataclass(eq=False, slots=True)
class Packed:
    """A tensor of several parts, some of which are values."""

    like: Any
    parts: list


@dataclass(eq=False, slots=True)
class Scene:
    """What a frame has in sight, as far as names are looked for."""

    f_globals: dict[str, Any]
    f_locals: dict[str, Any]


class Tape:
    """A tape that was, as far as the log is concerned."""

    def __init__(self, tape: Any) -> None:
        self._persistent = tape._persistent
        self._watch_accessed_variables = tape._watch_accessed_variables
        self._recording = False


class Template:
    """The events of one dry run."""

    def __init__(self, recording: Recording) -> None:
        self.recording: Recording | None = recording  # until its end: it holds what it computed
        self.program = recording.program
        self.entries: list[Entry] = []
        self.left = False  # has a tensor left the tape?
        self.asker: Any = None  # the frame that asks a tape just now
        self.own: set[int] = set()  # numbers of the tapes that began here
        self.made: dict[int, Any] = {}  # tensors that ops made of constants, by id
        self.assigning = False  # a variable, just now
        self.names: dict[Var, Var] = {}  # other names of values, each of a tensor of its own
        self._named: dict[int, tuple[Any, Var]] = {}  # by id of the tensor
        self.arrays: dict[Var, Any] = {}  # that were made here of constants, or of what was read
        self._owned: dict[int, Var] = {}  # the same by id
        self._seen: dict[int, Any] = {}  # the last reads of variables
        self._revived: list[tuple[ref, Var]] = []  # tensors that gradient functions may hold
        self.custom = False  # is there a function with a gradient of its own?
        self._computed: set[Var] = set()  # what ops and updates have made, according to events

    def append(self, event: tuple, swept: bool = False, scene: Any = None) -> None:
        kind = event[0]
        if kind == raw.ESCAPE:
            self.left = True
        elif kind == raw.START:
            self.own.add(event[1])
            event = (*event[:2], Tape(event[2]), *event[3:])
        elif kind == raw.INSIDE:
            self.custom = True
        elif kind == raw.CUSTOM:
            self._name_anew(event[3])
        if kind in _MAKERS:
            self._own(event[_MAKERS[kind]])
        if kind == raw.OP and self.left:  # what comes back is an array that Python made
            for operand in event[2]:
                if isinstance(operand, (np.ndarray, np.generic)):
                    self._own(operand)
        elif kind == raw.READ:
            self._seen[id(event[1])] = event[2]
        if not self.custom:
            # Else the step would be held, with all that it computes, until the recording ends.
            event = self._with_names(event)
            if scene is not None:
                in_sight = {name: self._name(thing) for name, thing in scene.f_locals.items()}
                scene = Scene(scene.f_globals, in_sight)
        self.entries.append(Entry(event, len(self.program.equations), swept, scene))

    def _with_names(self, event: tuple) -> tuple:
        """The event with names in the places of large values that the program computes."""
        kind, parts = event[0], list(event)
        if kind == raw.OP or kind == raw.ASSIGN:
            results = event[4] if event[4].__class__ is tuple else (event[4],)
            for result in results:
                blank = self.held(result)
                if isinstance(blank, (Var, ArrayOf)):
                    self._computed.add(blank if isinstance(blank, Var) else blank.var)
        for k in _HOLDING.get(kind, ()):
            parts[k] = self._name(event[k])
        return tuple(parts)

    def _name(self, thing: Any) -> Any:
        if thing.__class__ is tuple or thing.__class__ is list:
            return thing.__class__([self._name(part) for part in thing])
        of_tensor = type(thing) is Recorded
        value: Any = thing._value if of_tensor else thing
        if type(value) is not Traced or value.var not in self._computed or value.nbytes < LARGE:
            return thing
        if not of_tensor:
            return ArrayOf(value.var)
        self._revived.append((ref(thing), value.var))
        return value.var

    def _name_anew(self, results: Any) -> None:
        """What a function with a gradient of its own gives has the values of what ran inside, and
        must not be mistaken for it."""
        for result in nest.flatten(results):
            if type(value := getattr(result, "_value", None)) is Traced:
                name = Var(value.var.number, value.shape, value.dtype)
                self.names[name] = value.var
                self._named[id(result)] = result, name

    def _own(self, made: Any) -> None:
        """An array that was made in the dry run: each call has one of its own."""
        array = made._value if type(made) is Tensor else made
        if type(array) is Traced or id(array) in self._owned:
            return
        if isinstance(array, (np.ndarray, np.generic)):
            name = Var(-1, array.shape, array.dtype)
            self._owned[id(array)], self.arrays[name] = name, array

    def read(self, variable: Any, seen: Any) -> bool:
        """Whether a tensor is not what was last read of a variable."""
        return self._seen.get(id(variable)) is not seen

    def seen(self, operand: Any) -> Any:
        """What an op took: of a variable, its value at that time."""
        if isinstance(operand, Variable):
            return self._seen.get(id(operand), operand)
        return operand

    def note_constants(self, operands: Any, result: Any, user: FrameType) -> None:
        """Tensors of Python's that an op takes: who is to tell what is there later?"""
        for operand in operands:
            if type(operand) is Tensor and id(operand) not in self.made:
                self.made[id(operand)] = operand
                own = found(operand, user, user.f_code, user.f_lasti)
                if own is not None:
                    self.append((raw.FROZEN, own, 0))
        if type(result) is Tensor:
            self.made[id(result)] = result

    # --- blanks -----------------------------------------------------------------------------------
    def finish(self) -> None:
        """Exchange the tensors of the dry run, and all that they hold, for blanks."""
        for entry in self.entries:
            kind, *fields = entry.event
            if self.custom:
                self._remember((fields, getattr(fields[0], "inside", ())))
            entry.event = (kind, *map(self.held, fields))
            if entry.scene is not None:
                entry.scene = self._scene(entry.scene)
        self._insert()
        if not self.custom:
            self._revived.clear()
        self.recording = None
        self._computed.clear()
        self.made.clear()
        self._seen.clear()
        self._named.clear()
        self._owned.clear()

    def held(self, thing: Any) -> Any:
        kind = type(thing)
        if kind is Traced:
            return ArrayOf(thing.var) if thing.recording is self.recording else thing
        if kind is Number:
            return thing.var if thing.recording is self.recording else thing
        if isinstance(thing, Value):
            value = thing._value
            if id(thing) in self._named:
                return self._named[id(thing)][1]
            inner = type(value) is Traced and value.recording is self.recording
            return value.var if inner else self._owned.get(id(value), thing)
        if isinstance(thing, (np.ndarray, np.generic)) and id(thing) in self._owned:
            return ArrayOf(self._owned[id(thing)])
        if kind in (list, tuple):
            parts = [self.held(part) for part in thing]
            same = all(a is b for a, b in zip(parts, thing, strict=True))
            return thing if same else kind(parts)
        if kind is dict:
            kept = {key: self.held(part) for key, part in thing.items()}
            return thing if all(kept[key] is part for key, part in thing.items()) else kept
        if isinstance(thing, CompositeTensor):
            parts = nest.flatten(thing, expand_composites=True)
            blanks = [self.held(part) for part in parts]
            if any(a is not b for a, b in zip(parts, blanks, strict=True)):
                return Packed(thing, blanks)
        return thing

    def _scene(self, scene: Scene) -> Scene:
        """Without holding what the user's function had in sight."""
        kept = {}
        for name, thing in scene.f_locals.items():
            blank = self.held(thing)
            if blank is thing and not isinstance(thing, (*_PLAIN, Var, list, tuple, dict)):
                try:
                    blank = ref(thing)
                except TypeError:
                    blank = thing
            kept[name] = blank
        return Scene(scene.f_globals, kept)

    def _remember(self, fields: Any) -> None:
        for thing in _leaves(fields):
            if type(thing) is Recorded and type(thing._value) is Traced:
                self._revived.append((ref(thing), thing._value.var))

    def _insert(self) -> None:
        """Put what the program has and no event tells of to its place: loops, Python, draws."""
        told = {id(e.event[4]) for e in self.entries if e.event[0] == raw.OP}
        more = [
            Entry(event, k + 0.5)  # after what came before it
            for k, equation in enumerate(self.program.equations)
            if _untold(equation) and id(equation.outputs[0]) not in told
            for event in _events(equation)
        ]
        for entry in more:
            if entry.event[0] == raw.PLAYED:
                equation = entry.event[1]
                entry.event = raw.PLAYED, equation, self._layer_around(equation, entry.at)
        if more:
            self.entries = sorted([*more, *self.entries], key=lambda entry: entry.at)

    def _layer_around(self, equation: Equation, at: float) -> Any:
        """The layer of the nearest op at the place of a loop, which uses what the loop gives or
        makes what it takes: nobody hears in which layer the loop itself begins."""
        code, offset, _ = _where([equation])
        beside = [
            entry for entry in self.entries
            if entry.event[0] == raw.OP and entry.event[6] is not None
            and entry.event[7] is code and entry.event[8] == offset
        ]  # fmt: skip
        nearest = min(beside, key=lambda entry: abs(entry.at - at), default=None)
        return None if nearest is None else nearest.event[6]

    def name_all(self, known: Any, ends: dict[Var, Any]) -> None:
        """Give the other names their values; results of the function have the last of these."""
        for name, array in self.arrays.items():
            known[name] = with_own_array(array)
        last = {var: name for name, var in self.names.items()}
        for name, var in self.names.items():
            try:
                own = name is last[var] and var in ends
                known[name] = ends.pop(var) if own else tensor(known[var]._value)
            except KeyError:  # it ended before this had a value
                return

    def revived(self, known: Any, reads: dict[int, Any]) -> Callable[[Callable[..., Any]], Any]:
        """Calls a function of the user's that holds tensors of the dry run: they have the values of
        a call meanwhile, and so have variables."""
        past = _Past(known, dict(reads))

        def call(function: Callable[..., Any]) -> Any:
            with _reviving, past.entered():
                alive = [(t, t._value, v) for r, v in self._revived if (t := r()) is not None]
                for t, _, var in alive:
                    if var in known:
                        t.__class__, t._value = Tensor, known[var]._value
                try:
                    return function()
                finally:
                    for t, value, _ in alive:
                        t.__class__, t._value = Recorded, value

        return call


class _Past(Recording):
    """A recording while a piece of it runs once more: variables have the values that they had, and
    nothing is done to the world."""

    def __init__(self, known: Any, reads: dict[int, Any]) -> None:
        super().__init__(Kernels(), None, may_create=False)
        self._known, self._reads = known, reads

    @contextmanager
    def entered(self) -> Iterator[None]:
        before, threads.recording = threads.recording, self
        try:
            yield
        finally:
            threads.recording = before

    def read(self, variable: Any) -> Any:
        seen = self._reads.get(id(variable))
        return tensor(variable._outside()) if seen is None else seen

    def value_of(self, variable: Any) -> Any:
        return self.read(variable)._value

    def write(self, variable: Any, value: Any) -> None:
        self._reads[id(variable)] = tensor(value)

    def effect(
        self, name: str, function: Any, values: Any, arrays: bool, looks: bool = True,
        like: Any = None,
    ) -> Any:  # fmt: skip
        """What gives something is done: the derivative of a py_function."""
        given = [self._known[v.var]._value if type(v) is Traced else v for v in values]
        return function(*given) if arrays else ()


def _untold(equation: Equation) -> bool:
    op = equation.op
    if isinstance(op, Loop):
        return op.state is not None
    return "counter" in equation.params or (isinstance(op, Effect) and op.name == "numpy_function")


def _leaves(thing: Any) -> list:
    if type(thing) in (list, tuple):
        return [leaf for part in thing for leaf in _leaves(part)]
    return _leaves(list(thing.values())) if type(thing) is dict else [thing]


# --- filling them in ------------------------------------------------------------------------------
def put(thing: Any, known: dict[Any, Any]) -> Any:
    """The thing with the values of a call in its blanks."""
    kind = thing.__class__
    if kind is Var:
        return known[thing]
    if kind is tuple or kind is list:
        return kind([put(part, known) for part in thing])
    if kind is dict:
        return {key: put(part, known) for key, part in thing.items()} if thing else thing
    if kind is ArrayOf:
        value = known[thing.var]
        return ArrayOf(value) if value.__class__ is Var else value._value
    if kind is Packed:
        parts = [put(part, known) for part in thing.parts]
        if any(part.__class__ is Var for part in parts):  # names in the recording around it
            return Packed(thing.like, parts)
        return nest.pack_sequence_as(thing.like, parts, expand_composites=True)
    return thing


def in_sight(scene: Scene, known: dict[Any, Any]) -> Scene:
    """A scene with the values of a call, as far as they are there."""
    there = {}
    for name, thing in scene.f_locals.items():
        try:
            there[name] = thing() if thing.__class__ is ref else put(thing, known)
        except KeyError:
            continue
    return Scene(scene.f_globals, there)


def with_own_array(array: Any) -> Tensor:
    """A tensor whose array is an object of its own. Tensors are recognised by their arrays, and ops
    such as `stop_gradient` return the array that they are given."""
    return tensor(array.view() if array.ndim else np.array(array)[()])


def seen_from(frame: FrameType) -> Scene:
    return Scene(frame.f_globals, dict(frame.f_locals))


def of_program(program: Program) -> list[Entry]:
    """What can be told of a program whose recording nobody heard: its ops, reads and assigns."""
    told = [
        Entry((raw.READ, variable, var, *_where(program.equations[:1])), 0)
        for variable, var in program.variables
    ]
    for k, equation in enumerate(program.equations):
        told += [Entry(event, k) for event in _events(equation)]
    return told


def _events(equation: Equation) -> list[tuple]:
    op, inputs, outputs = equation.op, equation.inputs, equation.outputs
    where = _where([equation])
    if isinstance(op, Op):
        result = outputs if len(outputs) > 1 else outputs[0]
        return [(raw.OP, op, inputs, equation.params or raw.NOTHING, result, None, None, *where)]
    if isinstance(op, Assign):
        assigned = (
            raw.ASSIGN,
            op.variable,
            "assign",
            inputs[0],
            ArrayOf(outputs[0]),
            False,
            *where,
        )
        return [assigned, (raw.READ, op.variable, outputs[0], *where)]
    return [(raw.PLAYED, equation, None)] if _untold(equation) else []


def _where(equations: list[Equation]) -> tuple[Any, int, int]:
    place = equations[0].place if equations else None
    code, offset = place or (put.__code__, 0)
    return code, offset, 0
