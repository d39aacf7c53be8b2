"""Operands: recorded values as rules see them, speaking NumPy (NEP 13 and NEP 18).

A rule is a plain NumPy expression. Given arrays it computes; given operands, it is recorded op by
op, which is how higher derivatives come about. The public tensor has no such protocols
(`np.sin(tensor)` leaves the tape, as in TensorFlow), so this class stays private.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from .record import Value

# What a NumPy function means to an operand: the op whose forward it is, or our words for it.
vocabulary: dict[Any, Any] = {}


class Operand:
    """A recorded value inside a rule."""

    __slots__ = ("tensor",)

    def __init__(self, tensor: Value) -> None:
        self.tensor = tensor

    shape = property(lambda self: self.tensor._value.shape)
    ndim = property(lambda self: self.tensor._value.ndim)
    size = property(lambda self: self.tensor._value.size)
    dtype = property(lambda self: self.tensor._value.dtype)

    @staticmethod
    def apply(op: Any, values: Sequence[Any], params: dict[str, Any]) -> Any:
        """Apply an op to operands and plain values; Python numbers take the operands' dtype."""
        dtypes = [v.tensor._value.dtype for v in values if v.__class__ is Operand]
        dtypes += [v.dtype for v in values if v.__class__ is np.ndarray]
        dtype = next((d for d in dtypes if d.kind in "fcV"), dtypes[0])
        result = op.apply(*[_tensor(v, dtype) for v in values], **params)
        return tuple(map(Operand, result)) if result.__class__ is tuple else Operand(result)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__" or kwargs:
            raise TypeError(f"a rule may only call np.{ufunc.__name__} plainly, on whole operands")
        return _say(ufunc, inputs, {})

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return _say(function, args, kwargs)

    def __getitem__(self, key: Any) -> Any:
        return _say(operator.getitem, (self, key), {})


def _say(function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    meaning = vocabulary.get(function)
    if meaning is None:
        raise TypeError(f"no op has np.{function.__name__} as its forward, so no rule may use it")
    if isinstance(meaning, FunctionType):
        return meaning(*args, **kwargs)
    arity = len(meaning.rules)
    params = dict(zip(meaning.params, args[arity:], strict=False))
    return Operand.apply(meaning, args[:arity], params | kwargs)


def _tensor(value: Any, dtype: np.dtype) -> Value:
    if value.__class__ is Operand:
        return value.tensor
    tensor = Value.__new__(Value.kind)
    tensor._value = dtype.type(value) if isinstance(value, (int, float, complex)) else value
    tensor._mark = None
    return tensor


def _method(ufunc: Any, reflected: bool = False) -> Callable[..., Any]:
    def method(self: Operand, *other: Any) -> Any:
        if other and other[0].__class__ is Operand:  # the usual case, 1 us faster
            return Operand(vocabulary[ufunc].apply(self.tensor, other[0].tensor))
        if other and getattr(other[0], "__array_ufunc__", self) is None:  # rows have their own way
            return NotImplemented
        return _say(ufunc, (*other, self) if reflected else (self, *other), {})

    return method


for _name, _ufunc in {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.true_divide,
    "pow": np.power, "matmul": np.matmul, "gt": np.greater, "ge": np.greater_equal,
    "lt": np.less, "le": np.less_equal, "eq": np.equal, "ne": np.not_equal, "neg": np.negative,
    "invert": np.logical_not, "and": np.logical_and, "or": np.logical_or,
}.items():  # fmt: skip
    setattr(Operand, f"__{_name}__", _method(_ufunc))
    setattr(Operand, f"__r{_name}__", _method(_ufunc, reflected=True))
