"""Functions that change shapes and put tensors together or take them apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import arrays, errors
from ..core.apply import tensor
from ..core.record import Value
from ..framework.arguments import matching, number
from ..framework.convert import to_tensor
from .elementwise import named
from .types import as_tensor, promoted

__all__ = [
    "append", "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_arrays", "broadcast_to",
    "concatenate", "dsplit", "dstack", "expand_dims", "flatten", "flip", "fliplr", "flipud",
    "hsplit", "hstack", "moveaxis", "ndim", "pad", "ravel", "repeat", "reshape", "roll", "rot90",
    "shape", "size", "split", "squeeze", "stack", "swapaxes", "tile", "transpose", "vsplit",
    "vstack",
]  # fmt: skip

INT32 = np.dtype(np.int32)


# --- what it is -----------------------------------------------------------------------------------
def shape(a: Any) -> Any:
    """The sizes of the axes, as a TensorShape."""
    return as_tensor(a).shape


def ndim(a: Any) -> int:
    """The number of axes."""
    return as_tensor(a)._value.ndim


def size(x: Any, axis: Any = None) -> Any:
    """The number of elements."""
    if axis is not None:
        raise NotImplementedError("axis is not supported by size: take shape(x)[axis]")
    if isinstance(x, (int, float, np.int32, np.float32, np.int64)):
        return 1
    return np.int64(as_tensor(x)._value.size)


# --- another shape --------------------------------------------------------------------------------
def reshape(a: Any, newshape: Any, order: str = "C") -> Any:
    """The same numbers in another shape; `order="F"` counts the first index fastest."""
    if order not in ("C", "F"):
        raise ValueError(f"Unsupported order argument {order}: it is 'C' or 'F'")
    a = as_tensor(a)
    newshape = [newshape] if isinstance(newshape, int) else newshape
    if order == "C":
        return arrays.reshape(a, newshape)
    return arrays.transpose(arrays.reshape(arrays.transpose(a), newshape[::-1]))


def ravel(a: Any) -> Any:
    """All numbers in a row."""
    return arrays.reshape(as_tensor(a), [-1])


def flatten(a: Any, order: str = "C") -> Any:
    """All numbers in a row; `order="F"` counts the first index fastest."""
    if order not in ("C", "A", "K", "F"):
        raise ValueError("order can only be C, A, K (all row major) or F (column major).")
    a = as_tensor(a)
    return ravel(arrays.transpose(a) if order == "F" else a)


def expand_dims(a: Any, axis: Any) -> Any:
    """A new axis of size 1."""
    return arrays.expand_dims(as_tensor(a), axis)


def squeeze(a: Any, axis: Any = None) -> Any:
    """Without the axes of size 1, or without those named."""
    return arrays.squeeze(as_tensor(a), axis)


def broadcast_to(array: Any, shape: Any) -> Any:
    """The value repeated along new axes and those of size 1."""
    from .creation import full

    return full(shape, array)


def broadcast_arrays(*args: Any, **kwargs: Any) -> Any:
    """All in the one shape to which they broadcast."""
    if kwargs.pop("subok", False):
        raise ValueError("subok=True is not supported.")
    if kwargs:
        raise ValueError(f"Received unsupported arguments {kwargs.keys()}")
    parts = [as_tensor(arg) for arg in args]
    if len(parts) <= 1:
        return tuple(parts)
    sizes = tensor(np.array(parts[0]._value.shape, np.int32))
    for part in parts[1:]:
        sizes = arrays.broadcast_dynamic_shape(sizes, np.array(part._value.shape, np.int32))
    return [arrays.broadcast_to(part, sizes) for part in parts]


def _with_axes(count: int, place: Callable[[tuple], tuple]) -> Callable[..., Any]:
    def function(*arys: Any) -> Any:
        parts = [as_tensor(a) for a in arys]
        wide = [
            arrays.reshape(x, place(x._value.shape)) if x._value.ndim < count else x for x in parts
        ]
        return wide[0] if len(wide) == 1 else wide

    doc = f"With new axes of size 1 where there are fewer than {count}."
    return named(f"atleast_{count}d", function, doc)


atleast_1d = _with_axes(1, lambda own: (1,))
atleast_2d = _with_axes(2, lambda own: (1,) * (2 - len(own)) + own)
atleast_3d = _with_axes(3, lambda own: (1, *own, 1) if len(own) == 1 else (*own, 1, 1, 1)[:3])


# --- axes -----------------------------------------------------------------------------------------
def transpose(a: Any, axes: Any = None) -> Any:
    """The axes in another order: reversed, if none is given."""
    return arrays.transpose(as_tensor(a), None if axes is None else as_tensor(axes))


def swapaxes(a: Any, axis1: Any, axis2: Any) -> Any:
    """Two axes in each other's place."""
    a = as_tensor(a)
    order = list(range(a._value.ndim))
    made = [np.int32(k) if k.__class__ is int and k < 0 else k for k in (axis1, axis2)]
    if (
        made[0].__class__ is not int is not made[1].__class__
    ):  # TensorFlow takes both for one tensor
        several = isinstance(axis1, (list, tuple)) is not isinstance(axis2, (list, tuple))
        kinds = {as_tensor(axis)._value.dtype.name for axis in made}
        if several and kinds != {"int32"}:
            raise TypeError(f"Cannot convert a list of the axes {axis1!r} and {axis2!r}.")
        if not several:
            made = [as_tensor(k) if isinstance(k, float) else to_tensor(k) for k in made]
            matching("Pack", made)
    first, second = number(axis1, "ScatterNd"), number(axis2, "ScatterNd")
    if not all(-len(order) <= k < len(order) for k in (first, second)):
        raise errors.invalid(
            f"axes {axis1} and {axis2} of a tensor with {len(order)} axes [Op:TensorScatterUpdate]"
        )
    i, j = order[first], order[second]
    order[i], order[j] = j, i
    return arrays.transpose(a, order)


def moveaxis(a: Any, source: Any, destination: Any) -> Any:
    """Axes moved to other places, the rest in their order."""
    if not source and not destination:
        return a  # as it came, as in TensorFlow
    a = as_tensor(a)
    sources = [source] if isinstance(source, int) else list(source)
    places = [destination] if isinstance(destination, int) else list(destination)
    if len(sources) != len(places):
        raise ValueError("The lengths of source and destination must equal")
    count = a._value.ndim
    sources = [k + count if k < 0 else k for k in sources]
    places = [k + count if k < 0 else k for k in places]
    order = [k for k in range(count) if k not in sources]
    for place, k in sorted(zip(places, sources, strict=True)):
        assert place <= len(order), f"moveaxis: no place {place} among {count} axes"
        order.insert(place, k)
    return arrays.transpose(a, order)


def flip(m: Any, axis: Any = None) -> Any:
    """In reversed order along an axis, or along all."""
    m = as_tensor(m)
    return arrays.reverse(m, list(range(m._value.ndim)) if axis is None else [axis])


def flipud(m: Any) -> Any:
    """In reversed order along the first axis."""
    return flip(m, 0)


def fliplr(m: Any) -> Any:
    """In reversed order along the second axis."""
    return flip(m, 1)


def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    """Turned k times by 90 degrees, from the first of two axes towards the second."""
    m = as_tensor(m)
    i, j = (axis + m._value.ndim if axis < 0 else axis for axis in axes)
    k %= 4
    if k == 0:
        return m
    if k == 2:
        return flip(flip(m, i), j)
    return swapaxes(flip(m, j), i, j) if k == 1 else flip(swapaxes(m, i, j), j)


def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    """Moved along an axis, what falls off at the end back in at the start."""
    a = as_tensor(a)
    if axis is not None:
        return arrays.roll(a, shift, axis)
    return arrays.reshape(arrays.roll(ravel(a), shift, 0), a._value.shape)


# --- together -------------------------------------------------------------------------------------
def concatenate(arys: Any, axis: Any = 0) -> Any:
    """One after the other along an axis, in the dtype that holds them all."""
    parts = arys if isinstance(arys, (list, tuple)) else [arys]
    if not parts:
        raise ValueError(f"Need at least one array to concatenate. Received arys={arys}")
    return arrays.concat(promoted(*parts), axis)


def append(arr: Any, values: Any, axis: Any = None) -> Any:
    """The values after those of arr along an axis, or all numbers in a row."""
    if axis is None:
        return concatenate([ravel(arr), ravel(values)])
    return concatenate([arr, values], axis)


def stack(arrays: Any, axis: Any = 0) -> Any:
    """Side by side along a new axis, in the dtype that holds them all."""
    from ..arrays.reshaping import stack as tf_stack

    if isinstance(arrays, Value):
        return arrays if axis == 0 else swapaxes(arrays, 0, axis)
    return tf_stack(promoted(*arrays), axis)


def _stacked(name: str, widen: Any, axis: int, doc: str) -> Callable[[Any], Any]:
    def function(tup: Any) -> Any:
        parts = promoted(*[widen(a) for a in tup])
        return arrays.concat(parts, 0 if axis == 1 and parts[0]._value.ndim == 1 else axis)

    return named(name, function, doc)


hstack = _stacked("hstack", atleast_1d, 1, "Beside each other: along the second axis, or the one.")
vstack = _stacked("vstack", atleast_2d, 0, "Below each other: along the first axis.")
dstack = _stacked("dstack", atleast_3d, 2, "Behind each other: along the third axis.")


def tile(a: Any, reps: Any) -> Any:
    """Repeated as a whole along the axes, the last first."""
    a = as_tensor(a)
    counts = np.asarray(as_tensor(reps, INT32)._value).reshape(-1).tolist()
    own = a._value.shape
    counts = [1] * (len(own) - len(counts)) + counts
    return arrays.tile(arrays.reshape(a, (1,) * (len(counts) - len(own)) + own), counts)


def repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    """Each entry repeated, along an axis or of all numbers in a row."""
    a = as_tensor(a)
    if axis is not None and a._value.ndim and not -a._value.ndim <= axis < a._value.ndim:
        raise IndexError(f"repeat: there is no axis {axis} among {a._value.ndim}")
    return arrays.repeat(a, as_tensor(repeats), axis)


def pad(array: Any, pad_width: Any, mode: str, **kwargs: Any) -> Any:
    """With so many entries before and after along each axis, by a mode: constant, reflect, …"""
    if mode not in ("constant", "reflect", "symmetric"):
        raise ValueError(f"Unsupported padding mode: {mode}")
    value = kwargs.get("constant_values", 0)
    return arrays.pad(as_tensor(array), as_tensor(pad_width, INT32), mode.upper(), value)


# --- apart ----------------------------------------------------------------------------------------
def split(ary: Any, indices_or_sections: Any, axis: Any = 0) -> list[Any]:
    """A list of parts along an axis: so many equal ones, or those between the places named."""
    ary = as_tensor(ary)
    parts = indices_or_sections
    return arrays.split(ary, parts if isinstance(parts, int) else _sizes(ary, parts, axis), axis)


def _sizes(ary: Any, places: Any, axis: int) -> list[int]:
    """The sizes of the parts between the places."""
    if axis >= ary._value.ndim:
        raise ValueError(f"axis {axis} is out of bound for shape {ary.shape}")
    total, before, sizes = ary._value.shape[axis], 0, list[int]()
    for i, place in enumerate(map(int, places)):
        if place < before:
            raise ValueError(
                f"The {i}-th boundary {place} is smaller than the previous boundary {before}"
            )
        sizes.append(min(place - before, max(0, total - sum(sizes))))
        before = place
    return [*sizes, max(0, total - sum(sizes))]


def _split_along(name: str, axis: int, doc: str) -> Callable[[Any, Any], list[Any]]:
    def function(ary: Any, indices_or_sections: Any) -> list[Any]:
        ary = as_tensor(ary)
        place = 0 if axis == 1 and ary._value.ndim == 1 else axis
        if isinstance(indices_or_sections, int) and ary.shape[place] % indices_or_sections:
            raise ValueError("array split does not result in an equal division")
        return split(ary, indices_or_sections, place)

    return named(name, function, doc)


hsplit = _split_along("hsplit", 1, "A list of parts along the second axis, or the only one.")
vsplit = _split_along("vsplit", 0, "A list of parts along the first axis.")
dsplit = _split_along("dsplit", 2, "A list of parts along the third axis.")
