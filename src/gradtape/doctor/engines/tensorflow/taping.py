"""What of tapes is listened to: when they record, what they watch, what they are asked."""

from __future__ import annotations

import functools
import sys
from threading import get_ident
from types import FrameType
from typing import Any

from .engine import QUERY, RESET, START, STOP, WATCH, Engine
from .frames import REWRITES, foreign, of_tensorflow, user
from .graphs import sight


def hook(engine: Engine) -> None:
    """Listen to tapes."""
    from tensorflow.python.eager.backprop import GradientTape

    push, pop, watch = GradientTape._push_tape, GradientTape._pop_tape, GradientTape.watch
    reset, number = GradientTape.reset, engine.number

    @functools.wraps(push)
    def _push_tape(self: Any) -> None:
        push(self)
        if not engine.deaf:
            place, thread, graph = user(sys._getframe(1)), get_ident(), building()
            engine.recording(graph, thread).append(number(self))
            event = (START, number(self), self, place.f_code, place.f_lasti, thread)
            note(engine, graph, event)

    @functools.wraps(pop)
    def _pop_tape(self: Any) -> None:
        pop(self)
        if not engine.deaf:
            place, thread, graph = user(sys._getframe(1)), get_ident(), building()
            if number(self) in (active := engine.recording(graph, thread)):
                active.remove(number(self))
            note(engine, graph, (STOP, number(self), place.f_code, place.f_lasti, thread))

    @functools.wraps(reset)
    def resetting(self: Any) -> None:
        reset(self)
        if not engine.deaf:
            place = user(sys._getframe(1))
            event = (RESET, number(self), place.f_code, place.f_lasti, get_ident())
            note(engine, building(), event)

    @functools.wraps(watch)
    def watching(self: Any, tensor: Any) -> None:
        if not engine.deaf:
            place = user(sys._getframe(1))
            event = (WATCH, number(self), tensor, place.f_code, place.f_lasti, get_ident())
            note(engine, building(), event)
        watch(self, tensor)

    engine.put(GradientTape, "_push_tape", _push_tape)
    engine.put(GradientTape, "_pop_tape", _pop_tape)
    engine.put(GradientTape, "reset", resetting)
    engine.put(GradientTape, "watch", watching)
    for name in ("gradient", "jacobian", "batch_jacobian"):
        engine.put(GradientTape, name, _asking(engine, getattr(GradientTape, name), name))


def _asking(engine: Engine, original: Any, method: str) -> Any:
    @functools.wraps(original)
    def ask(self: Any, target: Any, sources: Any, *args: Any, **kwargs: Any) -> Any:
        # A jacobian and a py_function ask for gradients themselves.
        if engine.deaf or of_tensorflow(sys._getframe(1)):
            return original(self, target, sources, *args, **kwargs)
        place, graph = user(sys._getframe(1)), building()
        names = _names(sources) if _librarys(sys._getframe(1)) else None
        result, error = None, None
        engine.asking += 1
        try:
            result = original(self, target, sources, *args, **kwargs)
            return result
        except Exception as raised:
            error = raised
            raise
        finally:
            engine.asking -= 1
            later = graph is not None and error is None
            event = (
                QUERY, engine.number(self), method, target, sources, args, kwargs, result, error,
                sight(place) if later else None, names, place.f_code, place.f_lasti, get_ident(),
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

    return ask


def _flat(result: Any) -> list[Any]:
    import tensorflow as tf

    return tf.nest.flatten(result)


def _librarys(frame: FrameType) -> bool:
    """Did a library ask, and not the user's code, if by way of AutoGraph?"""
    return bool(foreign(frame)) and not (frame.f_globals.get("__name__") or "").startswith(REWRITES)


def _names(sources: Any) -> tuple[str, list[str]]:
    """Of a tape that a library opened: the user has no names for what it is asked."""
    import tensorflow as tf

    flat = tf.nest.flatten(sources)
    words = [getattr(s, "path", None) or getattr(s, "name", None) for s in flat]
    return "loss", [word or f"source #{k + 1}" for k, word in enumerate(words)]


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
