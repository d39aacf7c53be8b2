"""The doctor's engine for `toy`: what docs/design.md says that an engine has to provide."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from types import FrameType
from typing import Any

import numpy as np

from gradtape.doctor.engines.joining import innermost
from gradtape.doctor.engines.sights import Sights
from gradtape.doctor.source.place import Place, at
from gradtape.doctor.trace import Answer, Asked, Event, Query, Tape, Trace, Value, Watch
from tests.doctor import toy


class Engine:
    name = "toy"

    def __init__(self, asked: Callable[[Asked], None]) -> None:
        self.asked = asked
        self.log: list[Any] = []
        self.deaf, self.dropped, self.tell_by = False, 0, float("inf")
        self.sights, self.steps = Sights(), None
        self.notes: list[str] = []
        self.faults: list[str] = []

    # --- listening --------------------------------------------------------------------------------
    def start(self) -> None:
        toy.listeners.append(self)

    def stop(self) -> None:
        toy.listeners.remove(self)

    def forget(self) -> None:
        self.log.clear()

    def op(
        self, kind: str, forward: Any, pull: Any, operands: Any, result: Any, frame: FrameType
    ) -> None:
        if not self.deaf:
            code, offset = frame.f_code, frame.f_lasti
            self.log.append(("op", kind, forward, pull, operands, result, code, offset))

    def query(self, target: Any, source: Any, result: Any, frame: FrameType) -> None:
        if self.deaf:
            return
        place = frame.f_code, frame.f_lasti
        self.log.append(("query", target, source, result, *place))
        self.asked(
            Asked(
                "gradient", place, target, source, frame, None, [result], [source.array],
                [target.array],
            )
        )  # fmt: skip

    # --- the neutral trace ------------------------------------------------------------------------
    def trace(self) -> Trace:
        trace, values, clock = Trace(self.name), {}, count()
        begin = at(*self.log[0][-2:])
        tape = trace.tapes[0] = Tape(0, True, False, begin, [[0, float("inf")]])

        def value(number: Any) -> Value:
            if number not in values:
                values[number] = Value("tensor", number.array, thing=number)
                trace.values.append(values[number])
            return values[number]

        for what, *event in self.log:
            time, place = float(next(clock)), at(*event[-2:])
            if what == "op":
                kind, forward, pull, operands, result = event[:5]
                inputs = [value(x) for x in operands]
                for given in inputs:
                    if given.maker is None and not tape.watched(given):
                        tape.watch(Watch(given, -1.0, place))
                made = value(result)
                made.maker = Event(
                    kind, kind.lower(), inputs, [made], place, time, tapes=frozenset({0}),
                    pull=_pull(pull, [x.array for x in operands], result.array),
                    replay=_replay(forward, pull),
                )  # fmt: skip
                for given in inputs:
                    given.users.append(made.maker)
                trace.events.append(made.maker)
            else:
                target, source, result = event[:3]
                answer = Answer(value(source), "", result)
                trace.queries.append(
                    Query(tape, "gradient", [value(target)], "", [answer], place, time, 1)
                )
        return trace

    # --- what a small engine need not do ----------------------------------------------------------
    def catch_up(self) -> None:
        """Nothing is put off."""

    def unfinished(self) -> None:
        """No query is broken off."""

    def trim(self, most: int = 0, alone: bool = False) -> None:
        """Programs are short."""

    def raised_at(self, error: BaseException) -> Place | None:
        spot = innermost(error)
        return None if spot is None else at(*spot)

    def joins(self, model: Any, frame: FrameType | None) -> Callable[[], None]:
        return lambda: None


def _pull(pull: Any, arrays: list[Any], result: Any) -> Any:
    if pull is None:
        return None
    return lambda gs: pull(gs[0], *arrays, result)


def _replay(forward: Any, pull: Any) -> Callable[..., tuple[list[Any], Any]]:
    def replay(arrays: list[Any], real: bool = False) -> tuple[list[Any], Any]:
        with np.errstate(all="ignore"):
            result = np.asarray(forward(*arrays))
        return [result], _pull(pull, arrays, result)

    return replay
