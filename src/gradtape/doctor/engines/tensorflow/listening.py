"""What of TensorFlow is listened to: ops, variables, ways out, ways in, tapes, custom gradients."""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from threading import get_ident
from types import CodeType, FrameType
from typing import Any

import numpy as np

from ..ears import NoEar
from ..frames import arguments, around, inside, locate, stack, user
from ..gradtape.fading import KEEP_LOOSE, LARGE
from . import autograph, passing
from .buffer import listen
from .calling import hook as _calls
from .engine import CONVERT, CUSTOM, ESCAPE, MADE, OP, SCRIPT, Engine
from .frozen import hook as _frozen
from .graphs import CALLS, Call, Graphs, Spot
from .graphs import hook as _graphs
from .numbering import hook as _numbers
from .stand_ins import keep
from .taping import building, note
from .taping import hook as _tapes
from .values import size

# Ways out of the tape, by the method that is called.
EXITS = {
    "numpy": ".numpy()", "__array__": "np.asarray()", "__float__": "float()", "__int__": "int()",
    "__index__": "int()", "__bool__": "bool()", "__complex__": "complex()",
}  # fmt: skip
MANY = LARGE // 8  # numbers of a tensor that may be large
# Types of what may have come from a tensor by way of Python.
ARRAYS = frozenset({list, tuple, np.ndarray})
PLAIN = ARRAYS | {float, complex, np.float32, np.float64, np.float16}


def hook(engine: Engine) -> None:
    """Listen to all of it; what a version does not have is noted."""
    engine.graphs = Graphs()
    parts: tuple[tuple[str, Callable[[Engine], None]], ...] = (
        ("numbers of tensors", _numbers), ("callbacks of ops", _ops), ("variables", _variables),
        ("tensors' conversions", _exits), ("constants", _constants), ("tapes", _tapes),
        ("custom gradients", _custom_gradients), ("py_function", _scripts), ("functions", _graphs),
        ("calls of functions", _calls), ("captures", _frozen),
    )  # fmt: skip
    for what, part in parts:
        try:
            part(engine)
        except (ImportError, AttributeError, NoEar) as fault:
            engine.missing(what, fault)


# --- ops ------------------------------------------------------------------------------------------
def _ops(engine: Engine) -> None:
    from tensorflow.python.eager import context
    from tensorflow.python.framework import op_callbacks

    heard = _hearing(engine)

    def begin() -> None:
        op_callbacks.add_op_callback(heard)

    def end() -> None:
        engine._deaf = True  # in other threads, where it cannot be taken away
        with suppress(KeyError):
            op_callbacks.remove_op_callback(heard)

    begin()
    engine.at_end(end)

    def thread_begins(_: Any) -> None:
        if not engine.deaf:
            context.context().add_op_callback(heard)

    engine.listen(threading.Thread._bootstrap_inner, before=thread_begins)  # type: ignore[attr-defined]


def _hearing(engine: Engine) -> Callable[..., None]:
    """What is called after every op. Its raw event: type, operands, attributes, results, what the
    op's own function was given, the layer that it belongs to, is it a metric's, frames around."""
    generated: dict[CodeType, bool] = {}

    def heard(
        op_type: Any, inputs: Any, attrs: Any, outputs: Any, op_name: Any = None, graph: Any = None
    ) -> None:
        if engine.deaf:
            return
        try:
            frame = sys._getframe(1)
            if graph is not None:
                _built(engine, graph, op_name, frame)
                return
            thread = get_ident()
            recording = engine.active.get(thread)
            if engine.asking and not recording:
                return  # what a tape computes to answer is nobody's business, but another tape's
            iterates = passing.of_an_iterator(op_type)
            if iterates:
                if not passing.tells(op_type):
                    return
                inputs = engine.quietly(passing.standing, inputs)
            code = frame.f_code
            given: Any = None
            own = generated.get(code)
            if own is None:
                own = generated[code] = "gen_" in code.co_filename
            if own and not iterates:  # its arguments are handles
                given = {name: keep(thing) for name, thing in frame.f_locals.items()}
            place, door, layer, measures = locate(frame, engine.layer_call)
            layer = engine.lasting_layer(layer)
            plain = given is not None and not (
                PLAIN if engine.left else ARRAYS).isdisjoint(map(type, given.values()))  # fmt: skip
            # Outside of tapes, who called whom tells where the work belongs inside.
            # A Python number may have come from a tensor that left, by way of other functions.
            calls = isinstance(op_type, str) and op_type.startswith(CALLS)
            outer = around(place) if plain or calls or not recording else None
            handed = arguments(door) if plain else ()
            if calls:
                given, engine.before = Call(engine.before), {}
                inputs = engine.lasting(op_type, inputs)
            # The list of results is the caller's own, who may change it.
            engine.log.append(
                (OP, op_type, inputs, attrs, tuple(outputs), given, layer, measures, outer, handed,
                 place.f_code, place.f_lasti, thread)
            )  # fmt: skip
            if calls:
                engine.called(engine.log[-1])
            elif outputs and outputs[0]._num_elements() >= MANY:
                engine.grew(sum(map(size, outputs)))
            elif not recording and len(engine.log) > KEEP_LOOSE:
                engine.grew(0)
        except Exception as fault:
            engine.failed(fault)

    return heard


def _built(engine: Engine, graph: Any, name: Any, frame: FrameType) -> None:
    """An op was put into a graph."""
    if name is not None:
        place, _, layer, measures = locate(frame, engine.layer_call)
        hidden = bool(engine.asking) and not engine.graphs.recording(graph)
        engine.graphs.of(graph).spots[name] = Spot(
            place.f_code,
            place.f_lasti,
            around(place),
            engine.lasting_layer(layer),
            measures,
            hidden,
        )
        engine.sights.note(place, autograph.original, id(graph))


# --- variables ------------------------------------------------------------------------------------
def _variables(engine: Engine) -> None:
    from tensorflow.python.ops import resource_variable_ops

    base = resource_variable_ops.BaseResourceVariable
    # What `assign` gives: another object for the same variable, which may be older than the hooks.
    unread = getattr(resource_variable_ops, "_UnreadVariable", ())

    def made(told: Any, result: Any) -> Any:
        it = told[0]
        known = engine.variables.get(id(it.handle))
        owner = None if known is None else known()
        another = isinstance(it, unread) or (owner is not None and owner.handle is it.handle)
        if not engine.deaf and not another:
            frame = sys._getframe(2)
            place = user(frame)
            layer = engine.layer_of_weight(frame)
            engine.variables[id(it.handle)] = weakref.ref(it)
            engine.log.append((MADE, keep(it), layer, place.f_code, place.f_lasti, get_ident()))
        return result

    engine.listen(base.__init__, after=made)


# --- leaving and coming back ----------------------------------------------------------------------
def _exits(engine: Engine) -> None:
    from tensorflow.python.framework import ops
    from tensorflow.python.ops import resource_variable_ops

    base = ops._EagerTensorBase
    variable = resource_variable_ops.BaseResourceVariable
    for owner in (base, variable):
        for name in EXITS.keys() & vars(owner).keys():
            engine.listen(vars(owner)[name], after=_left(engine, name))

    def exported(tensor: Any) -> None:
        if not engine.deaf:
            frame = sys._getframe(2)
            if not inside(frame):
                array = np.asarray(tensor._numpy())
                engine.left = True
                engine.log.append(
                    (ESCAPE, tensor, "__array__", array, stack(frame), None, 0, get_ident())
                )

    end = listen(ops.EagerTensor, exported)
    if end is None:
        engine.notes.append(
            "NumPy takes the numbers of tensors without a word on this Python: np.exp(tensor) and "
            "the like are not seen."
        )
    else:
        engine.at_end(end)


def _left(engine: Engine, name: str) -> Any:
    def after(told: Any, result: Any) -> Any:
        if not engine.deaf:
            frame = sys._getframe(2)
            if not inside(frame):
                engine.left = True
                engine.log.append(
                    (ESCAPE, keep(told[0]), name, result, stack(frame), None, 0, get_ident())
                )
        return result

    return after


def _constants(engine: Engine) -> None:
    from tensorflow.python.framework import constant_op

    def after(told: Any, tensor: Any) -> Any:
        value = told[0]
        if tensor is not value and not engine.deaf and not engine.asking:
            frame = sys._getframe(2)
            handed = (engine.left or type(value) is not float) and (
                id(value) in arguments(locate(frame, engine.layer_call)[1])
            )
            engine.log.append(
                (CONVERT, keep(value), tensor, stack(frame, 4), handed, None, 0, get_ident())
            )
        return tensor

    engine.listen(constant_op.convert_to_eager_tensor, after=after)


# --- functions with gradients of their own --------------------------------------------------------
def _custom_gradients(engine: Engine) -> None:
    from tensorflow.python.ops import custom_gradient

    for name in ("_eager_mode_decorator", "_graph_mode_decorator"):
        engine.listen(getattr(custom_gradient, name), after=_customized(engine))


def _customized(engine: Engine) -> Any:
    def after(told: Any, result: Any) -> Any:
        function, args, kwargs = told
        if not engine.deaf and _users_own(function):
            frame = sys._getframe(1)
            place, names = user(frame), frame.f_locals
            inside = names["result"], names["grad_fn"]  # what the function gave
            event = (
                CUSTOM, function, keep(args), keep(kwargs), result, inside, place.f_code,
                place.f_lasti, get_ident(),
            )  # fmt: skip
            note(engine, building(), event)
        return result

    return after


def _users_own(function: Any) -> bool:
    """Of the library's own, what runs inside has the derivatives that count; but for those around a
    function of the user's."""
    module = getattr(function, "__module__", None) or ""
    return (
        module.partition(".")[0] not in ("tensorflow", "keras")
        or module == "tensorflow.python.ops.custom_gradient"
    )


def _scripts(engine: Engine) -> None:
    """Python functions that run as one op; of those on tensors, also what they got and gave."""
    from tensorflow.python.eager import context
    from tensorflow.python.ops import script_ops

    inside: list[tuple] = []

    def after(kind: str) -> Any:
        def note(told: Any, result: Any) -> Any:
            function, inputs = told[:2]
            if not engine.deaf and not engine.asking and context.executing_eagerly():
                place = user(sys._getframe(2))
                engine.log.append(
                    (SCRIPT, kind, function, inputs, result, tuple(inside[-1:]), place.f_code,
                     place.f_lasti, get_ident())
                )  # fmt: skip
            inside.clear()
            return result

        return note

    def called(told: Any, outputs: Any) -> Any:
        inside[:] = [(told[3], outputs)]
        return outputs

    engine.listen(script_ops._internal_py_func, after=after("EagerPyFunc"))
    engine.listen(script_ops.py_func_common, after=after("PyFunc"))
    engine.listen(script_ops.EagerFunc.__call__, after=called)
