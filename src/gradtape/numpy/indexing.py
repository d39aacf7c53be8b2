"""Functions that pick: by number, by truth, by place; and `tensor[key]` with NumPy's rules."""

from __future__ import annotations

import math
import numbers
from functools import partial
from typing import Any

import numpy as np

from .. import arrays, errors, linalg
from ..arrays.values import cast
from ..core.apply import tensor
from ..dtypes import DType
from ..framework.arguments import number
from ..framework.convert import computed, examine, to_tensor
from ..framework.indexing import numpy_key
from ..ops import index
from .creation import tri
from .shaping import atleast_1d, moveaxis, ravel, swapaxes
from .types import BOOL, as_tensor, promoted

__all__ = [
    "compress", "diag", "diag_indices", "diagflat", "diagonal", "ix_", "nonzero", "select", "take",
    "take_along_axis", "tril", "triu", "where",
]  # fmt: skip


# --- by number ------------------------------------------------------------------------------------
def take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "clip") -> Any:
    """The entries with these numbers along an axis, or of all in a row.

    As in TensorFlow, `mode` is "clip" unless it is "wrap"; with "clip", negative numbers are 0.
    """
    if out is not None:
        raise ValueError("out argument is not supported in take: use the result.")
    if mode not in ("raise", "clip", "wrap"):
        raise ValueError(f"Invalid mode '{mode}' for take")
    if mode == "raise":
        raise ValueError("The 'raise' mode to take is not supported: it is 'clip' or 'wrap'.")
    a, places = as_tensor(a), as_tensor(indices)
    if axis is None:
        a, axis = ravel(a), 0
    if not -a._value.ndim <= (axis := number(axis)) < a._value.ndim:
        raise errors.invalid(
            f"slice index {axis} of dimension 0 out of bounds: `a` has the shape "
            f"{list(a._value.shape)} [Op:StridedSlice] name: "
        )
    size, kind = a.shape[axis], places._value.dtype
    inside = (lambda b: np.clip(b, 0, size - 1)) if mode == "clip" else (lambda b: np.mod(b, size))
    found = computed(lambda b: inside(b).astype(kind), places._value)
    return arrays.gather(a, tensor(found), axis=axis)


def take_along_axis(arr: Any, indices: Any, axis: Any) -> Any:
    """From each row along an axis its own entries, by number; negative ones count from the end."""
    arr, indices = as_tensor(arr), as_tensor(indices)
    if axis is None:
        return take_along_axis(ravel(arr), indices, 0)
    if indices._value.dtype.kind not in "iu":
        raise errors.wrong_dtype(
            f"Value for attr 'Tindices' of {indices.dtype.name} is not in the list of allowed "
            "values: int32, int64 [Op:GatherV2]"
        )
    if isinstance(axis, DType):
        raise TypeError(f"an axis is a whole number, got {axis!r}")
    axis, ranks = number(axis, "TensorScatterUpdate"), (arr._value.ndim, indices._value.ndim)
    if not -min(ranks) <= axis < min(ranks):
        raise errors.invalid(
            f"indices[0] = [{axis}] does not index into shape [{min(ranks)}] "
            "[Op:TensorScatterUpdate]"
        )
    arr, places = _aligned(arr, indices, axis)
    size = arr.shape[axis]
    places = computed(lambda b: np.where(b < 0, b + size, b), places)
    examine(partial(_check_range, size), places)
    last = index.take_along.apply(swapaxes(arr, axis, -1), swapaxes(tensor(places), axis, -1))
    return swapaxes(last, axis, -1)


def _check_range(size: int, places: Any) -> None:
    try:
        index.check_range(places, size)
    except IndexError as error:
        raise errors.invalid(f"{error} [Op:GatherV2]") from None


def _aligned(arr: Any, indices: Any, axis: int) -> tuple[Any, Any]:
    """Both broadcast to one shape, but for the axis."""
    own, other = list(arr._value.shape), list(indices._value.shape)
    sizes = own[axis], other[axis]
    own[axis] = other[axis] = 1
    shape = arrays.broadcast_dynamic_shape(own, other)._value.tolist()
    shape[axis] = sizes[0]
    arr = arrays.broadcast_to(arr, shape)
    shape[axis] = sizes[1]
    return arr, computed(lambda b: np.broadcast_to(b, shape), indices._value)


# --- by truth -------------------------------------------------------------------------------------
def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """x where the condition holds and y elsewhere; of a condition alone, the places, by axis."""
    condition = as_tensor(condition, BOOL)
    if x is None and y is None:
        return nonzero(condition)
    if x is None or y is None:
        raise ValueError("Both x and y must be ndarrays, or both must be None.")
    return arrays.where(condition, *promoted(x, y))


def nonzero(a: Any) -> list[Any]:
    """The places of what is not 0: a list with the numbers along each axis."""
    a = cast(atleast_1d(a), BOOL)
    return arrays.unstack(arrays.where(a), a._value.ndim, axis=1)


def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """Of several choices the first whose condition holds, else the default."""
    if len(condlist) != len(choicelist):
        raise ValueError(
            f"condlist must have length equal to choicelist ({len(condlist)} vs {len(choicelist)})"
        )
    if not condlist:
        raise ValueError("condlist must be non-empty")
    result, *choices = promoted(default, *choicelist)
    for condition, choice in zip(reversed(list(condlist)), reversed(choices), strict=True):
        result = where(condition, choice, result)
    return result


def compress(condition: Any, a: Any, axis: Any = None) -> Any:
    """The entries along an axis, or of all in a row, where the condition holds."""
    condition, a = as_tensor(condition, BOOL), as_tensor(a)
    if condition._value.ndim != 1:
        raise ValueError("condition must be a 1-d array.")
    if axis is None or not a._value.ndim:
        a, axis = ravel(a), axis or 0
    axis += a._value.ndim if axis < 0 else 0
    assert 0 <= axis < a._value.ndim, f"compress: no axis {axis} among {a._value.ndim}"
    truths = condition._value
    missing = a.shape[axis] - len(truths)
    if missing > 0:
        truths = np.concatenate([truths, np.zeros(missing, bool)])
    return arrays.boolean_mask(a, tensor(truths), axis=axis)


# --- by place -------------------------------------------------------------------------------------
def diag(v: Any, k: int = 0) -> Any:
    """A matrix with v on its k-th diagonal, or that diagonal of a matrix v."""
    v = as_tensor(v)
    own = v._value
    if own.ndim > 2:
        raise ValueError(f"Shape {v.shape} must have rank at most 2")
    if not own.ndim:
        raise errors.invalid("diag takes a vector or a matrix, got a scalar [Op:Assert]")
    if own.ndim == 1:
        return linalg.diag(v, k=k) if own.size else arrays.zeros([abs(k)] * 2, own.dtype)
    return diagonal(v, k)


def diagflat(v: Any, k: int = 0) -> Any:
    """A matrix with all numbers of v in a row on its k-th diagonal."""
    return diag(ravel(v), k)


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """A diagonal of two axes, along a new last axis."""
    a = moveaxis(as_tensor(a), (axis1, axis2), (-2, -1))
    rows, columns = a._value.shape[-2:]
    if offset and (offset <= -rows or offset >= columns):
        return arrays.zeros((*a._value.shape[:-2], 0), a.dtype)
    return linalg.diag_part(a, k=offset)


def diag_indices(n: Any, ndim: int = 2) -> tuple[Any, ...]:
    """The numbers along each axis of the places on a diagonal."""
    if n < 0 or ndim < 0:
        raise ValueError(f"diag_indices takes no negative numbers, got n={n}, ndim={ndim}")
    return (arrays.range(n),) * ndim


def ix_(*args: Any) -> list[Any]:
    """Numbers along each axis, shaped so that together they are a grid of places."""
    found = []
    for i, arg in enumerate(args):
        a = as_tensor(arg)
        if a._value.ndim != 1:
            raise ValueError(f"Arguments must be 1-d, got arg {i} of rank {a._value.ndim}")
        if a._value.dtype == BOOL:
            a = nonzero(a)[0]
        elif a._value.dtype.kind not in "iu":
            raise ValueError(f"Only integer and bool dtypes are supported, got {a.dtype}")
        found.append(arrays.reshape(a, [-1 if k == i else 1 for k in range(len(args))]))
    return found


def _triangle(m: Any, k: int, lower: bool) -> Any:
    m = as_tensor(m)
    if m._value.ndim < 2:
        raise ValueError(f"Argument to {'tril' if lower else 'triu'} must have rank at least 2")
    rows, columns = m._value.shape[-2:]
    mask = tri(rows, columns, k if lower else k - 1, bool)
    zero = to_tensor(0, m._value.dtype)  # TypeError for truth values, as in TensorFlow
    mask = arrays.broadcast_to(mask, m._value.shape)
    return arrays.where(mask, m, zero) if lower else arrays.where(mask, zero, m)


def tril(m: Any, k: int = 0) -> Any:
    """With zeros above the k-th diagonal."""
    return _triangle(m, k, lower=True)


def triu(m: Any, k: int = 0) -> Any:
    """With zeros below the k-th diagonal."""
    return _triangle(m, k, lower=False)


# --- between brackets -----------------------------------------------------------------------------
_WRONG = (
    "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean "
    "arrays are valid indices, got "
)


def getitem(x: Any, key: Any) -> Any:
    """x[key] as NumPy has it, also with lists and arrays of numbers; gradients flow.

    Integers are taken first, as in TensorFlow: x[0, :, [1, 2]] has its rows before the picked axis.
    """
    if _is_mask(key):
        return arrays.boolean_mask(x, key)
    parts = key if isinstance(key, tuple) else _parts(key)
    basic, picks = [], []  # a slice for each list of numbers, and where these were
    for part in parts:
        part = _part(part)
        picked = isinstance(part, np.ndarray)
        basic.append(slice(None) if picked else part)
        picks.append(part if picked else None)
    x = index.getitem.apply(x, key=numpy_key(tuple(basic), x._value.shape))
    return _picked(x, basic, picks) if any(p is not None for p in picks) else x


def _is_mask(key: Any) -> bool:
    dtype = getattr(getattr(key, "_value", key), "dtype", None)
    return isinstance(key, bool) or (dtype == BOOL and not isinstance(key, np.generic))


def _parts(key: Any) -> tuple:
    """A list of numbers picks along the first axis; with anything else in it, it is a tuple."""
    if isinstance(key, list) and any(
        k is None or k is Ellipsis or isinstance(k, (list, tuple, slice)) or getattr(k, "ndim", 0)
        for k in key
    ):
        return tuple(key)
    return (key,)


def _part(key: Any) -> Any:
    if key is None or key is Ellipsis:
        return key
    if isinstance(key, slice):
        ends = (key.start, key.stop, key.step)
        return slice(*[None if end is None else _whole(end, alone=True) for end in ends])
    return _whole(key, alone=False)


def _whole(key: Any, alone: bool) -> Any:
    """An integer, or an array of them."""
    if isinstance(key, numbers.Integral):
        return int(key)
    try:
        found = as_tensor(key)._value
    except (TypeError, ValueError):
        raise IndexError(f"{_WRONG}{key!r}") from None
    if found.dtype == BOOL:
        if found.ndim != 1:
            raise NotImplementedError(f"Need rank 1 for bool index {key}")
        found = np.flatnonzero(found)
    if found.dtype.kind not in "iu" or found.dtype == np.uint64 or (alone and found.ndim):
        raise IndexError(f"{_WRONG}{key!r}")
    return found if found.ndim else int(found)


def _picked(x: Any, basic: list, picks: list) -> Any:
    """Along the axes that have numbers, the entries at all of them together."""
    ndim, axes, split = x._value.ndim, [], False
    left = [k for k, part in enumerate(basic) if not isinstance(part, int)]
    dots = next((n for n, k in enumerate(left) if basic[k] is Ellipsis), len(left))
    for n, k in enumerate(left):
        if picks[k] is not None:
            axes.append(n if n < dots else n - len(left) + ndim)
            split = split or (n > dots and any(picks[j] is not None for j in left[:dots]))
    places = _together([pick for pick in picks if pick is not None])
    split = split or axes != list(range(axes[0], axes[0] + len(axes)))
    if split:
        x, axes = moveaxis(x, axes, range(len(axes))), list(range(len(axes)))
    own, first = x._value.shape, axes[0]
    sizes = own[first : first + len(axes)]
    flat: Any = 0
    for place, size in zip(places, sizes, strict=True):
        place = np.where(place < 0, place + size, place).astype(np.int64)
        if len(sizes) > 1 and place.size and (place.min() < 0 or place.max() >= size):
            raise _outside(place, size)
        flat = flat * size + place
    if len(sizes) > 1:
        x = arrays.reshape(x, (*own[:first], math.prod(sizes), *own[first + len(axes) :]))
    return arrays.gather(x, tensor(flat), axis=first)


def _together(picks: list) -> Any:
    try:
        return np.broadcast_arrays(*picks)
    except ValueError:
        shapes = " and ".join(str(list(pick.shape)) for pick in picks)
        raise errors.invalid(
            f"Incompatible shapes: indices of shapes {shapes} do not broadcast [Op:BroadcastArgs]"
        ) from None


def _outside(places: Any, size: int) -> Exception:
    wrong = places[(places < 0) | (places >= size)][0]
    return errors.invalid(f"index {wrong} is not in [0, {size}) [Op:GatherV2]")
