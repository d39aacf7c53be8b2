"""Reads the records of a tape into a neutral trace, for `tape.explain` where nobody listened.

A tape keeps what its derivative rules name, and nothing of what it does not follow. So the path and
the cotangents are all there; the numbers on the way are those that were kept, that somebody in
sight still holds, or that can be computed once more of these. `whole` tells whether that is all of
them: where it is not, a rule that looks at numbers would guess.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np

from .... import nest
from ....autodiff.recording import follows, operand_ids, result_ids
from ....autodiff.sweep import sweep
from ....autodiff.tape import GradientTape
from ....core.apply import tensor
from ....core.op import LETTERS
from ....core.record import BRIEF
from ....core.record import Value as Tensor
from ....framework.variable import Variable
from ...facts.faults import descendants
from ...facts.graph import ancestors, makers
from ...source.place import Place, at
from ...trace import Answer, Event, Query, Tape, Trace, Value, Watch
from ...trace import Variable as TracedVariable
from .models import held
from .reading import OUT, _dense, _replay

NUMBER = 0  # of the one tape that there is
FEW = 64  # objects in sight that are looked into, for each that holds some


class Followed(Value):
    """A value that the tape follows: it is a real or complex number, whether its own is known."""

    __slots__ = ()

    @property
    def floating(self) -> bool:
        return True


class Taped:
    """One tape as a trace, in which every source that it knows is a value."""

    def __init__(self, tape: GradientTape, made: Place) -> None:
        assert tape._tape is not None
        self.recorder = tape._tape
        self.trace = Trace("gradtape")
        self.tape = Tape(
            NUMBER, tape._persistent, tape._watch_accessed_variables, made, [[0.0, float("inf")]]
        )
        self.trace.tapes[NUMBER] = self.tape
        self.values: dict[int, Value] = {}  # by the numbers of the tape
        self.variables: dict[int, TracedVariable] = {}  # by id
        self.changed = False  # has a variable changed while the tape recorded?
        for record in self.recorder.records:
            self._record(record)

    # --- values -----------------------------------------------------------------------------------
    def value(self, number: int) -> Value:
        """The value that has a number on the tape."""
        known = self.values.get(number)
        if known is not None:
            return known
        variable = self.recorder.variables.get(number)
        if variable is None:
            known = Followed("tensor", None)
        else:
            known = Followed("variable", None, variable=self.variable(variable), thing=variable)
        self.values[number] = known
        self.trace.values.append(known)
        if variable is not None or number in self.recorder.leaves:
            self.tape.watch(Watch(known, 0.0, self.tape.place, automatic=variable is not None))
        return known

    def variable(self, it: Any) -> TracedVariable:
        known = self.variables.get(id(it))
        if known is None:
            number = len(self.variables)
            known = TracedVariable(number, it.trainable, it.name, None, owner=it)
            self.variables[id(it)] = known
            self.trace.variables.append(known)
        return known

    def source(self, thing: Any) -> Any:
        """What a source is in the trace: of a variable that the tape never saw, no value is."""
        thing = held(thing)
        if isinstance(thing, Variable):
            if thing._id in self.recorder.variables:
                self.value(thing._id)
            return self.variable(thing)
        if isinstance(thing, Tensor) and follows(self.recorder, thing):
            return self.known(thing)
        return self.other(thing)

    def other(self, thing: Any) -> Value:
        """A value that is not on the tape."""
        if isinstance(thing, Tensor):
            kind, array = "tensor", thing._value
        else:
            kind = "array" if isinstance(thing, (np.ndarray, np.generic)) else "number"
            array = np.asarray(thing) if np.isscalar(thing) or kind == "array" else None
        value = Value(kind, array, thing=thing)
        self.trace.values.append(value)
        return value

    def known(self, thing: Any) -> Value:
        """The value of a tensor that the tape follows, with its numbers."""
        value = self.value(thing._id)
        if value.array is None:
            value.array = thing._value
            value.thing = thing if value.thing is None else value.thing
        elif value.variable is not None and value.array is not thing._value:
            self.changed = True  # two reads, of which the trace has one
        return value

    # --- ops --------------------------------------------------------------------------------------
    def _record(self, record: tuple) -> None:
        op, code, offset = record[0], record[2], record[3]
        ids = [*operand_ids(record)][: len(op.rules) if len(record) == BRIEF else None]
        kept = _kept(record)
        inputs = []
        for k, number in enumerate(ids):
            given = kept.get(LETTERS[k]) if k < len(LETTERS) else None
            given = given if isinstance(given, Tensor) else None
            if number is None:
                inputs.append(Value("tensor", None) if given is None else self.other(given))
                self.trace.values += inputs[-1:] if given is None else []
            else:
                inputs.append(self.value(number) if given is None else self.known(given))
        made = kept.get("y")
        for result in made if isinstance(made, tuple) else [made]:
            if isinstance(result, Tensor) and hasattr(result, "_id"):
                self.known(result)
        outputs = [
            Followed("tensor", None) if i is None else self.value(i) for i in result_ids(record)
        ]
        names = {k: v for k, v in kept.items() if k in op.params} if hasattr(op, "params") else {}
        time = float(len(self.trace.events) + 1)
        place = self.tape.place if code is None else at(code, offset)
        event = Event(op.kind, op.name, inputs, outputs, place, time, attrs=names)
        event.tapes = frozenset({NUMBER})
        event.pull = partial(_pulled, record, len(ids))
        if len(record) == BRIEF or set(getattr(op, "params", ("unknown",))) <= names.keys():
            event.replay = partial(_again, op, inputs, names)
        self.trace.events.append(event)
        for given in inputs:
            given.users.append(event)
        for result in outputs:
            result.maker = event

    # --- numbers ----------------------------------------------------------------------------------
    def look(self, scopes: Iterable[dict[str, Any]], *things: Any) -> None:
        """Take the numbers of what is in sight, and compute what follows from the others."""
        for thing in (*things, *_in_sight(scopes)):
            if isinstance(thing, Tensor) and follows(self.recorder, thing):
                self.known(thing)
        for number, variable in self.recorder.variables.items():
            value = self.value(number)
            if value.array is None:
                value.array = variable._outside()
        for event in self.trace.events:
            _compute(event)

    def whole(self, sources: Iterable[Value], targets: Iterable[Value]) -> bool:
        """Are all numbers known between these?"""
        above = ancestors(list(targets))
        below = descendants(list(sources))
        events = [e for e in makers(above) if any(v in below for v in e.inputs)]
        return not self.changed and all(
            v.array is not None for e in events for v in (*e.inputs, *e.outputs)
        )

    # --- the question -----------------------------------------------------------------------------
    def query(self, place: Place, name: str, targets: list, answers: list[Answer]) -> Query:
        """The question that is asked, at the end of all."""
        targets = [held(t) for t in targets]
        values: list[Any] = [
            self.known(t) if isinstance(t, Tensor) and follows(self.recorder, t) else
            self.source(t) if isinstance(t, Variable) else self.other(t) for t in targets
        ]  # fmt: skip
        for k, value in enumerate(values):
            if isinstance(value, TracedVariable):
                values[k] = next(iter(self.trace.reads(value)), self.other(value.owner))
        time = float(len(self.trace.events) + 2)
        made = Query(self.tape, "gradient", values, name, answers, place, time, 1)
        self.trace.queries.append(made)
        return made


def _kept(record: tuple) -> dict[str, Any]:
    """What a record holds, by the names of the rules."""
    if len(record) == BRIEF:
        return {k: v for k, v in zip("aby", record[6:9], strict=True) if v is not None}
    return dict(zip(record[5], record[6], strict=False))


def _pulled(record: tuple, count: int, cotangents: Any) -> list:
    """The cotangents of the operands of one record, each by itself."""
    ids = operand_ids(record)[:count]
    places = [None if number is None else k for k, number in enumerate(ids)]
    made = [OUT - k for k in range(len(result_ids(record)))]
    if len(record) == BRIEF:
        a, b = (*places, None)[:2]
        own = (record[0], OUT, None, 0, a, b, *record[6:])
    else:
        several = record[7] is not None
        one, many = (None, made) if several else (OUT, None)
        own = (record[0], one, None, 0, places, *record[5:7], many)
    grads = {i: g for i, g in zip(made, cotangents, strict=True) if g is not None}
    wanted = {k for k in places if k is not None}
    found = sweep([own], grads, wanted, recorded=False) if grads else {}
    return [_dense(found.get(k)) for k in range(count)]


def _again(op: Any, inputs: list[Value], params: dict, arrays: Any, whole: bool = False) -> Any:
    """The op on other numbers, with what it took where these are of other kinds."""
    operands = tuple(tensor(np.asarray(v.array)[()]) for v in inputs)
    return _replay(op, operands, params, arrays, whole)


def _compute(event: Event) -> None:
    """The numbers of a result, or of the one constant that the record has not kept."""
    unknown = [k for k, v in enumerate(event.inputs) if v.array is None]
    (made, *more) = event.outputs
    if not unknown and made.array is None and not more and event.replay is not None:
        again: Any = event.replay
        op, inputs, params = again.args
        with np.errstate(all="ignore"):
            try:
                made.array = op.forward(*[v.array for v in inputs], **params)
            except Exception:  # params that the record has not kept
                event.replay = None
    elif len(unknown) == 1 and made.array is not None and event.name in ("add", "sub"):
        (k,) = unknown
        if event.inputs[k].maker is None and event.inputs[k].variable is None:
            other = np.asarray(event.inputs[1 - k].array)
            with np.errstate(all="ignore"):
                found = made.array - other if event.name == "add" else (
                    made.array + other if k == 0 else other - made.array
                )  # fmt: skip
            # The operand may have been smaller: no matter, it is added to all of them.
            event.inputs[k].array = found.astype(other.dtype)


def _in_sight(scopes: Iterable[dict[str, Any]]) -> Iterator[Any]:
    """The tensors that the names of the user's stand for, and those in lists of theirs."""
    for scope in scopes:
        for thing in list(scope.values()):
            if isinstance(thing, (list, tuple, dict)) and len(thing) <= FEW:
                yield from nest.flatten(thing) if _plain(thing) else ()
            else:
                yield thing


def _plain(thing: Any) -> bool:
    held = thing.values() if isinstance(thing, dict) else thing
    return any(isinstance(part, Tensor) for part in held)
