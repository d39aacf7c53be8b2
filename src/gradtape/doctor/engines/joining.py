"""What reading a log has in common on every engine: events that join values, tapes, queries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import CodeType
from typing import Any

import numpy as np

from ..facts.detours import Entry, Exit, link
from ..source.place import Place, at
from ..source.users import is_users
from ..trace import Answer, Event, Layer, Query, Tape, Trace, Value, Variable, Watch
from .keras import KeptLayer


def with_those_around(
    before: Iterable[tuple[int, tuple]], first: int, start: int, stop: int
) -> int:
    """The place in a log from which a cut at `first` loses no tape that was open there: an outer
    tape is asked after all of the inner ones, however many there were. `before` are the events
    before the cut, with their places."""
    begins: dict[int, int] = {}
    opened: set[int] = set()
    for k, event in before:
        if event[0] == start:
            begins.setdefault(event[1], k)
            opened.add(event[1])
        elif event[0] == stop:
            opened.discard(event[1])
    return min((begins[number] for number in opened), default=first)


class Joiner:
    """One reading of a log into a neutral trace; an engine says what its tensors are."""

    EXITS: Mapping[str, str] = {}  # ways out of the tape, by the method that is called

    def __init__(self, engine: Any) -> None:
        self.engine = engine
        self.trace = Trace(engine.name)
        self.by_object: dict[int, Value] = {}
        self.variables: dict[int, Variable] = {}
        self.current: dict[int, Value] = {}  # what each variable holds at this time of the log
        self.exits: list[Exit] = []
        self.entries: list[Entry] = []
        self.active: dict[int, list[int]] = {}  # tapes that are recording, by thread
        self._recording: dict[int | None, frozenset[int]] = {None: frozenset()}  # the same, in sets
        self.steps: dict[Place, int] = {}
        self.held: list[Any] = []  # objects that are known by their ids
        self.readers: dict[int, Callable[..., None]] = {}  # by the kind of a raw event

    def read(self) -> Trace:
        for time, event in enumerate(self.engine.log):
            self.readers[event[0]](time, *event[1:])
        self.trace.exits = self.exits
        for found in link(self.exits, self.entries):
            if found.outputs[0].maker is None:
                self._add(found)
        self.trace.events.sort(key=lambda event: event.time)
        return self.trace

    # --- what an engine says ----------------------------------------------------------------------
    def _at(self, code: Any, offset: int) -> Place:
        return at(code, offset)

    def _layer(self, kept: KeptLayer | None) -> Layer | None:
        """What the user knows of a layer of Keras: its name, and where it was made."""
        if kept is None:
            return None
        return Layer(kept.name, None if kept.where is None else self._at(*kept.where))

    def _flat(self, structure: Any) -> list:
        raise NotImplementedError

    def _is_followed(self, thing: Any) -> bool:
        """Is it a tensor or a variable?"""
        raise NotImplementedError

    def _is_variable(self, thing: Any) -> bool:
        raise NotImplementedError

    def _value(self, thing: Any, time: float) -> Value:
        raise NotImplementedError

    def _target(self, target: Any, time: float, frames: Any) -> Value:
        raise NotImplementedError

    def _latest(self, variable: Variable) -> Value | None:
        """The value of a variable at this time of the log."""
        raise NotImplementedError

    def _answered(self, gradient: Any) -> Any:
        """The tensor of an answer, or None."""
        raise NotImplementedError

    def _array(self, thing: Any, dtype: Any = None) -> Any:
        """The numbers of a gradient, given or found."""
        raise NotImplementedError

    # --- events -----------------------------------------------------------------------------------
    def _add(self, event: Event, thread: int | None = None) -> None:
        tapes = self._recording.get(thread)
        if tapes is None and thread is not None:
            tapes = self._recording[thread] = frozenset(self.active.get(thread, ()))
        event.tapes = tapes or frozenset()
        self.trace.events.append(event)
        for value in event.inputs:
            value.users.append(event)
        for value in event.outputs:
            value.maker = event

    def _escape(
        self, time: float, it: Any, name: str, result: Any, stack: Any, *where: Any
    ) -> None:
        if stack:
            self.exits.append(Exit(self._value(it, time), self.EXITS[name], result, stack, time))
            self.held.append(result)

    # --- tapes ------------------------------------------------------------------------------------
    def _start(
        self, time: float, number: int, it: Any, code: Any, offset: int, thread: int
    ) -> None:
        tape = self.trace.tapes.get(number)
        if tape is None:
            place = self._at(code, offset)
            tape = Tape(number, it._persistent, it._watch_accessed_variables, place)
            self.trace.tapes[number] = tape
        tape.spans.append([time, float("inf")])
        self.active.setdefault(thread, []).append(number)
        self._recording.pop(thread, None)

    def _stop(self, time: float, number: int, code: Any, offset: int, thread: int) -> None:
        tape = self.trace.tapes.get(number)
        if tape is not None and tape.spans:
            tape.spans[-1][1] = time
        if number in self.active.get(thread, ()):
            self.active[thread].remove(number)
            self._recording.pop(thread, None)

    def _reset(self, time: float, number: int, code: Any, offset: int, thread: int) -> None:
        """It has stopped and started again just now; what was before is forgotten."""
        tape = self.trace.tapes.get(number)
        if tape is None:
            return
        tape.reset, past = self._at(code, offset), tape.spans[:-1]
        tape.forgotten += past
        del tape.spans[:-1]
        tape.forget()
        for event in reversed(self.trace.events):
            if not past or event.time < past[0][0]:
                break  # what it knew before was forgotten before
            event.tapes -= {number}

    def _watch(
        self, time: float, number: int, it: Any, code: Any, offset: int, thread: int
    ) -> None:
        tape = self.trace.tapes.get(number)
        for part in self._flat(it):
            if tape is not None and self._is_followed(part):
                value = self._value(part, time)
                watched: Any = value.variable if value.variable is not None else value
                tape.watch(Watch(watched, time, self._at(code, offset)))

    def _query(
        self, time: float, number: int, method: str, target: Any, sources: Any, args: Any,
        kwargs: Any, result: Any, error: Any, *where: Any,
    ) -> None:  # fmt: skip
        code, offset, thread = where[-3:]
        place = self._at(code, offset)
        tape = self.trace.tapes.get(number)
        if tape is None:  # entered never, or long ago
            tape = self.trace.tapes[number] = Tape(number, False, True, place)
        tape.queries += 1
        self.steps[place] = self.steps.get(place, 0) + 1
        flat = self._flat(sources)
        given = [None] * len(flat) if result is None else self._flat(result)
        answers = [
            Answer(self._source(s, time), "", self._array(g), sparse=hasattr(g, "indices"))
            for s, g in zip(flat, given, strict=False)
        ]
        targets = [self._target(t, time, ((code, offset),)) for t in self._flat(target)]
        query = Query(
            tape, method, targets, "", answers, place, time, self.steps[place], error=error,
            zeros=self._asks_zeros(args, kwargs), seeds=self._seeds(method, targets, args, kwargs),
        )  # fmt: skip
        self.trace.queries.append(query)
        self._gradient_event(query, given, thread)

    def _asks_zeros(self, args: Any, kwargs: Any) -> bool:
        """Was `unconnected_gradients="zero"` given, as word or as member of the enumeration?"""
        given = [kwargs.get("unconnected_gradients"), *args]
        plain = [g for g in given if not self._is_followed(g)]
        return any(str(getattr(g, "value", g)) == "zero" for g in plain)

    def _seeds(self, method: str, targets: list[Value], args: Any, kwargs: Any) -> list | None:
        """The arrays given as `output_gradients`, None when there are none."""
        given = kwargs.get("output_gradients", args[0] if args and method == "gradient" else None)
        if given is None:
            return None
        pairs = zip(self._flat(given), targets, strict=False)
        return [None if g is None else self._array(g, t.dtype) for g, t in pairs]

    def _source(self, source: Any, time: float) -> Any:
        value = self._value(source, time)
        if isinstance(source, np.ndarray):
            self._array_source(source, value)
        return value.variable if self._is_variable(source) else value

    def _array_source(self, source: Any, value: Value) -> None:
        """A NumPy array as a source: where it became a constant, the path leads on."""
        for entry in self.entries:
            if entry.given is source and entry.value is not value and entry.value.maker is None:
                self._add(
                    Event("Const", "constant", [value], [entry.value], self._at(*entry.stack[0]),
                          entry.time - 0.5, way="array")  # before the op that took it
                )  # fmt: skip

    def _gradient_event(self, query: Query, given: list, thread: int) -> None:
        """The answers, as made by the query, where no recorded op made them."""
        tensors = [t for g in given if (t := self._answered(g)) is not None]
        answers = [_before(self._value(t, query.time), query.place) for t in tensors]
        outputs = [a for a in answers if a.maker is None]
        if outputs:
            sources = [a.source for a in query.answers if a.array is not None]
            values = [self._latest(s) if isinstance(s, Variable) else s for s in sources]
            inputs = [v for v in values if isinstance(v, Value)]
            self._add(
                Event(query.method, f"tape.{query.method}", [*inputs, *query.targets], outputs,
                      query.place, query.time, way="gradient"), thread,
            )  # fmt: skip


def _before(answer: Value, place: Place) -> Value:
    """What a tape computed, before it was brought into its form: that of a Jacobian."""
    while (made := answer.maker) is not None and made.place == place and not made.tapes:
        if made.way != "op" or len(made.inputs) != 1:
            break
        answer = made.inputs[0]
    return answer


def without_frames(error: Any) -> Any:
    """An exception without its traceback, whose frames hold all that the program had in sight."""
    if error is None:
        return None
    try:
        copy = error.__class__.__new__(error.__class__, *error.args)
        copy.__dict__.update(error.__dict__)
        return copy if str(copy) == str(error) else error
    except Exception:  # of a class that is not made so
        return error


def innermost(error: BaseException) -> tuple[CodeType, int] | None:
    """The user's innermost frame in the traceback of an exception: its code and instruction."""
    found, step = None, error.__traceback__
    while step is not None:
        if is_users(step.tb_frame.f_globals.get("__name__")):
            found = step.tb_frame.f_code, step.tb_lasti
        step = step.tb_next
    return found
