"""What of TensorFlow is listened to: ops, variables, ways out, ways in, tapes, custom gradients."""

from __future__ import annotations

import functools
import os
import sys
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from threading import get_ident
from types import CodeType, FrameType
from typing import Any

import numpy as np

from .buffer import hide
from .calling import hook as _calls
from .engine import CONVERT, CUSTOM, ESCAPE, MADE, OP, SCRIPT, Engine
from .frames import arguments, around, inside, locate, stack, user
from .frozen import hook as _frozen
from .graphs import CALLS, Call, Graphs, Spot
from .graphs import hook as _graphs
from .taping import building, note
from .taping import hook as _tapes

# Ways out of the tape, by the method that is called.
EXITS = {
    "numpy": ".numpy()", "__array__": "np.asarray()", "__float__": "float()", "__int__": "int()",
    "__index__": "int()", "__bool__": "bool()", "__complex__": "complex()",
}  # fmt: skip
# Types of what may have come from a tensor by way of Python.
PLAIN = frozenset({float, complex, list, tuple, np.ndarray, np.float32, np.float64, np.float16})


def hook(engine: Engine) -> None:
    """Listen to all of it; what a version does not have is noted."""
    engine.graphs = Graphs()
    parts: tuple[tuple[str, Callable[[Engine], None]], ...] = (
        ("callbacks of ops", _ops), ("variables", _variables), ("tensors' conversions", _exits),
        ("constants", _constants), ("tapes", _tapes), ("custom gradients", _custom_gradients),
        ("py_function", _scripts), ("functions", _graphs), ("calls of functions", _calls),
        ("captures", _frozen), ("tracebacks", _tracebacks),
    )  # fmt: skip
    for what, part in parts:
        try:
            part(engine)
        except (ImportError, AttributeError) as fault:
            engine.missing(what, fault)


def _tracebacks(engine: Engine) -> None:
    """What TensorFlow shows of an exception has no frames of its own, and none of ours."""
    from tensorflow.python.util import traceback_utils

    hidden = (*traceback_utils._EXCLUDED_PATHS, os.path.dirname(os.path.abspath(__file__)))
    engine.put(traceback_utils, "_EXCLUDED_PATHS", hidden)


# --- ops ------------------------------------------------------------------------------------------
def _ops(engine: Engine) -> None:
    from tensorflow.python.eager import context
    from tensorflow.python.framework import op_callbacks

    heard = _hearing(engine)

    def begin() -> None:
        op_callbacks.add_op_callback(heard)

    def end() -> None:
        engine.deaf = True  # in other threads, where it cannot be taken away
        with suppress(KeyError):
            op_callbacks.remove_op_callback(heard)

    begin()
    engine.at_end(end)
    bootstrap = threading.Thread._bootstrap_inner  # type: ignore[attr-defined]

    def _bootstrap_inner(self: Any) -> None:
        if not engine.deaf:
            context.context().add_op_callback(heard)
        bootstrap(self)

    engine.put(threading.Thread, "_bootstrap_inner", _bootstrap_inner)


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
            code = frame.f_code
            given: Any = None
            own = generated.get(code)
            if own is None:
                own = generated[code] = "gen_" in code.co_filename
            if own:
                given = dict(frame.f_locals)
            place, door, layer, measures = locate(frame, engine.layer_call)
            plain = given is not None and not PLAIN.isdisjoint(map(type, given.values()))
            # Outside of tapes, who called whom tells where the work belongs inside.
            # A Python number may have come from a tensor, by way of other functions.
            calls = isinstance(op_type, str) and op_type.startswith(CALLS)
            outer = around(place) if plain or calls or not recording else None
            handed = arguments(door) if plain else ()
            if calls:
                given, engine.before = Call(engine.before), {}
            # The list of results is the caller's own, who may change it.
            engine.log.append(
                (OP, op_type, inputs, attrs, tuple(outputs), given, layer, measures, outer, handed,
                 place.f_code, place.f_lasti, thread)
            )  # fmt: skip
            if calls:
                engine.called(engine.log[-1])
        except Exception as fault:
            engine.failed(fault)

    return heard


def _built(engine: Engine, graph: Any, name: Any, frame: FrameType) -> None:
    """An op was put into a graph."""
    if name is not None:
        place, _, layer, measures = locate(frame, engine.layer_call)
        hidden = bool(engine.asking) and not engine.graphs.recording(graph)
        engine.graphs.of(graph).spots[name] = Spot(
            place.f_code, place.f_lasti, around(place), layer, measures, hidden
        )


# --- variables ------------------------------------------------------------------------------------
def _variables(engine: Engine) -> None:
    from tensorflow.python.ops import resource_variable_ops

    base = resource_variable_ops.BaseResourceVariable
    make = base.__init__

    @functools.wraps(make)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        make(self, *args, **kwargs)
        if not engine.deaf:
            frame = sys._getframe(1)
            place = user(frame)
            layer = engine.layer_of_weight(frame)
            engine.variables[id(self.handle)] = weakref.ref(self)
            engine.log.append((MADE, self, layer, place.f_code, place.f_lasti, get_ident()))

    engine.put(base, "__init__", __init__)


# --- leaving and coming back ----------------------------------------------------------------------
def _exits(engine: Engine) -> None:
    from tensorflow.python.framework import ops
    from tensorflow.python.ops import resource_variable_ops

    base = ops._EagerTensorBase
    variable = resource_variable_ops.BaseResourceVariable
    for owner in (base, variable):
        for name in EXITS.keys() & vars(owner).keys():
            engine.put(owner, name, _leaving(engine, getattr(owner, name), name))
    restore = hide(ops.EagerTensor)
    if restore is None:
        engine.notes.append(
            "NumPy takes the numbers of tensors without a word on this Python: np.exp(tensor) and "
            "the like are not seen."
        )
        return
    engine.at_end(restore)

    def as_array(self: Any, dtype: Any = None, copy: Any = None) -> Any:
        array = np.asarray(self._numpy())
        if dtype is not None and array.dtype != dtype:
            return array.astype(dtype)
        if copy:
            return array.copy()
        array = array.view()
        array.flags.writeable = False  # as the memory that NumPy would have taken
        return array

    engine.put(base, "__array__", _leaving(engine, as_array, "__array__"))


def _leaving(engine: Engine, original: Any, name: str) -> Any:
    def leave(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(self, *args, **kwargs)
        if not engine.deaf:
            frame = sys._getframe(1)
            if not inside(frame):
                engine.log.append((ESCAPE, self, name, result, stack(frame), None, 0, get_ident()))
        return result

    return functools.wraps(original)(leave)


def _constants(engine: Engine) -> None:
    from tensorflow.python.framework import constant_op

    original = constant_op.convert_to_eager_tensor

    @functools.wraps(original)
    def convert_to_eager_tensor(value: Any, *args: Any, **kwargs: Any) -> Any:
        tensor = original(value, *args, **kwargs)
        if tensor is not value and not engine.deaf and not engine.asking:
            frame = sys._getframe(1)
            handed = id(value) in arguments(locate(frame, engine.layer_call)[1])
            engine.log.append(
                (CONVERT, value, tensor, stack(frame, 4), handed, None, 0, get_ident())
            )
        return tensor

    engine.put(constant_op, "convert_to_eager_tensor", convert_to_eager_tensor)


# --- functions with gradients of their own --------------------------------------------------------
def _custom_gradients(engine: Engine) -> None:
    from tensorflow.python.ops import custom_gradient

    for name in ("_eager_mode_decorator", "_graph_mode_decorator"):
        engine.put(custom_gradient, name, _customizing(engine, getattr(custom_gradient, name)))


def _customizing(engine: Engine, original: Any) -> Any:
    @functools.wraps(original)
    def decorator(f: Any, args: Any, kwargs: Any) -> Any:
        if engine.deaf or not _users_own(f):
            return original(f, args, kwargs)
        made: list[Any] = []

        @functools.wraps(f)
        def spy(*inner: Any, **named: Any) -> Any:
            made.append(f(*inner, **named))
            return made[-1]

        result = original(spy, args, kwargs)
        place = user(sys._getframe(1))
        inside = made[-1]
        if isinstance(inside, tuple) and len(inside) == 2:
            note(
                engine, building(),
                (CUSTOM, f, args, kwargs, result, inside, place.f_code, place.f_lasti, get_ident()),
            )  # fmt: skip
        return result

    return decorator


def _users_own(function: Any) -> bool:
    """Of the library's own, what runs inside has the slopes that count; but for those that wrap a
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

    inner, common = script_ops._internal_py_func, script_ops.py_func_common
    call = script_ops.EagerFunc.__call__
    inside: list[tuple] = []

    def note(kind: str, function: Any, inputs: Any, result: Any) -> None:
        if not engine.deaf and not engine.asking and context.executing_eagerly():
            place = user(sys._getframe(2))
            engine.log.append(
                (SCRIPT, kind, function, inputs, result, tuple(inside[-1:]), place.f_code,
                 place.f_lasti, get_ident())
            )  # fmt: skip
        inside.clear()

    @functools.wraps(inner)
    def _internal_py_func(func: Any, inp: Any, *args: Any, **kwargs: Any) -> Any:
        result = inner(func, inp, *args, **kwargs)
        note("EagerPyFunc", func, inp, result)
        return result

    @functools.wraps(common)
    def py_func_common(func: Any, inp: Any, *args: Any, **kwargs: Any) -> Any:
        result = common(func, inp, *args, **kwargs)
        note("PyFunc", func, inp, result)
        return result

    @functools.wraps(call)
    def __call__(self: Any, device: Any, token: Any, args: Any) -> Any:
        outputs = call(self, device, token, args)
        inside[:] = [(args, outputs)]
        return outputs

    engine.put(script_ops, "_internal_py_func", _internal_py_func)
    engine.put(script_ops, "py_func_common", py_func_common)
    engine.put(script_ops.EagerFunc, "__call__", __call__)
