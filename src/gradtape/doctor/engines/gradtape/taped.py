"""A tape's own record as a neutral trace, for `tape.explain` where nobody listened.

A record has the ops with their places, and of the numbers what derivative rules name. Paths and
cotangents follow from that. Of the other numbers, this has those of the question itself, those of
the tape's variables, and what can be computed from all of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import zip_longest
from math import inf
from typing import Any

import numpy as np

from .... import nest
from ....autodiff.recording import follows, operand_ids, result_ids
from ....autodiff.sweep import sweep
from ....core.apply import tensor
from ....core.op import LETTERS
from ....core.record import BRIEF
from ....core.record import Value as Tensor
from ...source.place import Place, at
from ...trace import Event, Tape, Trace, Value, Watch
from ...trace import Variable as TracedVariable
from .reading import OUT, _dense, _replay


class Followed(Value):
    """A value that the tape follows: real or complex, whether or not its numbers are known."""

    __slots__ = ()

    @property
    def floating(self) -> bool:
        return True


class Taped:
    """The records of one tape as a trace, with the numbers that these and the question hold."""

    def __init__(self, tape: Any, place: Place, things: Sequence[Any]) -> None:
        self.trace = Trace("gradtape")
        self.tape = Tape(0, tape._persistent, tape._watch_accessed_variables, place, [[0.0, inf]])
        self.trace.tapes[0] = self.tape
        self.recorder = tape._tape
        self.values: dict[int, Value] = {}  # by their numbers on the tape
        self.changed = False  # has a variable changed while the tape recorded?
        variables, records = self.recorder.variables, self.recorder.records
        for number in (*variables, *self.recorder.leaves - variables.keys()):
            value, variable = self._followed(number), variables.get(number)
            if variable is not None:
                value.variable = TracedVariable(
                    len(self.trace.variables), variable.trainable, variable.name, None,
                    owner=variable,
                )  # fmt: skip
                value.kind, value.thing = "variable", variable
                self.trace.variables.append(value.variable)
            self.tape.watch(Watch(value, 0.0, place, automatic=variable is not None))
        kept = nest.flatten([[*_kept(record).values()] for record in records])
        for thing in (*(variable._seen for variable in variables.values()), *things, *kept):
            if isinstance(thing, Tensor) and follows(self.recorder, thing):
                value = self._followed(thing._id)
                self.changed |= value.array is not None and value.array is not thing._value
                value.array = thing._value
        for number, variable in variables.items():
            if self.values[number].array is None:  # it was read without this tape since
                self.values[number].array = variable._outside()
        for record in records:
            self._add(record)

    def _followed(self, number: int) -> Value:
        """The value of this number on the tape."""
        if number not in self.values:
            self.values[number] = Followed("tensor", None)
            self.trace.values.append(self.values[number])
        return self.values[number]

    def value(self, thing: Any) -> Value:
        """The value of a thing that may be on the tape."""
        known = self.values.get(getattr(thing, "_id", 0))
        if known is None:
            array = getattr(thing, "_value", thing)
            kind = "tensor" if array is not thing or thing is None else "number"
            if isinstance(thing, (np.ndarray, np.generic)):
                kind = "array"
            known = Value(kind, array if kind != "number" else None, thing=thing)
            self.trace.values.append(known)
        return known

    def source(self, thing: Any) -> Value | TracedVariable:
        value = self.value(thing)
        return value.variable or value

    def _add(self, record: tuple) -> None:
        op, code, offset = record[0], record[2], record[3]
        ids = [*operand_ids(record)][: len(op.rules) if len(record) == BRIEF else None]
        kept, needed = _kept(record), getattr(op, "params", None)
        inputs = [
            self.value(kept.get(letter)) if i is None else self._followed(i)
            for i, letter in zip_longest(ids, LETTERS[: len(ids)])
        ]
        outputs = [self.value(None) if i is None else self._followed(i) for i in result_ids(record)]
        params = {name: kept[name] for name in needed or () if name in kept}
        place = self.tape.place if code is None else at(code, offset)
        event = Event(
            op.kind, op.name, inputs, outputs, place, len(self.trace.events) + 1.0, attrs=params,
            tapes=frozenset({0}), pull=partial(_pull, record, len(ids)),
        )  # fmt: skip
        if needed is not None and len(params) == len(needed):
            event.replay = partial(_replay_op, op, inputs, params)
            arrays = [value.array for value in inputs]
            if (
                len(outputs) == 1
                and outputs[0].array is None
                and all(array is not None for array in arrays)
            ):
                with np.errstate(all="ignore"):
                    outputs[0].array = op.forward(*arrays, **params)
        self.trace.events.append(event)
        for value in inputs:
            value.users.append(event)
        for value in outputs:
            value.maker = event


def _kept(record: tuple) -> dict[str, Any]:
    """What a record holds, by the names of the rules."""
    if len(record) == BRIEF:
        return {name: x for name, x in zip("aby", record[6:9], strict=True) if x is not None}
    return dict(zip(record[5], record[6], strict=False))


def _pull(record: tuple, count: int, cotangents: Sequence[Any]) -> list:
    """The cotangents of the operands of one record, each by itself."""
    places = [None if i is None else k for k, i in enumerate([*operand_ids(record)][:count])]
    results = [OUT - k for k in range(len(result_ids(record)))]
    if len(record) == BRIEF:
        renumbered = (record[0], OUT, None, 0, *(*places, None)[:2], *record[6:])
    else:
        one, several = (OUT, None) if record[7] is None else (None, results)
        renumbered = (record[0], one, None, 0, places, *record[5:7], several)
    grads = {i: g for i, g in zip(results, cotangents, strict=True) if g is not None}
    wanted = {k for k in places if k is not None}
    swept = sweep([renumbered], grads, wanted, recorded=False) if grads else {}
    return [_dense(swept.get(k)) for k in range(count)]


def _replay_op(op: Any, inputs: list[Value], params: dict, arrays: Any, whole: bool = False) -> Any:
    operands = tuple(tensor(np.asarray(value.array)[()]) for value in inputs)
    return _replay(op, operands, params, arrays, whole)
