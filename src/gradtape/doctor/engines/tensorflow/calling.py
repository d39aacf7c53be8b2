"""What of calls of functions is listened to: one that asks tapes runs as a copy that tells more."""

from __future__ import annotations

import functools
import sys
import weakref
from collections.abc import Callable
from threading import get_ident
from typing import Any

from ..frames import around, inside, locate
from .copies import Copy, Told, copied
from .editing import OWN
from .engine import OP, Engine
from .numbering import unnumbered


def hook(engine: Engine) -> None:
    """Listen to calls."""
    from tensorflow.python.eager import cancellation, context
    from tensorflow.python.eager.polymorphic_function import atomic_function

    eagerly = context.executing_eagerly

    def before(self: Any, args: tuple) -> tuple | None:
        """The results of a copy, None when the function itself is to run."""
        if engine.deaf or engine.asking or not eagerly():
            return None
        copy = None
        try:
            name = self.name.decode()
            changes, asks = engine.graphs.traits(name)
            # Others may listen to ops, too, and a copy is none that they know.
            alone = len(context.context().op_callbacks) == 1 and cancellation.context() is None
            if asks and alone:
                copy = _copy(engine, self, name, args)
            if copy is None and changes:
                engine.before = _before(engine, args)
        except Exception as fault:
            engine.failed(fault)
        if copy is None:
            return None
        try:
            outputs = run(self, copy, args)
            copy.begun = True
            unnumbered(engine, len(outputs) - copy.results)
        except Exception as fault:
            if not _ours(copy, fault):
                raise
            engine.copies[name] = None
            engine.failed(fault)
            return None
        try:
            _note(engine, name, copy, args, outputs, sys._getframe(1))
        except Exception as fault:
            engine.failed(fault)
        return (outputs[: copy.results] or None,)

    engine.listen(
        atomic_function.AtomicFunction.call_flat, before=before, failed=_hide, instead=True
    )
    engine.at_end(lambda: [copy.leave() for copy in engine.copies.values() if copy is not None])


def _hide(_: Any) -> None:
    """An exception that comes out of a copy has no frames of ours."""
    error = sys.exc_info()[1]
    step = None if error is None else error.__traceback__
    while step is not None:
        while step.tb_next is not None and inside(step.tb_next.tb_frame, "gradtape"):
            step.tb_next = step.tb_next.tb_next
        step = step.tb_next


def run(function: Any, copy: Copy, args: Any) -> list[Any]:
    """Call a copy in a function's place: what it raises is what the function would have raised."""
    context, stop_recording, interpolating, raised, set_handle_data = _tensorflow()
    with interpolating(function), stop_recording():
        try:
            outputs = copy.call(context(), args)
        except raised as error:
            error._message = copy.plain(error._message)
            raise
    for k, data in copy.handles:
        set_handle_data(outputs[k], data)
    return outputs


def _ours(copy: Copy, fault: BaseException) -> bool:
    """Could a copy not even begin? A fault of an op of the function's names its node."""
    words = str(fault)
    return not copy.begun and ("{{node" not in words or f"{{{{node {OWN}/" in words)


@functools.cache
def _tensorflow() -> tuple[Any, ...]:
    from tensorflow.python.eager import context, record
    from tensorflow.python.eager.polymorphic_function import atomic_function
    from tensorflow.python.framework import errors
    from tensorflow.python.ops import handle_data_util

    return (
        context.context, record.stop_recording, atomic_function.InterpolateRuntimeError,
        errors.OpError, handle_data_util.set_handle_data,
    )  # fmt: skip


def _copy(engine: Engine, function: Any, name: str, args: Any) -> Copy | None:
    """The copy of a function, made before its first call."""
    if name not in engine.copies:
        known = [a for a in args if id(a) in engine.variables]
        if not all(_holds(engine, handle) for handle in known):
            return None
        engine.copies[name] = None
        variables = {id(a): engine.variables[id(a)]() for a in known}
        engine.deaf = True
        try:
            made = copied(engine.graphs, name, args, variables)
        finally:
            engine.deaf = False
        engine.copies[name] = made
        if made is not None:
            made.handles = _handles(function)
            if made.draws:
                made.function = weakref.ref(function)
    copy: Copy | None = engine.copies[name]
    if copy is None or not all(_holds(engine, args[k]) for k in copy.variables):
        return None
    return copy


def _holds(engine: Engine, handle: Any) -> bool:
    """Does a variable hold something? One that does will always."""
    known = engine.variables.get(id(handle))
    if known is not None and engine.ready.get(id(handle)) is known:
        return True
    it = None if known is None else known()
    if it is None or not _unheard(engine, lambda: bool(it.is_initialized())):
        return False
    engine.ready[id(handle)] = known
    return True


def _handles(function: Any) -> list[tuple[int, Any]]:
    found = [(k, t.dtype._handle_data) for k, t in enumerate(function.function_type.flat_outputs)]
    return [(k, data.shape_inference) for k, data in found if data]


def _note(engine: Engine, name: str, copy: Copy, args: Any, outputs: Any, frame: Any) -> None:
    place, _, layer, measures = locate(frame, engine.layer_call)
    args = engine.lasting(name, args)
    event = (
        OP, name, args, (), tuple(outputs[: copy.results]), Told(copy, args, outputs),
        engine.lasting_layer(layer), measures, around(place), (), place.f_code, place.f_lasti,
        get_ident(),
    )  # fmt: skip
    engine.log.append(event)
    engine.called(event, copy, copy.numbers(outputs))


def _before(engine: Engine, args: Any) -> dict[int, Any]:
    """Before a function that changes variables runs, what they hold is remembered."""
    from tensorflow.python.ops import gen_resource_variable_ops

    def read() -> dict[int, Any]:
        found: dict[int, Any] = {}
        for handle in args:
            known = engine.variables.get(id(handle))
            it = None if known is None else known()
            if it is not None:
                found[id(handle)] = gen_resource_variable_ops.read_variable_op(handle, it.dtype)
        return found

    return _unheard(engine, read)


def _unheard(engine: Engine, work: Callable[[], Any]) -> Any:
    """Do something that nobody needs to hear of."""
    from tensorflow.python.eager import context

    local = context.context()._thread_local_data
    callbacks, local.op_callbacks = local.op_callbacks, []
    was, engine.deaf = engine.deaf, True
    try:
        return work()
    finally:
        engine.deaf = was
        local.op_callbacks = callbacks
