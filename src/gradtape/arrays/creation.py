"""Tensors made from nothing but numbers: zeros, ranges, grids, one-hot rows."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from .. import dtypes, errors
from ..core.apply import tensor
from ..core.record import Value
from ..framework import convert
from ..framework.arguments import (
    alike,
    dimensions,
    integer,
    listed,
    listed_dtype,
    matching,
    no_layout,
    number,
    whole,
)
from ..framework.arguments import dtype as numpy_dtype
from ..framework.shapes import TensorShape
from ..ops import compare, elementwise, make
from ..ops import shape as shape_ops


def zeros(
    shape: Any, dtype: Any = dtypes.float32, name: str | None = None, layout: Any = None
) -> Any:
    """A tensor of zeros (of empty strings, of False).

    >>> import gradtape as tf
    >>> tf.zeros([2])
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([0., 0.], dtype=float32)>
    """
    no_layout(layout)
    return _full(dimensions(_read_as_shape(shape)), 0, numpy_dtype(dtype))


def ones(
    shape: Any, dtype: Any = dtypes.float32, name: str | None = None, layout: Any = None
) -> Any:
    """A tensor of ones (of True)."""
    no_layout(layout)
    return _full(dimensions(_read_as_shape(shape)), 1, numpy_dtype(dtype))


def _read_as_shape(value: Any) -> Any:
    """To TensorFlow, which tries a TensorShape first, bytes are numbers and no text is no axes."""
    if hasattr(value, "_read") and convert.dtype_of(value).kind not in "iu":
        convert.to_tensor(value, np.dtype(np.int32))
    read = value.__class__ is bytes or (value.__class__ is str and not value)
    return tuple(value) if read else value


def zeros_like(input: Any, dtype: Any = None, name: str | None = None, layout: Any = None) -> Any:
    """Zeros in the shape, and if no other is given the dtype, of another tensor."""
    no_layout(layout)
    if convert.is_ragged(input):
        return input.with_flat_values(zeros_like(input.flat_values, dtype))
    return _like(input, 0, dtype)


def ones_like(input: Any, dtype: Any = None, name: str | None = None, layout: Any = None) -> Any:
    """Ones in the shape, and if no other is given the dtype, of another tensor."""
    no_layout(layout)
    if convert.is_ragged(input):
        return input.with_flat_values(ones_like(input.flat_values, dtype))
    x = convert.to_tensor(input)
    if x._value.dtype.kind == "O" and dtype is None:
        raise convert.wrong_dtype(shape_ops.broadcast_to, x._value.dtype)
    return _like(x, 1, dtype)


def _like(input: Any, number: int, dtype: Any) -> Any:
    x = convert.to_tensor(input)
    if isinstance(dtype, np.ndarray) and dtype.ndim:
        raise ValueError(f"`dtype` must be a dtype such as tf.float32, got {dtype!r}.")
    own = x._value.dtype
    wanted = own if dtype is None else numpy_dtype(dtype)
    if x._mark is None or wanted != own:
        return _full(x._value.shape, number, wanted)
    return (make.ones_like if number else make.zeros_like).apply(x)


def _full(shape: tuple[int, ...], number: int, dtype: np.dtype) -> Any:
    if dtype.kind == "O":
        if number:
            raise convert.cannot(number, dtype)
        return tensor(np.full(shape, b"", object))
    try:
        return tensor((np.ones if number else np.zeros)(shape, dtype)[()])
    except MemoryError as error:
        raise errors.exhausted("Fill", error) from None
    except ValueError as error:  # NumPy's word for more than it can count
        raise errors.invalid(f"Shape {list(shape)}: {error} [Op:Fill]") from None


def fill(dims: Any, value: Any, name: str | None = None, layout: Any = None) -> Any:
    """A tensor with one number everywhere; its derivative is the sum over all places."""
    no_layout(layout)
    shape = _fill_dims(dims)
    x = convert.to_tensor(value)
    if x._value.shape == (1,):  # a scalar of TensorFlow 1
        x = shape_ops.reshape.apply(x, shape=())
    if x._value.ndim:
        raise errors.invalid(
            f"value must represent a scalar, got shape {list(x._value.shape)}; tf.broadcast_to "
            "stretches other shapes [Op:Fill]"
        )
    if x._mark is None and not convert.is_recorded(x._value):
        try:
            return tensor(np.full(shape, x._value, x._value.dtype)[()])
        except MemoryError as error:
            raise errors.exhausted("Fill", error) from None
    return shape_ops.broadcast_to.apply(x, shape=shape)


def _fill_dims(dims: Any) -> tuple[int, ...]:
    try:
        return dimensions(dims)
    except TypeError:
        if dims.__class__ is float:
            raise
        raise errors.wrong_dtype(
            "Value for attr 'index_type' of float is not in the list of allowed values: int32, "
            f"int64; dims of tf.fill must be whole numbers, got {dims!r} [Op:Fill]"
        ) from None


def eye(
    num_rows: Any,
    num_columns: Any = None,
    batch_shape: Any = None,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Any:
    """The identity matrix, or a stack of them."""
    columns = num_rows if num_columns is None else num_columns
    rows, columns = dimensions([_count(n, num_rows, columns) for n in (num_rows, columns)])
    if isinstance(batch_shape, (str, np.ndarray)) and np.asarray(batch_shape).dtype.kind in "bSU":
        raise ValueError(
            f"Can't convert Python sequence with mixed types to Tensor: batch_shape={batch_shape!r}"
        )
    if convert.is_tensor_like(batch_shape):
        batch_shape = convert.to_tensor(batch_shape, np.dtype(np.int32))
    matrix = np.eye(rows, columns, dtype=numpy_dtype(dtype))
    if batch_shape is not None:
        matrix = np.broadcast_to(matrix, (*dimensions(batch_shape), rows, columns)).copy()
    return tensor(matrix)


def _count(n: Any, rows: Any, columns: Any) -> Any:
    """A number of rows: whole, but of a floating-point tensor the whole part."""
    array = getattr(n, "_value", n)
    kind = array.dtype.kind if isinstance(array, (np.ndarray, np.generic)) else ""
    if kind == "O" and isinstance(n, Value):
        if n is not rows:
            raise convert.cannot(rows, array.dtype)
        raise convert.wrong_dtype(elementwise.maximum, array.dtype)
    if isinstance(n, Value) and kind in "fV":
        return shape_ops.cast.apply(n, dtype=np.dtype(np.int32))
    if kind not in "iub" or (kind == "b" and array.ndim) or not (kind or isinstance(n, int)):
        raise TypeError(
            "Arguments `num_rows` and `num_columns` must be positive integer values. Received: "
            f"num_rows={rows}, num_columns={columns}"
        )
    return n


# --- sequences ------------------------------------------------------------------------------------
_RANK = ("int32", "int64", "float16", "bfloat16", "float32", "float64")


def range(
    start: Any,
    limit: Any = None,
    delta: Any = 1,
    dtype: Any = None,
    name: str | None = "range",
) -> Any:
    """Numbers from start (0, if only a limit is given) to just before the limit.

    >>> import gradtape as tf
    >>> tf.range(2, 6, 2)
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([2, 4], dtype=int32)>
    """
    if limit is None:
        start, limit = 0, start
    wanted = None if dtype is None else numpy_dtype(dtype)
    found = [_end(x, wanted) for x in (start, limit, delta)]
    if wanted is None:
        kinds = [dtypes.of(x._value.dtype).name for x in found]
        unknown = [kind for kind in kinds if kind not in _RANK]
        if unknown:
            raise AssertionError(
                f"tf.range counts in {', '.join(_RANK)}, not in {unknown[0]}: cast its arguments."
            )
        wanted = numpy_dtype(max(kinds, key=_RANK.index))
    if wanted.kind in "ub":
        raise errors.wrong_dtype(
            f"Value for attr 'Tidx' of {dtypes.of(wanted).name} is not in the list of allowed "
            "values: bfloat16, half, float, double, int8, int16, int32, int64 [Op:Range]"
        )
    found = [_single(x) for x in found]
    found = [
        x if x._value.dtype == wanted else shape_ops.cast.apply(x, dtype=wanted) for x in found
    ]
    return make.range_.apply(*found)


def _end(x: Any, wanted: Any) -> Any:
    return convert.to_tensor(x) if isinstance(x, Value) else convert.to_tensor(x, wanted)


def _single(x: Any) -> Any:
    if x._value.size != 1:
        raise errors.invalid(
            f"start, limit and delta must be scalars, got shape {list(x._value.shape)} [Op:Range]"
        )
    return shape_ops.reshape.apply(x, shape=()) if x._value.ndim else x


def linspace(start: Any, stop: Any, num: Any, name: str | None = None, axis: Any = 0) -> Any:
    """`num` evenly spaced numbers from start to stop, both included, along a new axis.

    >>> import gradtape as tf
    >>> tf.linspace(0.0, 1.0, 3)
    <tf.Tensor: shape=(3,), dtype=float32, numpy=array([0. , 0.5, 1. ], dtype=float32)>
    """
    first = convert.to_tensor(start)
    last = convert.to_tensor(stop, first._value.dtype)
    if first._value.dtype.kind in "iu":
        wide = np.dtype("f8" if first._value.dtype.itemsize > 2 else "f4")
        first, last = (shape_ops.cast.apply(x, dtype=wide) for x in (first, last))
    if first._value.shape != last._value.shape:
        shape = _broadcast(first._value.shape, last._value.shape)
        first, last = (shape_ops.broadcast_to.apply(x, shape=shape) for x in (first, last))
    given = convert.to_tensor(num)._value.dtype
    if given.kind in "OfV" and (given.kind == "O" or convert.is_tensor_like(num)):
        raise TypeError(
            f"Argument `tensor` (name: num) must be of type integer. Received `tensor` = {num} of "
            f"dtype: {dtypes.of(given)!r}"
        )
    if isinstance(num, np.floating):
        num = int(num)
    ndim, count, axis = first._value.ndim + 1, number(num), number(axis)
    count = (count + 2**31) % 2**32 - 2**31  # TensorFlow keeps 32 bits of it
    if count < 0:
        raise errors.invalid(f"tf.linspace needs 0 <= num < 2**31, got {num} [Op:Range]")
    if not -ndim <= axis < ndim:
        raise errors.invalid(
            f"Tried to expand dim index {axis} for tensor with {ndim - 1} dimensions: axis must be "
            f"in [-{ndim}, {ndim}) [Op:ExpandDims]"
        )
    return make.linspace.apply(first, last, num=count, axis=axis if axis < 0 else axis - ndim)


def _broadcast(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        texts = " vs. ".join(str(list(s)) for s in shapes)
        raise errors.invalid(f"Incompatible shapes: {texts} [Op:BroadcastArgs]") from None


def meshgrid(*args: Any, **kwargs: Any) -> list[Any]:
    """For each vector a tensor that repeats it along the axes of the others."""
    indexing = kwargs.pop("indexing", "xy")
    kwargs.pop("name", None)
    if kwargs:
        raise TypeError(f"'{next(iter(kwargs))}' is an invalid keyword argument for this function.")
    if indexing not in ("xy", "ij"):
        raise ValueError(
            f"Argument `indexing` parameter must be either 'xy' or 'ij', got '{indexing}'"
        )
    vectors = [convert.to_tensor(x) for x in args]
    if vectors and vectors[0]._value.dtype.kind == "O":
        raise convert.cannot(1, vectors[0]._value.dtype)
    if any(x._value.dtype.kind == "b" for x in vectors):
        # TensorFlow multiplies with ones of the first's dtype: a product with truth values is one.
        first = vectors[0]._value.dtype
        truths = [first.kind == "b" or x._value.dtype.kind == "b" for x in vectors]
        vectors = [
            shape_ops.cast.apply(x, dtype=np.dtype(bool)) if truth else x
            for x, truth in zip(vectors, truths, strict=True)
        ]
    for x in vectors[1:]:
        if x._value.dtype.kind != "b":
            matching("Mul", [x, vectors[0]])
    ndim = len(vectors)
    places = [*builtins.range(ndim)]
    if indexing == "xy" and ndim > 1:
        places[:2] = 1, 0
    sizes = [0] * ndim
    for place, x in zip(places, vectors, strict=True):
        sizes[place] = x._value.size
    grids = []
    for place, x in zip(places, vectors, strict=True):
        line = tuple(x._value.size if k == place else 1 for k in builtins.range(ndim))
        stretched = shape_ops.reshape.apply(x, shape=line)
        grids.append(shape_ops.broadcast_to.apply(stretched, shape=tuple(sizes)))
    return grids


def one_hot(
    indices: Any,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: Any = None,
    dtype: Any = None,
    name: str | None = None,
) -> Any:
    """A row for each index, `on_value` at that place and `off_value` elsewhere.

    >>> import gradtape as tf
    >>> tf.one_hot([2, 0], 3).numpy().tolist()
    [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """
    if convert.is_ragged(indices):
        return _ragged_one_hot(indices, depth, on_value, off_value, axis, dtype)
    places = whole(indices, np.int64)
    if places._value.dtype.name not in ("uint8", "int8", "int32", "int64"):
        raise errors.wrong_dtype(
            f"Value for attr 'TI' of {convert.c_name(places._value.dtype)} is not in the list of "
            "allowed values: uint8, int8, int32, int64; tf.one_hot takes places, cast them first "
            "[Op:OneHot]"
        )
    wanted = convert.to_tensor(depth, np.dtype(np.int32))
    if wanted._value.ndim:
        raise errors.invalid(
            f"depth must be a scalar, but got: {list(wanted._value.shape)} [Op:OneHot]"
        )
    count = number(wanted, "OneHot")
    if count < 0:
        raise errors.invalid(f"depth must be non-negative, got: {count} [Op:OneHot]")
    on, off = _on_and_off(on_value, off_value, dtype)
    ndim, place = places._value.ndim + 1, -1 if axis is None else integer(axis, "axis")
    if not -1 <= place < ndim:
        raise errors.invalid(
            f"Expected axis to be -1 or between [0, {ndim}).  But received: {place} [Op:OneHot]"
        )
    return make.one_hot.apply(places, on, off, depth=count, axis=place)


def _ragged_one_hot(
    indices: Any, depth: Any, on_value: Any, off_value: Any, axis: Any, dtype: Any
) -> Any:
    outer = indices.ragged_rank
    place = -1 if axis is None else integer(axis, "axis")
    if place >= 0:
        if place <= outer:
            raise ValueError(f"axis ({place}) must be greater than indices.ragged_rank ({outer}).")
        place -= outer
    made = one_hot(indices.flat_values, depth, on_value, off_value, place, dtype)
    return indices.with_flat_values(made)


def _on_and_off(on: Any, off: Any, dtype: Any) -> tuple[Any, Any]:
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    hint = None if wanted is None else np.dtype(wanted.as_numpy_dtype)
    given = [(n, convert.to_tensor(v, hint=hint)) for n, v in (("on_value", on), ("off_value", off))
             if v is not None]  # fmt: skip
    for word, value in given:
        if wanted is not None and value.dtype is not wanted:
            raise TypeError(
                f"dtype {value.dtype} of {word} does not match dtype parameter {wanted}"
            )
    if len(given) == 2 and given[0][1].dtype is not given[1][1].dtype:
        raise TypeError(
            f"dtype {given[0][1].dtype} of on_value does not match dtype {given[1][1].dtype} of "
            "off_value"
        )
    kind = numpy_dtype(wanted or (given[0][1].dtype if given else dtypes.float32))
    if kind.kind in "bO" and len(given) < 2:
        raise convert.cannot(1 if on is None else 0, kind)
    found = dict(given)
    return (
        found["on_value"] if on is not None else tensor(kind.type(1)),
        found["off_value"] if off is not None else tensor(kind.type(0)),
    )


def sequence_mask(
    lengths: Any, maxlen: Any = None, dtype: Any = dtypes.bool, name: str | None = None
) -> Any:
    """For each length a row that is true at its first places."""
    x = convert.to_tensor(lengths)
    if maxlen is not None:
        end = convert.to_tensor(maxlen)
    else:
        if x._value.dtype.kind not in "iufV":
            raise convert.wrong_dtype(make.range_, x._value.dtype)
        end = tensor(convert.computed(lambda lengths: lengths.max(initial=0), x._value))
    own = end._value.dtype
    if end._value.ndim:
        raise ValueError(f"Argument `maxlen` must be scalar for sequence_mask, got {maxlen!r}")
    if own.kind in "bO":
        raise convert.cannot(0, own)
    if own.kind == "c" or own == np.uint8:
        raise convert.wrong_dtype(make.range_, own)
    places = make.range_.apply(tensor(own.type(0)), end, tensor(own.type(1)))
    wide = shape_ops.cast.apply(x, dtype=own) if x._value.dtype != own else x
    column = shape_ops.reshape.apply(wide, shape=(*x._value.shape, 1))
    mask = compare.less.apply(places, column)
    kind = np.dtype(bool) if dtype is None else numpy_dtype(dtype)
    if kind.kind == "O":
        raise errors.UnimplementedError(
            None, None, "Cast bool to string is not supported [Op:Cast]"
        )
    return mask if kind.kind == "b" else shape_ops.cast.apply(mask, dtype=kind)


# --- shapes as tensors ----------------------------------------------------------------------------
_SIZES = ("int32", "int64")


def shape(input: Any, out_type: Any = None, name: str | None = None) -> Any:
    """The shape as a tensor of whole numbers."""
    if convert.is_ragged(input):
        from ..ragged.lengths import DynamicRaggedShape

        return DynamicRaggedShape(input, out_type)
    dense_shape = getattr(input, "dense_shape", None)
    if dense_shape is not None:
        found = convert.to_tensor(dense_shape)._value
    else:
        found = convert.to_tensor(input)._value.shape
    return tensor(np.array(found, listed_dtype(out_type, "out_type", _SIZES, "Shape", "int32")))


def shape_n(input: Any, out_type: Any = dtypes.int32, name: str | None = None) -> list[Any]:
    """The shapes of several tensors."""
    if not convert.is_tensor_like(input) and not listed(input, "input", "shape_n"):
        raise errors.invalid("Value for attr 'N' of 0 must be at least minimum 1 [Op:ShapeN]")
    tensors = (
        input
        if convert.is_tensor_like(input)
        else matching("ShapeN", input, beside=[out_type] if isinstance(out_type, str) else ())
    )
    return [shape(x, out_type) for x in tensors]


def size(input: Any, out_type: Any = None, name: str | None = None) -> Any:
    """The number of elements as a tensor."""
    wanted = listed_dtype(out_type, "out_type", _SIZES, "Size", "int32")
    if convert.is_sparse(input):
        return tensor(wanted.type(np.prod(input.dense_shape._value)))
    counted = input.flat_values if convert.is_ragged(input) else input
    return tensor(wanted.type(convert.to_tensor(counted)._value.size))


def rank(input: Any, name: str | None = None) -> Any:
    """The number of axes as a tensor."""
    if convert.is_ragged(input) or convert.is_sparse(input):
        return tensor(np.int32(len(input.shape)))
    return tensor(np.int32(convert.to_tensor(input)._value.ndim))


def broadcast_static_shape(shape_x: Any, shape_y: Any) -> TensorShape:
    """The shape that two shapes broadcast to; ValueError if they do not."""
    x, y = TensorShape(shape_x), TensorShape(shape_y)
    if x.rank is None or y.rank is None:
        return TensorShape(None)
    longest = max(x.rank, y.rank)
    first = [1] * (longest - x.rank) + x.as_list()
    second = [1] * (longest - y.rank) + y.as_list()
    found: list[int | None] = []
    for a, b in zip(first, second, strict=True):
        if a == 1 or b == 1:
            found.append(b if a == 1 else a)
        elif a is None or b is None or a == b:
            found.append(b if a is None else a)
        else:
            raise ValueError(
                f"Incompatible shapes for broadcasting. Two shapes are compatible if for each "
                f"dimension pair they are either equal or one of them is 1. Received: {x} and {y}."
            )
    return TensorShape(found)


def _array(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic))


def broadcast_dynamic_shape(shape_x: Any, shape_y: Any) -> Any:
    """The shape that two shapes broadcast to, as a tensor."""
    given: list[Any] = [
        np.asarray(v, np.int32) if getattr(v, "dtype", None) == np.bool_ and _array(v) else v
        for v in (shape_x, shape_y)
    ]
    x, y = alike(given, "BroadcastArgs", "T")
    if x.ndim != 1 or y.ndim != 1:
        raise errors.invalid(
            "broadcast_dynamic_shape takes two vectors of int32 or int64, got "
            f"{shape_x!r} and {shape_y!r} [Op:BroadcastArgs]"
        )
    kinds = [v._value.dtype for v in given if convert.is_tensor_like(v)]
    kinds += [v.dtype for v in given[:1] if isinstance(v, np.ndarray)]
    wide = bool(kinds) and kinds[0] == np.int64
    return tensor(np.array(_broadcast(tuple(x), tuple(y)), np.int64 if wide else np.int32))
