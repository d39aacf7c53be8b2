"""What may stand between a tensor's brackets, made into a key that NumPy takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import errors
from ..core.record import Value, threads
from ..ops import index
from ..ops.shape import cast, stack
from . import convert
from .tensor import Tensor

_OP = "[Op:StridedSlice] name: strided_slice/"


def getitem(x: Any, key: Any) -> Any:
    """x[key] with TensorFlow's rules: integers, slices, `...`, `tf.newaxis`, a boolean mask."""
    shape = x._value.shape
    kind = key.__class__
    if kind is int:
        if shape and -shape[0] <= key < shape[0]:
            return index.getitem.apply(x, key=(key,))
    elif kind is tuple and _plain(key, shape):
        return index.getitem.apply(x, key=key)
    elif kind is slice and shape and _plain((key,), shape):
        return index.getitem.apply(x, key=(key,))
    elif _is_mask(key):
        from ..arrays.gathering import boolean_mask

        return boolean_mask(x, key)
    if threads.recording is not None and (found := _places(key, shape)) is not None:
        return index.getitem_at.apply(x, *found[:1], key=found[1])
    return index.getitem.apply(x, *positions((key,)), key=numpy_key(key, shape))


def _places(key: Any, shape: tuple[int, ...]) -> tuple[Any, tuple] | None:
    """Single places that a function finds anew at every call, and the key for `getitem_at`; None
    if there are none, or if the ends of slices are among them, which tell the size of the result.
    """
    given = key if isinstance(key, tuple) else (key,)
    dots = [k for k, part in enumerate(given) if part is Ellipsis]
    if len(dots) == 1:
        rest = len(shape) - sum(k is not None for k in given) + 1
        given = given[: dots[0]] + (slice(None),) * rest + given[dots[0] + 1 :]
    places = [k for k in given if convert.is_tensor_like(k) and convert.is_recorded(k._value)]
    if not places or any(k._value.ndim or k._value.dtype.kind != "i" for k in places):
        return None
    fixed = [0 if convert.is_tensor_like(k) else k for k in given]
    if len(places) < sum(map(convert.is_tensor_like, given)) or not _plain(tuple(fixed), shape):
        return None
    numbers = iter(range(len(places)))
    template = [index.At(next(numbers)) if convert.is_tensor_like(k) else k for k in given]
    wide = [cast.apply(convert.to_tensor(k), dtype=np.dtype(np.int64)) for k in places]
    return stack.apply(*wide, axis=-1), tuple(template)


def positions(given: Any) -> Iterator[Any]:
    """The tensors and variables among positions: of a list, of the ends of a slice."""
    for part in given:
        if isinstance(part, (list, tuple)):
            yield from positions(part)
        elif isinstance(part, slice):
            yield from positions((part.start, part.stop, part.step))
        elif isinstance(part, Value) or hasattr(part, "_read"):
            yield part


def _plain(key: tuple, shape: tuple[int, ...]) -> bool:
    """Nothing but integers in range, slices of integers and new axes: no more to check."""
    axis = 0
    for k in key:
        if k is None:
            continue
        if axis == len(shape):
            return False
        n = shape[axis]
        axis += 1
        if k.__class__ is slice:
            start, stop, step = k.start, k.stop, k.step
            if not (
                (start is None or start.__class__ is int)
                and (stop is None or stop.__class__ is int)
                and (step is None or (step.__class__ is int and step))
            ):
                return False
        elif k.__class__ is not int or not -n <= k < n:
            return False
    return True


def _is_mask(key: Any) -> bool:
    if isinstance(key, Value) or hasattr(key, "_read"):
        return convert.dtype_of(key).kind == "b"
    return key is True or key is False or (isinstance(key, np.ndarray) and key.dtype.kind == "b")


def numpy_key(key: Any, shape: tuple[int, ...]) -> tuple:
    """Checked against the shape, because NumPy's errors and TensorFlow's differ."""
    given = key if isinstance(key, (tuple, list)) else (key,)
    if given and all(k is True or k is False for k in given):
        raise errors.wrong_dtype(
            "Value for attr 'Index' of bool is not in the list of allowed values: int16, int32, "
            f"int64: tf.boolean_mask takes a list of truth values {_OP}"
        )
    parts = tuple(_part(k, i) for i, k in enumerate(given))
    if sum(k is Ellipsis for k in parts) > 1:
        raise errors.invalid(f"Multiple ellipses in slice spec not allowed {_OP}")
    used = sum(k is not None and k is not Ellipsis for k in parts)
    if used > len(shape):
        if not shape:
            raise errors.invalid(f"Attempting to slice scalar input. {_OP}")
        raise errors.invalid(
            f"Index out of range using input dim {len(shape)}; input has only {len(shape)} dims "
            f"{_OP}"
        )
    axis = 0
    for k in parts:
        if k is None:
            continue
        if k is Ellipsis:
            axis += len(shape) - used
            continue
        if k.__class__ is int and not -shape[axis] <= k < shape[axis]:
            raise errors.invalid(
                f"slice index {k} of dimension {axis} out of bounds: the size is {shape[axis]}. "
                f"{_OP}"
            )
        axis += 1
    return parts


def _part(key: Any, i: int) -> Any:
    if key is None or key is Ellipsis:
        return key
    if isinstance(key, slice):
        parts = [None if p is None else _whole(p) for p in (key.start, key.stop, key.step)]
        if parts[2] == 0:
            raise errors.invalid(f"strides[{i}] must be non-zero {_OP}")
        return slice(*parts)
    return _whole(key)


def _whole(value: Any) -> int:
    plain = getattr(value, "_value", value)
    if isinstance(plain, (np.integer, np.ndarray)):
        fits = plain is value or plain.dtype.name in ("int16", "int32", "int64")
        if not plain.ndim and plain.dtype.kind in "iu" and fits:
            return int(plain)
    elif isinstance(plain, int):
        if not -(1 << 63) <= plain < 1 << 63:
            raise ValueError("Can't convert Python sequence with out-of-range integer to Tensor.")
        return plain.__index__()
    raise TypeError(
        "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar "
        f"tf.int32/tf.int64 tensors are valid indices, got {value!r}. tf.gather takes entries by a "
        "list of numbers, tf.boolean_mask by truth values."
    )


# Bound here rather than looked up at each call: 0.4 us less.
setattr(Tensor, "__getitem__", getitem)  # noqa: B010
