"""The neutral trace: what a program computed, told without naming the engine that ran it.

An engine adapter fills it; rules and reports read nothing else. Kinds of ops are TensorFlow's type
names (`MatMul`, `Relu`), which both engines share.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any

from ...traits import Family, Traits
from ...traits.table import traits_of
from ..source.place import Place, at
from .training import Training


# Slots where there are many: a trace of a million ops takes 0.9 GB instead of 1.6.
@dataclass(eq=False, slots=True)
class Variable:
    """A variable of the program, whose reads are values."""

    number: int
    trainable: bool
    name: str | None  # as the engine calls it
    made: Place | None
    owner: Any = None  # the engine's own object, to find its name in the user's program
    time: float = -1  # of its making; -1 when that was before the trace


@dataclass(eq=False, slots=True)
class Value:
    """One value: a tensor, a read of a variable, an array or a Python number."""

    kind: str  # "tensor", "variable", "array" or "number"
    array: Any  # NumPy's, or None when it was not kept
    maker: Event | None = None
    variable: Variable | None = None
    thing: Any = None  # the engine's own object
    users: list[Event] = field(default_factory=list)
    place: Place | None = None  # of a constant: where it was made

    @property
    def dtype(self) -> Any:
        return None if self.array is None else self.array.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        return () if self.array is None else tuple(self.array.shape)

    @property
    def floating(self) -> bool:
        return self.array is not None and self.array.dtype.kind in "fcV"


@dataclass(eq=False)
class Layer:
    """A layer of a library's: what it computes happens where the user calls it, or its model."""

    name: str
    made: Place | None  # where the user made it


@dataclass(eq=False, slots=True)
class Event:
    """Something that made values of others: an op, or another way in which values travel.

    `way` is "op" for what a tape can record. Else it names the detour: "numpy" and "python" (the
    value left as an array or a number, and came back), "assign" (stored in a variable), "rewrap"
    (the initial value of a new variable), "copy" (a constant made of a variable), "gradient" (the
    answer of a tape that no other tape recorded), "array" (a NumPy array that is a source became a
    constant), "dataset" (through an iterator), "pyfunc", "predict" and "metric" (of Keras),
    "frozen" (a Python value that a traced function keeps).
    """

    kind: str  # TensorFlow's type name of the op, or how it left: ".numpy()", "float()", "assign"
    name: str  # a word for reports
    inputs: list[Value]
    outputs: list[Value]
    place: Place
    time: float
    way: str = "op"
    attrs: dict[str, Any] = field(default_factory=dict)
    back: Place | None = None  # of a detour: where the value came back
    sure: bool = True  # of a detour: is it certain that the value came back?
    outer: Sequence[tuple[CodeType, int]] = ()  # frames around, if kept
    layer: Layer | None = None  # that it belongs to
    tapes: frozenset[int] = frozenset()  # numbers of the tapes that were recording
    # Cotangents of the outputs to those of the inputs (None where there is none), on arrays.
    pull: Callable[[Sequence[Any]], list[Any]] | None = None
    # Other arrays for the inputs to those of the outputs, and the pull at that point; with a second
    # argument True, whole numbers are taken for real ones.
    replay: Callable[..., tuple[list[Any], Any]] | None = None

    @property
    def traits(self) -> Traits:
        """What the op does to a gradient."""
        return traits_of(self.kind)

    def is_a(self, families: Family) -> bool:
        """Whether its op belongs to one of these families."""
        return traits_of(self.kind).has(families)

    def place_in(self, *codes: CodeType) -> Place:
        """Where it happened as seen from one of these functions; the innermost place otherwise."""
        for code, offset in [(self.place.code, self.place.offset), *self.outer]:
            if code in codes:
                return at(code, offset)
        return self.place

    def __repr__(self) -> str:
        return f"<{self.kind} at {self.place.file}:{self.place.line}>"


@dataclass(eq=False, slots=True)
class Watch:
    """A call of `watch`, or the first read of a variable that a tape watches by itself."""

    value: Value | Variable
    time: float
    place: Place
    automatic: bool = False


@dataclass(eq=False)
class Tape:
    """A tape: its options, the times at which it was recording, what it watched."""

    number: int
    persistent: bool
    auto_watch: bool
    place: Place
    spans: list[list[float]] = field(default_factory=list)  # [start, stop] in the trace's time
    reset: Place | None = None  # where it was told to forget, if it was
    forgotten: list[list[float]] = field(default_factory=list)  # times of which it knows no more
    watches: list[Watch] = field(default_factory=list)
    queries: int = 0
    _watched: dict[Value | Variable, list[Watch]] = field(default_factory=dict)

    def recording(self, time: float) -> bool:
        return any(start <= time < stop for start, stop in self.spans)

    def watch(self, watch: Watch) -> None:
        self.watches.append(watch)
        self._watched.setdefault(watch.value, []).append(watch)

    def forget(self) -> None:
        self.watches.clear()
        self._watched.clear()

    def watched(self, thing: Value | Variable) -> bool:
        """Was this very thing watched, and not what it is a read of?"""
        return thing in self._watched

    def watches_of(self, value: Value) -> list[Watch]:
        own = self._watched.get(value, [])
        if value.variable is None:
            return own
        return sorted([*own, *self._watched.get(value.variable, [])], key=lambda w: w.time)


@dataclass(eq=False, slots=True)
class Answer:
    """What a query gave for one source."""

    source: Value | Variable | Any
    name: str  # in the user's code, or "source #2"
    array: Any  # the gradient; None when there is none
    state: str = "ok"
    norm: float | None = None
    filled: bool = False  # zeros by request, where there is no path
    sparse: bool = False  # IndexedSlices
    aliases: list[str] = field(default_factory=list)  # other names of the source


@dataclass(eq=False)
class Query:
    """A call of `gradient`, `jacobian` or `batch_jacobian`."""

    tape: Tape
    method: str
    targets: list[Any]  # values, or whatever else the user gave
    target_name: str
    answers: list[Answer]
    place: Place
    time: float
    step: int  # how often this place has asked, from 1
    seeds: list[Any] | None = None
    error: BaseException | None = None
    zeros: bool = False  # zeros were asked for where there is no path
    scope: dict[str, Any] = field(default_factory=dict)  # names in sight, while it is examined


@dataclass(eq=False)
class Asked:
    """A query as the doctor hears of it, before anything is explained: plain objects, arrays."""

    method: str
    place: tuple[CodeType, int]
    target: Any
    sources: Any
    frame: FrameType | Any
    error: BaseException | None
    gradients: list[Any]
    values: list[Any]  # of the sources
    results: list[Any]  # of the targets
    # Of target and sources, where the user did not write the call.
    names: tuple[str, list[str]] | None = None
    # Of each source, in the place of its numbers: of steps that are only glanced at, and sound when
    # there are several.
    norms: list[list[float | None]] | None = None
    # Of each source, whether there is a gradient, where only that is known.
    present: list[bool] = field(default_factory=list)
    steps: int = 1
    sizes: list[float] | None = None  # norms of the gradients, once they are taken
    # The numbers of the sources whose gradient is known to be zero by construction.
    cancelled: set[int] = field(default_factory=set)
    sound: bool = False  # need the next steps not all be looked into?


@dataclass(eq=False)
class Trace:
    """All of it, in order of time."""

    engine: str
    events: list[Event] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)
    variables: list[Variable] = field(default_factory=list)
    tapes: dict[int, Tape] = field(default_factory=dict)
    queries: list[Query] = field(default_factory=list)
    exits: list[Any] = field(default_factory=list)  # all that left, also what never came back
    sights: Any = None  # what functions could see when they were traced: `engines/sights`
    trainings: list[Training] = field(default_factory=list)  # of models of a library's
    steps: Any = None  # of a library's optimizers: `engines/optimizers`, which knows them as of now
    _reads: dict[Variable, list[Value]] = field(default_factory=dict)
    _updates: dict[Variable, Event] = field(default_factory=dict)
    _indexed: list[int] = field(default_factory=lambda: [0, 0])  # values and events looked at

    def reads(self, variable: Variable) -> list[Value]:
        for value in self.values[self._indexed[0] :]:
            if value.variable is not None:
                self._reads.setdefault(value.variable, []).append(value)
        self._indexed[0] = len(self.values)
        return self._reads.get(variable, [])

    def update(self, variable: Variable) -> Event | None:
        """The last event that changed a variable."""
        for event in self.events[self._indexed[1] :]:
            if event.way == "assign":
                for made in event.outputs:
                    if made.variable is not None:
                        self._updates[made.variable] = event
        self._indexed[1] = len(self.events)
        return self._updates.get(variable)
