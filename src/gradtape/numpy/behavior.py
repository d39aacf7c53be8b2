"""Tensors that behave as NumPy's arrays, for programs that ask for it.

Until then nothing of this is on the path of an op: enabling exchanges methods of the class.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import arrays
from ..framework.convert import to_tensor
from ..framework.tensor import Tensor
from ..framework.variable import Variable
from .elementwise import around, clip
from .indexing import getitem
from .linear import matmul
from .reductions import amax, amin, mean
from .shaping import flatten, ravel, reshape, transpose
from .types import NUMBERS, as_tensor, by_numpy, settings
from .weak import result_of

__all__ = ["experimental_enable_numpy_behavior"]

MODES = ("off", "legacy", "safe", "all")
_BEFORE: dict[tuple[type, str], Any] = {}  # what the classes had, to be given back


def experimental_enable_numpy_behavior(
    prefer_float32: bool = False, dtype_conversion_mode: str = "legacy"
) -> None:
    """Give tensors NumPy's methods, NumPy's indexing and operators that promote dtypes.

    `dtype_conversion_mode` says how operators promote: "legacy" as NumPy does, "all" with weak
    Python numbers, "safe" as that where nothing can be lost, "off" not at all. `prefer_float32`
    takes Python's floats as float32.

    Differs from TensorFlow: in "safe" and "all", Python numbers are weak, but no tensor is; and
    tf.add and its like do not promote, operators do.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.experimental_enable_numpy_behavior()
    >>> (tf.constant([[1, 2]]).T + 0.5).reshape(-1)[[1, 0, 1]]
    <tf.Tensor: shape=(3,), dtype=float64, numpy=array([2.5, 1.5, 2.5])>
    >>> tf.experimental.numpy.behavior.restore()
    """
    if dtype_conversion_mode not in MODES:
        raise ValueError(
            f"The provided promotion mode {dtype_conversion_mode} does not exist. Make sure the "
            "provided dtype conversion mode is one of the followings: 'off', 'legacy', 'safe' or "
            "'all'."
        )
    restore()
    settings.mode, settings.prefer_float32 = dtype_conversion_mode, prefer_float32
    for name, value in _METHODS.items():
        _exchange(Tensor, name, value)
    if dtype_conversion_mode == "off":
        return
    legacy = dtype_conversion_mode == "legacy"
    if legacy:
        _exchange(Tensor, "__matmul__", matmul)
        _exchange(Tensor, "__rmatmul__", lambda x, y: matmul(y, x))
    for sign in _ARITHMETIC + (_BITS if legacy else ()):
        _promote(f"__{sign}__", Variable)
        _promote(f"__r{sign}__", Variable)
    if legacy:
        for sign in _COMPARISONS:
            _promote(f"__{sign}__", Variable)
        _promote("__eq__")
        _promote("__ne__")
    else:
        _promote("__eq__", Variable)


def _promote(method: str, *readers: type) -> None:
    """Let an operator of tensors promote, and that of variables with it."""
    _exchange(Tensor, method, _promoting(method))
    for reader in readers:
        _exchange(reader, method, _reading(method))


def restore() -> None:
    """Give tensors their own behaviour back."""
    settings.mode, settings.prefer_float32 = "off", False
    for (owner, name), value in _BEFORE.items():
        if value is None:
            delattr(owner, name)
        else:
            setattr(owner, name, value)
    _BEFORE.clear()


def _exchange(owner: type, name: str, value: Any) -> None:
    _BEFORE.setdefault((owner, name), vars(owner).get(name))
    setattr(owner, name, value)


# --- methods --------------------------------------------------------------------------------------
def _reshape(self: Any, *newshape: Any, **kwargs: Any) -> Any:
    order = kwargs.pop("order", "C")
    if kwargs:
        raise ValueError(f"Unsupported arguments: {kwargs.keys()}")
    one = len(newshape) == 1 and not isinstance(newshape[0], int)
    return reshape(self, newshape[0] if one else newshape, order)


_METHODS: dict[str, Any] = {
    "T": property(transpose, doc="The axes in reversed order."),
    "size": property(lambda self: np.prod(self._value.shape), doc="The number of elements."),
    "data": property(lambda self: self, doc="The tensor itself."),
    "__pos__": lambda self: self,
    "__round__": around,
    "__getitem__": getitem,
    "tolist": lambda self: np.asarray(self._value).tolist(),
    "astype": arrays.cast,
    "clip": clip,
    "flatten": flatten,
    "max": amax,
    "mean": mean,
    "min": amin,
    "ravel": ravel,
    "reshape": _reshape,
    "transpose": transpose,
}

# --- operators ------------------------------------------------------------------------------------
_ARITHMETIC = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")
_BITS = ("and", "or", "xor")
_COMPARISONS = ("lt", "le", "gt", "ge")


def _promoting(name: str) -> Callable[[Any, Any], Any]:
    method = vars(Tensor)[name]

    def operator(x: Any, y: Any) -> Any:
        if y.__class__ in NUMBERS and x._value.dtype.kind in "fc" and not settings.prefer_float32:
            return method(x, y)  # which the tensor's dtype takes in anyway
        if y.__class__ is not Tensor or y._value.dtype != x._value.dtype:
            if y is None and name in ("__eq__", "__ne__"):
                return method(x, y)
            try:
                a, b = _promoted(x, y)
            except (TypeError, ValueError) as error:
                # An object that knows how to work with tensors gets its turn.
                if _knows(y, name):
                    return NotImplemented
                raise error from None
            return method(a, b)
        return method(x, y)

    operator.__name__ = name
    return operator


def _promoted(x: Any, y: Any) -> tuple[Any, Any]:
    if settings.mode == "legacy":
        dtype = by_numpy((x, y))
    else:
        try:
            dtype = result_of((x, y))[0]
        except NotImplementedError:
            return x, y
    tensor = isinstance(y, Tensor) or hasattr(y, "_read")
    return as_tensor(x, dtype), as_tensor(y, dtype) if tensor else to_tensor(y, dtype)


def _knows(y: Any, name: str) -> bool:
    plain = isinstance(y, (bool, int, float, complex, str, bytes, np.ndarray, np.generic))
    return not plain and hasattr(type(y), name.replace("__", "__r", 1))


def _reading(name: str) -> Callable[[Any, Any], Any]:
    """A variable's operator is that of its value."""
    return lambda self, other: getattr(Tensor, name)(self._read(), other)
