"""What of tapes is listened to: when they record, what they watch, what they are asked."""

from __future__ import annotations

import sys
from threading import get_ident
from types import FrameType
from typing import Any

from .. import ears
from ..frames import REWRITES, foreign, of_tensorflow, user
from ..gradtape.stand_ins import KeptTape
from ..keras import names_of
from .engine import QUERY, RESET, START, STOP, WATCH, Engine
from .graphs import sight
from .stand_ins import keep


def hook(engine: Engine) -> None:
    """Listen to tapes."""
    from tensorflow.python.eager.backprop import GradientTape

    number = engine.number

    def pushed(told: Any, result: Any) -> Any:
        if not engine.deaf:
            place, thread, graph, tape = user(sys._getframe(2)), get_ident(), building(), told[0]
            engine.recording(graph, thread).append(number(tape))
            where = place.f_code, place.f_lasti, thread
            note(engine, graph, (START, number(tape), KeptTape(tape), *where))
        return result

    def popped(told: Any, result: Any) -> Any:
        if not engine.deaf:
            place, thread, graph, tape = user(sys._getframe(2)), get_ident(), building(), told[0]
            if number(tape) in (active := engine.recording(graph, thread)):
                active.remove(number(tape))
            note(engine, graph, (STOP, number(tape), place.f_code, place.f_lasti, thread))
        return result

    def was_reset(told: Any, result: Any) -> Any:
        if not engine.deaf:
            place = user(sys._getframe(2))
            event = (RESET, number(told[0]), place.f_code, place.f_lasti, get_ident())
            note(engine, building(), event)
        return result

    def watches(tape: Any, tensor: Any) -> None:
        if not engine.deaf:
            place = user(sys._getframe(2))
            event = (WATCH, number(tape), keep(tensor), place.f_code, place.f_lasti, get_ident())
            note(engine, building(), event)

    engine.listen(GradientTape._push_tape, after=pushed)
    engine.listen(GradientTape._pop_tape, after=popped)
    engine.listen(GradientTape.reset, after=was_reset)
    engine.listen(GradientTape.watch, before=watches)
    for name in ("gradient", "jacobian", "batch_jacobian"):
        _asking(engine, getattr(GradientTape, name), name)


def _asking(engine: Engine, function: Any, method: str) -> None:
    names = ears.parameters(function)[3:]

    def before(self: Any, target: Any, sources: Any, *rest: Any) -> Any:
        # A jacobian and a py_function ask for gradients themselves.
        if engine.deaf or of_tensorflow(sys._getframe(2)):
            return None
        place, graph = user(sys._getframe(2)), building()
        called = names_of(_flat(sources)) if _librarys(sys._getframe(2)) else None
        engine.asking += 1
        return [self, target, sources, dict(zip(names, rest, strict=True)), place, graph, called]

    def after(told: Any, result: Any) -> Any:
        if told:
            answered(told, result, None)
        return result

    def failed(told: Any) -> None:
        if told:  # else the answer was told, and that has stopped the program
            error = sys.exc_info()[1]
            if isinstance(error, Exception):
                answered(told, None, error)
            else:  # an interrupt leaves no answer
                engine.asking -= 1

    def answered(told: Any, result: Any, error: Exception | None) -> None:
        tape, target, sources, rest, place, graph, called = told
        told.clear()
        engine.asking -= 1
        later = graph is not None and error is None
        event = (
            QUERY, engine.number(tape), method, target, sources, (), rest, result, error,
            sight(place) if later else None, called, place.f_code, place.f_lasti, get_ident(),
        )  # fmt: skip
        try:
            if later:  # there are no numbers yet
                note(engine, graph, event)
                if any(g is None for g in _flat(result)):
                    engine.begun.append((event, event[-5], graph))
            else:
                engine.query(event, place, graph)
        except Exception as fault:
            engine.failed(fault)

    engine.listen(function, before=before, after=after, failed=failed)


def _flat(result: Any) -> list[Any]:
    import tensorflow as tf

    return tf.nest.flatten(result)


def _librarys(frame: FrameType) -> bool:
    """Did a library ask, and not the user's code, if by way of AutoGraph?"""
    return bool(foreign(frame)) and not (frame.f_globals.get("__name__") or "").startswith(REWRITES)


def building() -> Any:
    """The graph that is being built, None when everything runs at once."""
    from tensorflow.python.eager import context
    from tensorflow.python.framework import ops

    return None if context.executing_eagerly() else ops.get_default_graph()


def note(engine: Engine, graph: Any, event: tuple) -> None:
    """Keep an event: in the log, or beside the graph that it belongs to."""
    if graph is None:
        engine.log.append(event)
    else:
        notes = engine.graphs.of(graph)
        notes.marks.append((len(notes.spots), event))
