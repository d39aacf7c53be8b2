"""Tensors as such: made of values, cast, passed on; and, by name, all that moves their entries."""

from __future__ import annotations

import logging
import math
from typing import Any

import numpy as np

from .. import dtypes, errors, nest
from ..core.apply import tensor
from ..core.record import Value
from ..framework import convert
from ..framework.arguments import attribute_dtype, known
from ..framework.arguments import dtype as numpy_dtype
from ..framework.indexed_slices import IndexedSlices
from ..framework.shapes import CompositeTensor, TensorShape
from ..framework.tensor import Tensor
from ..framework.variable import Variable
from ..ops import elementwise
from ..ops import shape as shape_ops
from ..ops.rows import add_rows
from .creation import (
    fill,
)

log = logging.getLogger("gradtape")
newaxis = None


# --- from values to tensors -----------------------------------------------------------------------
def constant(value: Any, dtype: Any = None, shape: Any = None, name: str = "Const") -> Any:
    """A tensor of Python's or NumPy's numbers.

    A tensor comes back as it is, with its gradient; of a variable, only its present value is taken.

    >>> import gradtape as tf
    >>> tf.constant([1, 2.5])
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([1. , 2.5], dtype=float32)>
    """
    wanted = None if dtype is None else numpy_dtype(dtype)
    if isinstance(value, Value):
        x = value
        if wanted is not None and x._value.dtype != wanted:
            raise TypeError(
                f"Expected tensor {x._value} with dtype {dtypes.of(wanted)!r}, but got dtype "
                f"{dtypes.of(x._value.dtype)!r}."
            )
    elif isinstance(value, TensorShape):
        x = convert.to_tensor(value) if wanted is None else tensor(np.array(known(value), wanted))
    elif isinstance(value, (list, tuple)) and _holds_numbers(value):
        raise ValueError(
            "tf.constant takes plain numbers, and this list holds tensors or variables: tf.stack "
            "and tf.convert_to_tensor put those together, and gradients flow through them."
        )
    else:
        x = tensor(convert.array(value, wanted))
    return x if shape is None else _shaped(x, tuple(known(TensorShape(shape))), value)


def _holds_numbers(value: Any) -> bool:
    """Does a list hold tensors that are not empty?"""
    left = [value]  # a list may be nested deeper than functions may call each other
    while left:
        one = left.pop()
        if isinstance(one, (list, tuple)):
            left.extend(one)
        elif convert.is_tensor_like(one) and one._value.size > 0:
            return True
    return False


def _shaped(x: Any, shape: tuple[int, ...], value: Any) -> Any:
    if x._value.shape == shape:
        return x
    count = math.prod(shape)
    if x._value.size == count:
        return shape_ops.reshape.apply(x, shape=shape)
    if x._value.size == 1:
        if x._value.ndim > 1:
            raise errors.invalid(
                f"value must represent a scalar, got shape {list(x._value.shape)} [Op:Fill] name: "
            )
        return fill(shape, shape_ops.reshape.apply(x, shape=()))
    raise TypeError(
        f"Eager execution of tf.constant with unsupported shape. Tensor {x._value} (converted from "
        f"{value}) has {x._value.size} elements, but got `shape` {shape} with {count} elements)."
    )


def convert_to_tensor(
    value: Any,
    dtype: Any = None,
    dtype_hint: Any = None,
    name: str | None = None,
) -> Any:
    """The tensor for any value; gradients flow to the tensors and variables in it.

    >>> import gradtape as tf
    >>> tf.convert_to_tensor([tf.constant(1.0), 2.0])
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 2.], dtype=float32)>
    """
    wanted = None if dtype is None else numpy_dtype(dtype)
    hint = None if dtype_hint is None else numpy_dtype(dtype_hint)
    x = convert.to_tensor(value, wanted, hint)
    # Reading a variable is a tensor of its own, with a gradient of its own.
    return identity(x) if hasattr(value, "_read") else x


def is_tensor(x: Any) -> bool:
    """Whether this is a tensor, a variable, or one in parts: slices, sparse or ragged."""
    return x.__class__ is Tensor or isinstance(x, (Value, CompositeTensor)) or hasattr(x, "_read")


def get_static_value(tensor: Any, partial: bool = False) -> Any:
    """The value of a tensor as an array; None if it is not known before running."""
    if isinstance(tensor, Tensor):
        return tensor.numpy()
    return None if hasattr(tensor, "_read") or isinstance(tensor, CompositeTensor) else tensor


# --- passed on ------------------------------------------------------------------------------------
def identity(input: Any, name: str | None = None) -> Any:
    """The same value as a new tensor, with a gradient of its own."""
    if isinstance(input, CompositeTensor):
        return _each_part(identity, input)
    x = convert.to_tensor(input)
    if x._value.dtype.kind not in "fcV":  # no tape follows those on
        return tensor(x._value)
    return shape_ops.identity.apply(x)


def _each_part(function: Any, whole: CompositeTensor) -> Any:
    """A sparse or ragged tensor, or slices, of what a function makes of the parts."""
    spec = whole._type_spec
    return spec._from_components(nest.map_structure(function, spec._to_components(whole)))


def identity_n(input: Any, name: str | None = None) -> list[Any]:
    """The same values as new tensors."""
    if isinstance(input, (list, tuple)) and not input:
        raise errors.invalid("Length for attr 'T' of 0 must be at least minimum 1 [Op:IdentityN]")
    found = [identity(x) for x in input]
    if not found:
        raise errors.invalid("Length for attr 'T' of 0 must be at least minimum 1 [Op:IdentityN]")
    return found


def stop_gradient(input: Any, name: str | None = None) -> Any:
    """The same value, through which no gradient flows.

    >>> import gradtape as tf
    >>> x = tf.Variable(3.0)
    >>> with tf.GradientTape() as tape:
    ...     y = x * tf.stop_gradient(x)
    >>> tape.gradient(y, x)
    <tf.Tensor: shape=(), dtype=float32, numpy=3.0>
    """
    if isinstance(input, CompositeTensor):
        return _each_part(shape_ops.stop_gradient.apply, input)
    return shape_ops.stop_gradient.apply(input)


_NUMBERS = (int, float, bool)


# --- the dtype ------------------------------------------------------------------------------------
def cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """The numbers in another dtype; of the same dtype, x itself.

    Gradients flow between floating types only: whole numbers have no derivative.

    >>> import gradtape as tf
    >>> tf.cast([1.8, -1.8], tf.int32)
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([ 1, -1], dtype=int32)>
    """
    if isinstance(x, Tensor):  # first what is usual: 80 casts in a step of Keras's Adam
        known = dtypes.of(x._value.dtype)
        if dtype is known or (dtype.__class__ is str and dtype == known.name):
            return x
        wanted = numpy_dtype(dtype)
    else:
        wanted = numpy_dtype(dtype)
        if x.__class__ not in _NUMBERS:
            held = isinstance(x, (Variable, CompositeTensor))
            if held and x.dtype is dtypes.of(wanted):
                return x
            if isinstance(x, IndexedSlices):
                return IndexedSlices(cast(x.values, dtype), x.indices, x.dense_shape)
            if convert.is_ragged(x):
                return x.with_flat_values(cast(x.flat_values, dtype))
            if convert.is_sparse(x):
                return x.with_values(cast(x.values, dtype))
    a = convert.to_tensor(x)
    own = a._value.dtype
    if own == wanted:
        return a
    if "O" in (own.kind, wanted.kind):
        way = "tf.strings.to_number" if own.kind == "O" else "tf.strings.as_string"
        raise errors.UnimplementedError(
            None, None,
            f"Cast {dtypes.of(own).name} to {dtypes.of(wanted).name} is not supported; {way} "
            "converts [Op:Cast]",
        )  # fmt: skip
    kinds = dtypes.of(own), dtypes.of(wanted)
    small = next((kind for kind in kinds if kind.is_floating and kind.size == 1), None)
    if small is not None and {own.kind, wanted.kind} & {*"biuc"}:
        raise errors.UnimplementedError(
            None, None,
            f"Cast {dtypes.of(own).name} to {dtypes.of(wanted).name} is not supported; "
            f"{small.name} is cast from and to floats: take tf.float32 in between [Op:Cast]",
        )  # fmt: skip
    if own.kind == "c" and wanted.kind != "c":
        log.warning(
            "You are casting an input of type %s to an incompatible dtype %s.  This will discard "
            "the imaginary part and may not be what you intended.",
            dtypes.of(own).name, dtypes.of(wanted).name,
        )  # fmt: skip
    return shape_ops.cast.apply(a, dtype=wanted)


def saturate_cast(value: Any, dtype: Any, name: str | None = None) -> Any:
    """The numbers in another dtype, those that do not fit as the nearest that do.

    Differs from TensorFlow: its limits are floats, in which those of int64 and uint64 overflow, so
    that what is int64, or too large for these two, comes out as their least number.
    """
    x, wanted = convert.to_tensor(value), dtypes.as_dtype(dtype)
    if x.dtype.is_complex and not wanted.is_complex:
        x = cast(x, x.dtype.real_dtype)
    own = x.dtype
    if own.is_bool or wanted.is_bool:
        raise TypeError(f"Cannot find minimum value of {(own if own.is_bool else wanted)!r}.")
    if own.is_complex:
        return cast(x, wanted)
    # Floats also where all fit: infinities become the last finite numbers.
    least, most = _bounds(x._value.dtype, own, wanted.real_dtype)
    if own.is_integer:
        return cast(tensor(convert.computed(lambda v: np.clip(v, least, most), x._value)), wanted)
    clipped = elementwise.maximum.apply(x, tensor(least))
    return cast(elementwise.minimum.apply(clipped, tensor(most)), wanted)


def _bounds(numpy: np.dtype, own: dtypes.DType, wanted: dtypes.DType) -> tuple[Any, Any]:
    """The ends of what two dtypes share as numbers of the first, rounded inwards so that both fit.

    They are compared as Python's whole numbers: the ends of int64 are no floats.
    """
    found = []
    for name, inner in (("min", max), ("max", min)):
        ours, theirs = (_exact(getattr(dtype, name)) for dtype in (own, wanted))
        end = inner(ours, theirs)
        limit = numpy.type(end if own.is_integer else float(end))
        if inner(_exact(limit), theirs) != _exact(limit):
            limit = np.nextafter(limit, numpy.type(0))
        found.append(limit)
    return found[0], found[1]


def _exact(end: Any) -> int:
    return int(end) if isinstance(end, (int, np.integer)) else int(float(end))


def bitcast(input: Any, type: Any, name: str | None = None) -> Any:
    """The same bits read as another dtype; a narrower one adds an axis, a wider one takes it up."""
    x, wanted = convert.to_tensor(input), attribute_dtype(type, "type", "Bitcast")
    own = x._value.dtype
    if own.kind in "Ob" or wanted.kind in "Ob":
        raise errors.invalid(
            f"Cannot bitcast from {dtypes.of(own).name} to {dtypes.of(wanted).name} [Op:Bitcast]"
        )
    parts, group = own.itemsize // wanted.itemsize, wanted.itemsize // own.itemsize
    if group > 1 and (not x._value.ndim or x._value.shape[-1] != group):
        raise errors.invalid(
            f"Cannot bitcast from {dtypes.of(own).name} to {dtypes.of(wanted).name}: the last axis "
            f"of shape {list(x._value.shape)} must have size {group} [Op:Bitcast]"
        )
    return shape_ops.bitcast.apply(x, dtype=wanted, parts=parts)


def tensor_diag(diagonal: Any, name: str | None = None) -> Any:
    """A tensor with the numbers on its diagonal and zeros elsewhere; it has twice the axes."""
    x = convert.to_tensor(diagonal)
    own, count = x._value.shape, x._value.size
    flat = shape_ops.reshape.apply(x, shape=(count,))
    places = tensor(np.arange(count) * (count + 1))
    spread = add_rows.apply(flat, places, shape=(count * count,))
    return shape_ops.reshape.apply(spread, shape=own + own)
