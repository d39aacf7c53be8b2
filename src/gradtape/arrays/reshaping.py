"""The same numbers in another order or shape: reshaping, joining, cutting, padding, turning."""

from __future__ import annotations

import builtins
import contextlib
import math
from typing import Any

import numpy as np

from .. import errors
from ..core.apply import tensor
from ..framework import convert, indexing
from ..framework.arguments import (
    agree,
    integer,
    is_open,
    listed,
    matching,
    number,
    numbers,
    several,
    typed,
    vector,
)
from ..framework.shapes import TensorShape
from ..ops import complex as complex_ops
from ..ops import index
from ..ops import pad as pad_ops
from ..ops import shape as shape_ops


def _axis(axis: Any, ndim: int, said: str) -> int:
    """An axis counted from the end, or the error that the op has for one out of range."""
    k = integer(axis, said.split()[0])
    if not -ndim <= k < ndim:
        raise errors.invalid(f"{said.format(k)}: axis must be in [-{ndim}, {ndim})")
    return k if k < 0 else k - ndim


# --- shapes ---------------------------------------------------------------------------------------
def reshape(tensor: Any, shape: Any, name: str | None = None) -> Any:
    """The same numbers in the same order in another shape; one size may be -1, "the rest".

    >>> import gradtape as tf
    >>> tf.reshape([1, 2, 3, 4], [2, -1]).numpy().tolist()
    [[1, 2], [3, 4]]
    """
    x = convert.to_tensor(tensor.flat_values if convert.is_ragged(tensor) else tensor)
    if hasattr(shape, "num_row_partitions"):  # the `tf.shape` of a ragged tensor
        return shape.fill(reshape(x, shape.inner_shape))
    wanted = numbers(shape, "Reshape")
    count = x._value.size
    if -1 in wanted:
        wanted = _inferred(wanted, x._value.shape, count)
    elif builtins.min(wanted, default=0) < 0:
        k = next(k for k, n in enumerate(wanted) if n < 0)
        raise errors.invalid(f"Size {k} must be non-negative, not {wanted[k]} [Op:Reshape]")
    if math.prod(wanted) != count and not is_open(count):
        raise errors.invalid(
            f"Input to reshape is a tensor with {count} values, but the requested shape "
            f"{list(wanted)} has {math.prod(wanted)} [Op:Reshape]"
        )
    return shape_ops.reshape.apply(x, shape=wanted)


def _inferred(wanted: tuple[int, ...], shape: tuple[int, ...], count: int) -> tuple[int, ...]:
    if wanted.count(-1) > 1:
        first = wanted.index(-1)
        second = wanted.index(-1, first + 1)
        raise errors.invalid(
            f"Only one input size may be -1, not both {first} and {second}: the rest can be "
            "worked out for one axis only [Op:Reshape]"
        )
    for k, n in enumerate(wanted):
        if n < -1:
            raise errors.invalid(f"Size {k} must be non-negative, not {n} [Op:Reshape]")
    others = math.prod(n for n in wanted if n != -1)
    if others == 0 and count == 0:
        # Of an empty tensor the sizes that are not zero decide, as in TensorFlow.
        rest = math.prod(n for n in shape if n) // math.prod(n for n in wanted if n > 0)
        return tuple(rest if n == -1 else n for n in wanted)
    if others and count % others and is_open(count):
        return tuple(count if n == -1 else n for n in wanted)  # whatever it will be, it is open
    if not others or count % others:
        raise errors.invalid(
            f"Input to reshape is a tensor with {count} values, but the requested shape "
            f"{list(wanted)} requires a multiple of {others} [Op:Reshape]"
        )
    return tuple(count // others if n == -1 else n for n in wanted)


def transpose(a: Any, perm: Any = None, conjugate: bool = False, name: str = "transpose") -> Any:
    """The axes in another order, backwards if none is given."""
    x = convert.to_tensor(a)
    ndim = x._value.ndim
    axes = tuple(builtins.range(ndim))[::-1] if perm is None else _permutation(perm, ndim)
    y = shape_ops.transpose.apply(x, axes=axes)
    return complex_ops.conj.apply(y) if conjugate and y._value.dtype.kind == "c" else y


def _permutation(perm: Any, ndim: int) -> tuple[int, ...]:
    axes = numbers(perm, "Transpose", "Tperm")
    if len(axes) != ndim:
        raise errors.invalid(
            f"transpose expects a vector of size {ndim}. But input(1) is a vector of size "
            f"{len(axes)}: perm names each axis once [Op:Transpose]"
        )
    for k in axes:
        if not -ndim <= k < ndim:
            raise errors.invalid(f"{k} is out of range [0 .. {ndim}) [Op:Transpose]")
    missing = {*builtins.range(ndim)} - {k % ndim for k in axes}
    if missing:
        raise errors.invalid(
            f"{builtins.min(missing)} is missing from {{{','.join(map(str, axes))}}}: perm names "
            "each axis once [Op:Transpose]"
        )
    return axes


def expand_dims(input: Any, axis: Any, name: str | None = None) -> Any:
    """A new axis of size 1."""
    x = convert.to_tensor(input)
    shape = x._value.shape
    ndim = len(shape) + 1
    k = number(axis)
    if not -ndim <= k < ndim:
        raise errors.invalid(
            f"Tried to expand dim index {k} for tensor with {ndim - 1} dimensions: axis must be in "
            f"[-{ndim}, {ndim}) [Op:ExpandDims]"
        )
    k %= ndim
    return shape_ops.reshape.apply(x, shape=(*shape[:k], 1, *shape[k:]))


def squeeze(input: Any, axis: Any = None, name: str | None = None) -> Any:
    """Without the axes of size 1, all of them or those named."""
    x = convert.to_tensor(input)
    shape = x._value.shape
    if axis is None:
        return shape_ops.reshape.apply(x, shape=tuple(n for n in shape if n != 1))
    if hasattr(axis, "_value") or (isinstance(axis, np.ndarray) and axis.ndim):
        listed(axis, "axis", "squeeze")
    ndim, dead = len(shape), set()
    for k in axis if isinstance(axis, (list, tuple)) else (axis,):
        k = integer(k, "axis")
        if not -ndim <= k < ndim:
            raise errors.invalid(
                f"Tried to squeeze dim index {k} for tensor with {ndim} dimensions. [Op:Squeeze]"
            )
        if shape[k] != 1:
            raise errors.invalid(
                f"Can not squeeze dim[{k % ndim}], expected a dimension of 1, got {shape[k]} "
                "[Op:Squeeze]"
            )
        dead.add(k % ndim)
    left = tuple(n for k, n in enumerate(shape) if k not in dead)
    return shape_ops.reshape.apply(x, shape=left if dead else tuple(n for n in shape if n != 1))


def broadcast_to(input: Any, shape: Any, name: str | None = None) -> Any:
    """Stretched to a shape; its derivative is summed over the stretched axes."""
    x = convert.to_tensor(input)
    if shape.__class__ is int or (hasattr(shape, "_value") and not shape._value.ndim):
        convert.to_tensor(shape)  # a number that no dtype holds has its own error
        raise errors.invalid(
            "shape must be a vector of {int32,int64}, got shape []: write [n] [Op:BroadcastTo]"
        )
    wanted = numbers(shape, "BroadcastTo", "Tidx")
    own = x._value.shape
    for n in wanted:
        if n < 0:
            raise errors.invalid(f"Dimension {n} must be >= 0 [Op:BroadcastTo]")
    if len(own) > len(wanted):
        raise errors.invalid(
            f"Rank of input ({len(own)}) must be no greater than rank of output shape "
            f"({len(wanted)}). [Op:BroadcastTo]"
        )
    for n, m in zip(reversed(own), reversed(wanted), strict=False):
        if n not in (1, m) and not is_open(n):
            raise errors.invalid(
                f"Incompatible shapes: {list(own)} vs. {list(wanted)}: only axes of size 1 stretch "
                "[Op:BroadcastTo]"
            )
    return shape_ops.broadcast_to.apply(x, shape=wanted)


def ensure_shape(x: Any, shape: Any, name: str | None = None) -> Any:
    """The tensor, after a check of its shape; None in the shape fits any size."""
    value = convert.to_tensor(x)
    own, wanted = TensorShape.known(value._value.shape), TensorShape(shape)
    if not wanted.is_compatible_with(value.shape):  # which says that it does not know open sizes
        expected = "[" + ",".join("?" if n is None else str(n) for n in wanted.as_list()) + "]"
        raise errors.invalid(
            f"Shape of tensor input {str(own.as_list()).replace(' ', '')} is not compatible with "
            f"expected shape {expected}. [Op:EnsureShape] name: "
        )
    if wanted.rank is not None and not value.shape.is_fully_defined():  # it is better known now
        sizes = zip(wanted.as_list(), value._value.shape, strict=True)
        return shape_ops.reshape.apply(value, shape=tuple(n if m is None else m for m, n in sizes))
    if value._value.dtype.kind not in "fcV":  # no tape follows those on
        return tensor(value._value)
    return shape_ops.identity.apply(value)


# --- joining --------------------------------------------------------------------------------------
def concat(values: Any, axis: Any, name: str = "concat") -> Any:
    """Tensors one after the other along an axis that they have.

    >>> import gradtape as tf
    >>> tf.concat([[1, 2], [3]], 0)
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([1, 2, 3], dtype=int32)>
    """
    if not isinstance(values, (list, tuple)):
        values = [values]
    if not values:
        raise errors.invalid("tf.concat needs at least one tensor, got none [Op:ConcatV2]")
    if convert.any_ragged(values):
        from ..ragged.functions import joined

        return joined(values, axis)
    if len(values) == 1:
        _concat_axis(axis, 1)
    tensors = matching("ConcatV2", values, "concat", beside=[axis])
    place = axis if axis.__class__ is int else _concat_axis(axis, len(values))
    if len(tensors) == 1:
        return _same(tensors[0])
    shapes = [t._value.shape for t in tensors]
    _check_concat(shapes, place)
    return shape_ops.concat.apply(*tensors, axis=place if place < 0 else place - len(shapes[0]))


def _same(x: Any) -> Any:
    return tensor(x._value) if x._value.dtype.kind == "O" else shape_ops.identity.apply(x)


def _concat_axis(axis: Any, count: int) -> int:
    """The axis as a number; TensorFlow converts it for one tensor, and is stricter for several."""
    if count == 1:
        value = convert.to_tensor(axis, np.dtype(np.int32))._value
        if value.ndim:
            raise ValueError(f"Shape {value.shape} must have rank 0: tf.concat takes one axis")
        return int(value)
    if isinstance(axis, (int, float, np.ndarray, np.generic)):
        return number(axis)
    value = convert.to_tensor(axis)._value
    if value.dtype not in (np.int32, np.int64):
        raise errors.wrong_dtype(
            f"Value for attr 'Tidx' of {convert.c_name(value.dtype)} is not in the list of allowed "
            f"values: int32, int64: `axis` is {axis!r} [Op:ConcatV2] name: concat"
        )
    if value.size != 1:
        raise errors.invalid(
            f"axis tensor should be a scalar integer, but got shape {list(value.shape)}; "
            "tf.concat takes a list of tensors, then the axis [Op:ConcatV2] name: concat"
        )
    return int(value.reshape(()))


def _check_concat(shapes: list, place: int) -> None:
    ndim = len(shapes[0])
    if not -ndim <= place < ndim:
        if not ndim and place == 0:
            raise errors.invalid(
                "ConcatOp : Can't concatenate scalars (use tf.stack instead) [Op:ConcatV2]"
            )
        low = f"-{ndim}" if ndim else "0"
        raise errors.invalid(
            f"ConcatOp : Expected concatenating dimensions in the range [{low}, {ndim}), but got "
            f"{place} [Op:ConcatV2]"
        )
    first, at = shapes[0], place % ndim
    before, after = first[:at], first[at + 1 :]
    for k, shape in enumerate(shapes):
        if len(shape) == ndim and agree(shape[:at], before) and agree(shape[at + 1 :], after):
            continue
        said = f"shape[0] = {list(first)} vs. shape[{k}] = {list(shape)} [Op:ConcatV2]"
        if len(shape) != ndim:
            raise errors.invalid(f"ConcatOp : Ranks of all input tensors should match: {said}")
        wrong = next(d for d in builtins.range(ndim) if d != at and shape[d] != first[d])
        raise errors.invalid(f"ConcatOp : Dimension {wrong} in both shapes must be equal: {said}")


def stack(values: Any, axis: Any = 0, name: str = "stack") -> Any:
    """Tensors of one shape beside each other along a new axis."""
    if isinstance(values, (list, tuple)) and convert.any_ragged(values):
        from ..ragged import stack

        return stack(values, axis)
    if axis == 0:
        # As TensorFlow: what can be converted as a whole is, and what cannot is told below, why.
        with contextlib.suppress(TypeError, ValueError):
            return convert.to_tensor(values)
    if not isinstance(values, (str, bytes, list, tuple)):
        values = _listed(values)
    ndim = convert.to_tensor(values[0])._value.ndim + 1
    _in_range(axis, ndim)
    place = integer(axis, "axis")
    tensors = matching("Pack", listed(values, "values", "pack"), "stack")
    shapes = [t._value.shape for t in tensors]
    for k, shape in enumerate(shapes):
        if shape != shapes[0]:
            raise errors.invalid(
                f"Shapes of all inputs must match: values[0].shape = {list(shapes[0])} != "
                f"values[{k}].shape = {list(shape)} [Op:Pack] name: stack"
            )
    return shape_ops.stack.apply(*tensors, axis=place if place < 0 else place - ndim)


def _listed(values: Any) -> list[Any]:
    """The parts of a single tensor or array that was given for a list of them."""
    if isinstance(values, np.ndarray) and values.ndim > 1:
        raise ValueError(
            f"expected a sequence for attr N, got an ndarray with rank {values.ndim} instead"
        )
    if convert.is_ragged(values):
        listed(values, "values", "pack")
    whole = convert.to_tensor(values)
    if not whole._value.ndim or not len(whole):
        raise errors.invalid(
            "slice index 0 of dimension 0 out of bounds: there is nothing to stack "
            "[Op:StridedSlice] name: strided_slice/"
        )
    return list(whole)


def _in_range(axis: Any, ndim: int) -> None:
    if axis < -ndim or axis >= ndim:
        raise ValueError(f"Argument `axis` = {axis} not in range [{-ndim}, {ndim})")


# --- cutting --------------------------------------------------------------------------------------
def unstack(value: Any, num: Any = None, axis: Any = 0, name: str = "unstack") -> list[Any]:
    """The parts along an axis, each without it."""
    if num is None:
        x = convert.to_tensor(value)
        _in_range(axis, x._value.ndim)
        place, num = integer(axis, "axis"), x._value.shape[axis]
        if is_open(num):
            raise ValueError(f"Cannot infer argument `num` from shape {x.shape}")
    else:
        num, place = integer(num, "num"), 0 if axis is None else integer(axis, "axis")
        if num < 0:
            raise errors.invalid(
                f"Value for attr 'num' of {num} must be at least minimum 0 [Op:Unpack]"
            )
        x = convert.to_tensor(value)
    ndim = x._value.ndim
    if not -ndim <= place < ndim:
        raise errors.invalid(f"axis = {place} not in [{-ndim}, {ndim}) [Op:Unpack] name: unstack")
    size = x._value.shape[place]
    if num != size and is_open(size):
        shape = x._value.shape[:place] + x._value.shape[place % ndim + 1 :]
        parts = shape_ops.split.apply(
            x, sizes=(1,) * num, axis=place if place < 0 else place - ndim
        )
        return [shape_ops.reshape.apply(part, shape=shape) for part in parts]
    if num not in (0, size):
        raise errors.invalid(
            f"Input shape axis {place} must equal {num}, got shape {list(x._value.shape)} "
            "[Op:Unpack] name: unstack"
        )
    return list(shape_ops.unstack.apply(x, axis=place if place < 0 else place - ndim))[:num]


def split(
    value: Any, num_or_size_splits: Any, axis: Any = 0, num: Any = None, name: str = "split"
) -> list[Any]:
    """Cut along an axis, into equal parts or into parts of given sizes (one may be -1)."""
    x = convert.to_tensor(value)
    ndim = x._value.ndim
    given = num_or_size_splits
    whole = isinstance(given, (int, np.integer)) and not isinstance(given, bool)
    if not whole and not np.ndim(getattr(given, "_value", given)):
        raise ValueError(
            "Rank-0 tensors are not supported as the num_or_size_splits argument to split. "
            f"Argument provided: {given}"
        )
    place = number(axis, "Split", only=True)
    if not -ndim <= place < ndim:
        raise errors.invalid(
            f"-input rank(-{ndim}) <= split_dim < input rank ({ndim}), but got {place} [Op:Split]"
        )
    size = x._value.shape[place]
    if whole:
        sizes = _equal_parts(int(given), size, place)
    else:
        sizes = _parts(numbers(given, "SplitV", "Tlen"), size, num)
    return list(shape_ops.split.apply(x, sizes=sizes, axis=place if place < 0 else place - ndim))


def _equal_parts(count: int, size: int, axis: int) -> tuple[int, ...]:
    if count < 1:
        raise errors.invalid(
            f"Value for attr 'num_split' of {count} must be at least minimum 1 [Op:Split]"
        )
    if is_open(size):
        return (size,) * count  # open, too
    if size % count:
        raise errors.invalid(
            "Number of ways to split should evenly divide the split dimension, but got split_dim "
            f"{axis} (size = {size}) and num_split {count}; give the sizes as a list instead "
            "[Op:Split]"
        )
    return (size // count,) * count


def _parts(sizes: tuple[int, ...], size: int, num: Any) -> tuple[int, ...]:
    if num is not None and number(num) != len(sizes):
        raise errors.invalid(
            "size of the split_tensor must be 1-D and have the same elements as outputs got "
            f"{num}, but {len(sizes)} sizes [Op:SplitV]"
        )
    for k, n in enumerate(sizes):
        if n < -1:
            raise errors.invalid(f"Split size at index {k} must be >= 0. Got: {n} [Op:SplitV]")
    if sizes.count(-1) > 1:
        raise errors.invalid("There can only be one -1 in the input. [Op:SplitV]")
    total = builtins.sum(n for n in sizes if n != -1)
    if is_open(size):
        return tuple(size if n == -1 else n for n in sizes)
    if total > size or (total < size and -1 not in sizes):
        raise errors.invalid(
            "Determined shape must either match input shape along split_dim exactly if fully "
            f"specified, or be less than the size of the input along split_dim if not fully "
            f"specified.  Got: {total} of {size} [Op:SplitV]"
        )
    return tuple(size - total if n == -1 else n for n in sizes)


def slice(input_: Any, begin: Any, size: Any, name: str | None = None) -> Any:
    """The block that begins at `begin`; a size of -1 goes to the end."""
    x = convert.to_tensor(input_)
    shape = x._value.shape
    if any(convert.is_recorded(t._value) for t in indexing.positions((begin,))):
        first, counts = convert.to_tensor(begin), numbers(size, "Slice")
        fits = first._value.shape == (len(shape),) == (len(counts),)
        if fits and min(counts, default=0) >= 0 and first._value.dtype.kind == "i":
            block = tuple(index.At(k, n) for k, n in enumerate(counts))
            return index.getitem_at.apply(x, first, key=block)
    begins, sizes = several((begin, size), "Slice")
    if not len(begins) == len(sizes) == len(shape):
        raise errors.invalid(
            f"Expected begin and size arguments to be 1-D tensors of size {len(shape)}, but got "
            f"shapes [{len(begins)}] and [{len(sizes)}] instead. [Op:Slice]"
        )
    key = []
    for k, (start, count, n) in enumerate(zip(begins, sizes, shape, strict=True)):
        if not 0 <= start <= n:
            raise errors.invalid(f"Expected begin[{k}] in [0, {n}], but got {start} [Op:Slice]")
        stop = n if count == -1 else start + count
        if not start <= stop <= n:
            raise errors.invalid(
                f"Expected size[{k}] in [0, {n - start}], but got {count} [Op:Slice]"
            )
        key.append(builtins.slice(start, stop))
    return index.getitem.apply(x, *indexing.positions((begin, size)), key=tuple(key))


def strided_slice(
    input_: Any,
    begin: Any,
    end: Any,
    strides: Any = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    var: Any = None,
    name: str | None = None,
) -> Any:
    """x[begin:end:strides, …]; bit k of a mask says that argument k is left out (begin, end), or
    stands for `...`, for a new axis, or for a single index."""
    x = convert.to_tensor(input_)
    begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask = (
        0 if mask is None else integer(mask, f"{word}_mask")
        for word, mask in (
            ("begin", begin_mask), ("end", end_mask), ("ellipsis", ellipsis_mask),
            ("new_axis", new_axis_mask), ("shrink_axis", shrink_axis_mask),
        )
    )  # fmt: skip
    if ellipsis_mask & (ellipsis_mask - 1):
        raise errors.invalid("Multiple ellipses in slice spec not allowed [Op:StridedSlice]")
    if strides is None:
        quick = isinstance(begin, (list, tuple)) and not convert.is_tensor_like(end)
        strides = [1] * len(begin) if quick else _ones(convert.to_tensor(begin)._value)
    begins, ends, steps = several((begin, end, strides), "StridedSlice")
    if not len(begins) == len(ends) == len(steps):
        raise errors.invalid(
            "Expected begin, end, and strides to be 1D equal size tensors, but got shapes "
            f"[{len(begins)}], [{len(ends)}], and [{len(steps)}] instead. [Op:StridedSlice]"
        )
    key: list[Any] = []
    for k, (start, stop, step) in enumerate(zip(begins, ends, steps, strict=True)):
        bit = 1 << k
        if ellipsis_mask & bit:
            key.append(Ellipsis)
        elif new_axis_mask & bit:
            key.append(None)
        elif shrink_axis_mask & bit:
            key.append(start)
        else:
            first = None if begin_mask & bit else start
            key.append(builtins.slice(first, None if end_mask & bit else stop, step))
    given = indexing.positions((begin, end, strides))
    return index.getitem.apply(x, *given, key=indexing.numpy_key(tuple(key), x._value.shape))


def _ones(like: Any) -> Any:
    if like.dtype.kind == "O":
        raise convert.cannot(1, like.dtype)
    return tensor(np.ones_like(like))


# --- copies and turns -----------------------------------------------------------------------------
def tile(input: Any, multiples: Any, name: str | None = None) -> Any:
    """Copies of a tensor beside each other, `multiples` of them along each axis."""
    x = convert.to_tensor(input)
    counts = numbers(multiples, "Tile", "Tmultiples")
    if len(counts) != x._value.ndim:
        raise errors.invalid(
            f"Expected multiples argument to be a vector of length {x._value.ndim} but got length "
            f"{len(counts)} [Op:Tile]"
        )
    for k, n in enumerate(counts):
        if n < 0:
            raise errors.invalid(f"Expected multiples[{k}] >= 0, but got {n} [Op:Tile]")
    return pad_ops.tile.apply(x, counts=counts)


def repeat(input: Any, repeats: Any, axis: Any = None, name: str | None = None) -> Any:
    """Each entry several times, all as often or each as often as it is told."""
    if axis is None:
        x = convert.to_tensor(input)
        x, axis = shape_ops.reshape.apply(x, shape=(x._value.size,)), 0
    elif not isinstance(axis, int):
        raise TypeError(
            f"Argument `axis` must be an int. Received `axis` = {axis} of type "
            f"{type(axis).__name__}"
        )
    else:
        x = convert.to_tensor(input)
    given = convert.to_tensor(repeats, hint=np.dtype(np.int32))
    counts = given._value
    if counts.dtype.kind not in "iu":
        raise TypeError(
            f"Argument `tensor` (name: repeats) must be of type integer. Received `tensor` = "
            f"{repeats} of dtype: {convert.to_tensor(repeats).dtype}"
        )
    if counts.ndim > 1:
        raise ValueError(f"Shape {counts.shape} must have rank at most 1")
    if not x._value.ndim:
        x = shape_ops.reshape.apply(x, shape=(1,))
    ndim, place = x._value.ndim, int(axis)
    if not -ndim <= place < ndim:
        raise ValueError(f"axis={place} out of bounds: expected {-ndim}<=axis<{ndim}")
    place = place if place < 0 else place - ndim
    if counts.size == 1:
        count = int(counts.reshape(()))
        if count < 0:
            raise errors.at_run(
                f"Expected multiples[{place + ndim + 1}] >= 0, but got {count}: nothing can be "
                "repeated less than 0 times [Op:Tile]"
            )
        return pad_ops.repeat.apply(x, *indexing.positions((repeats,)), count=count, axis=place)
    size = x._value.shape[place]
    if counts.shape != (size,):
        raise ValueError(f"Dimensions {size} and {counts.shape[0]} are not compatible")
    if place + ndim and (counts < 0).any():  # along the first axis TensorFlow takes them for 0
        raise errors.invalid(f"`repeats` must not be negative, got {counts.tolist()} [Op:Reshape]")
    places = index.repeat_places.apply(given, size=size)
    return index.take.apply(x, places, axis=place + ndim)


def pad(
    tensor: Any,
    paddings: Any,
    mode: str = "CONSTANT",
    constant_values: Any = 0,
    name: str | None = None,
) -> Any:
    """Borders around a tensor: of one number, or of what lies inside, mirrored.

    >>> import gradtape as tf
    >>> tf.pad([1, 2, 3], [[2, 1]], "REFLECT").numpy().tolist()
    [3, 2, 1, 2, 3, 2]
    """
    x = convert.to_tensor(tensor)
    kind = str(mode).upper()
    if kind not in ("CONSTANT", "REFLECT", "SYMMETRIC"):
        raise ValueError(
            'Value of argument `mode` expected to be one of "CONSTANT", "REFLECT", or "SYMMETRIC". '
            f"Received `mode` = {kind}"
        )
    if kind != "CONSTANT" and x._value.ndim > 5:
        raise errors.UnimplementedError(
            None, None, f"inputs rank not in [0,5]: {x._value.ndim}; reshape to fewer axes first "
            "[Op:MirrorPad]",
        )  # fmt: skip
    pads = _pads(paddings, x._value.shape, "Pad" if kind == "CONSTANT" else "MirrorPad")
    if kind != "CONSTANT":
        skip = int(kind == "REFLECT")
        _check_mirror(pads, x._value.shape, skip)
        return pad_ops.mirror_pad.apply(x, pads=pads, skip=skip)
    if constant_values.__class__ is int and constant_values == 0:
        if x._value.dtype.kind != "O":
            return pad_ops.pad.apply(x, pads=pads)
        constant_values = b""
    x, value = matching("PadV2", [tensor, constant_values], beside=[paddings])
    if value._value.ndim:
        raise errors.at_run(
            f"constant_values must be a scalar. Found: {list(value._value.shape)} [Op:PadV2]"
        )
    return pad_ops.pad_with.apply(x, value, pads=pads)


def _pads(paddings: Any, shape: tuple[int, ...], label: str) -> pad_ops.Pads:
    array = vector(paddings, label, "Tpaddings")
    if array.ndim != 2 or array.shape[1] != 2:
        raise errors.invalid(
            f"paddings must be a matrix with 2 columns: {list(array.shape)} [Op:{label}]"
        )
    if len(array) != len(shape):
        raise errors.invalid(
            "The first dimension of paddings must be the rank of inputs"
            f"{list(array.shape)} {list(shape)} [Op:{label}]"
        )
    if array.size and array.min() < 0:
        row = array[np.flatnonzero((array < 0).any(axis=1))[0]]
        raise errors.invalid(
            f"Paddings must be non-negative: {row[0]} {row[1]}; tf.slice cuts [Op:{label}]"
        )
    return tuple((int(low), int(high)) for low, high in array.tolist())


def _check_mirror(pads: pad_ops.Pads, shape: tuple[int, ...], skip: int) -> None:
    for (low, high), n in zip(pads, shape, strict=True):
        if builtins.max(low, high) > n - skip:
            words = (
                ("no greater than", "greater than") if not skip else ("less than", "not less than")
            )
            raise errors.invalid(
                f"paddings must be {words[0]} the dimension size: {low}, {high} {words[1]} {n} "
                "[Op:MirrorPad]"
            )


def reverse(tensor: Any, axis: Any, name: str | None = None) -> Any:
    """The named axes turned about."""
    x = convert.to_tensor(tensor)
    wanted = vector(axis, "ReverseV2", "Tidx")
    if not x._value.ndim or not x._value.size:
        return _same(x)  # which has no order, whatever the axes
    if wanted.ndim != 1:
        raise errors.invalid(
            f"'dims' must be 1-dimension, not {wanted.ndim}: write axis=[{axis}] [Op:ReverseV2]"
        )
    ndim = x._value.ndim
    axes: list[int] = []
    for k, a in enumerate(wanted.tolist()):
        if not -ndim <= a < ndim:
            raise errors.invalid(
                f"'axis'[{k}] = {a} is out of valid range [0, {ndim - 1}] [Op:ReverseV2]"
            )
        a = a if a < 0 else a - ndim
        if a in axes:
            raise errors.invalid(f"axis {a + ndim} specified more than once. [Op:ReverseV2]")
        axes.append(a)
    return pad_ops.reverse.apply(x, axis=tuple(axes))


def roll(input: Any, shift: Any, axis: Any, name: str | None = None) -> Any:
    """Entries moved along axes; what goes over the end comes in again at the front."""
    x = convert.to_tensor(input)
    # TensorFlow counts in 32 bits, and so around.
    given = vector(typed(shift, "Roll"), "Roll", "Tshift", plain=True)
    shifts = given.astype(np.int32).astype(np.int64)
    wanted = vector(typed(axis, "Roll"), "Roll", "Taxis", plain=True)
    if shifts.shape != wanted.shape:
        raise errors.invalid(
            f"shift and axis must have the same size, got {shift} and {axis} [Op:Roll]"
        )
    ndim = x._value.ndim
    if not ndim:
        raise errors.invalid("input must be 1-D or higher [Op:Roll]")
    axes = []
    for a in wanted.astype(np.int32).reshape(-1).tolist():  # of 64 bits, TensorFlow keeps 32
        if not -ndim <= a < ndim:
            raise errors.at_run(f"axis {a} is out of range [Op:Roll]")
        axes.append(a if a < 0 else a - ndim)
    return pad_ops.roll.apply(x, shift=tuple(shifts.reshape(-1).tolist()), axis=tuple(axes))


def _lengths(seq_lengths: Any) -> Any:
    if seq_lengths.__class__ is float:
        raise convert.cannot(seq_lengths, np.dtype(np.int64))
    return vector(seq_lengths, "ReverseSequence", "Tlen")


def reverse_sequence(
    input: Any, seq_lengths: Any, seq_axis: Any = None, batch_axis: Any = None, name: Any = None
) -> Any:
    """In each row of a batch, the first `seq_lengths[row]` entries turned about."""
    seq_axis = integer(seq_axis, "seq_dim")
    x, lengths = convert.to_tensor(input), _lengths(seq_lengths)
    shape = x._value.shape
    batch = _axis(0 if batch_axis is None else batch_axis, len(shape), "batch_axis {}") + len(shape)
    axis = _axis(seq_axis, len(shape), "seq_axis {}") + len(shape)
    if axis == batch:
        raise errors.at_run(f"batch_dim == seq_dim == {axis} [Op:ReverseSequence] name: ")
    size = shape[axis]
    if lengths.shape != (shape[batch],):
        raise errors.invalid(
            f"Length of seq_lengths != input.dims({batch}), ({lengths.size} vs. {shape[batch]}) "
            "[Op:ReverseSequence]"
        )
    if lengths.size and not 0 <= lengths.min() <= lengths.max() <= size:
        raise errors.at_run(f"seq_lengths must be in [0, {size}] [Op:ReverseSequence]")
    places, ends = np.arange(size), lengths.astype(np.int64)[:, None]
    turned = np.where(places < ends, ends - 1 - places, places)
    order = (batch, *[k for k in builtins.range(len(shape)) if k != batch])
    rows = shape_ops.transpose.apply(x, axes=order)
    rows = index.gather_batch.apply(rows, tensor(turned), axis=order.index(axis), batch=1)
    back = tuple(np.argsort(order).tolist())
    return shape_ops.transpose.apply(rows, axes=back)
