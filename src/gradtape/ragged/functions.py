"""What makes ragged tensors and takes them apart: `tf.ragged`'s functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import arrays, dtypes, errors, nest
from ..core.apply import tensor
from ..core.record import Value
from ..framework import convert
from ..framework.arguments import matching, number
from ..framework.shapes import TensorShape
from ..ops import elementwise
from ..ops.index import gather, take
from ..ops.shape import concat
from .tensor import RaggedTensor, even

_INT64 = np.dtype(np.int64)


def constant(
    pylist: Any, dtype: Any = None, ragged_rank: int | None = None, inner_shape: Any = None,
    name: Any = None, row_splits_dtype: Any = dtypes.int64,
) -> Any:  # fmt: skip
    """A ragged tensor of nested lists; dense if no axis is ragged.

    >>> import gradtape as tf
    >>> tf.ragged.constant([[1, 2], [3]]).row_splits.numpy().tolist()
    [0, 2, 3]
    """
    wanted = None if dtype is None else np.dtype(dtypes.as_dtype(dtype).as_numpy_dtype)
    if not isinstance(pylist, (list, tuple)) and not np.ndim(pylist):
        if ragged_rank or inner_shape:
            raise ValueError(f"Invalid pylist={pylist!r}: a single value has no rows.")
        return convert.to_tensor(pylist, wanted)
    if isinstance(pylist, Value) and pylist._value.ndim > 1:
        raise ValueError("pylist takes lists; tf.RaggedTensor.from_tensor takes a tensor.")
    if ragged_rank is not None and ragged_rank < 0:
        raise ValueError(f"Invalid ragged_rank={ragged_rank}: must be nonnegative")
    if isinstance(pylist, np.matrix):  # whose rows are matrices again, without end
        pylist = np.asarray(pylist)
    depth = _depth(pylist)
    if ragged_rank is None:
        ragged_rank = max(0, depth - 1 - (0 if inner_shape is None else len(inner_shape)))
    if ragged_rank >= depth:
        raise ValueError(f"Invalid pylist={pylist!r}, max depth smaller than {ragged_rank=}")
    levels, rows = [], list(pylist)
    for _ in range_(ragged_rank):
        levels.append(np.cumsum([0, *[len(row) for row in rows]]))
        rows = [value for row in rows for value in row]
    flat = convert.to_tensor(rows, wanted)
    if inner_shape is not None:
        flat = arrays.reshape(flat, (len(rows), *_tuple(inner_shape)))
    kind = np.int32 if row_splits_dtype is None else dtypes.as_dtype(row_splits_dtype)
    splits = np.dtype(getattr(kind, "as_numpy_dtype", kind))
    if levels and splits.kind not in "iu":
        raise convert.cannot(levels[0].tolist(), splits)
    ends = [tensor(level.astype(splits)) for level in levels]
    return RaggedTensor.from_nested_row_splits(flat, ends)


def _tuple(shape: Any) -> tuple:
    if isinstance(shape, TensorShape):
        return tuple(shape.as_list())
    if not isinstance(shape, tuple):
        raise TypeError(f"inner_shape must be a tuple, got {shape!r}.")
    return shape


def _depth(rows: Any) -> int:
    """How deep nested lists go; all values must lie equally deep, empty lists may end before."""
    depth, level = 0, [rows]
    while level:
        lists = [part for part in level if isinstance(part, (list, tuple)) or np.ndim(part)]
        if len(lists) < len(level):
            if lists:
                raise ValueError("all scalar values must have the same nesting depth")
            break
        depth += 1
        level = [value for part in lists for value in part]
    return depth


def boolean_mask(data: Any, mask: Any, name: Any = None) -> Any:
    """What the mask keeps, row by row: the mask's own axes stay.

    >>> import gradtape as tf
    >>> tf.ragged.boolean_mask([[1, 2], [3, 4]], [[True, False], [True, True]])
    <tf.RaggedTensor [[1], [3, 4]]>
    """
    x, kept = _ragged_or_tensor(data), _ragged_or_tensor(mask)
    if not isinstance(kept, RaggedTensor) and not kept._value.ndim:
        raise ValueError("mask cannot be scalar.")
    depth = _rank(kept) - 1
    sizes = [list(part.shape)[: depth + 1] for part in (x, kept)]
    if len(sizes[0]) < len(sizes[1]) or any(
        None not in pair and pair[0] != pair[1] for pair in zip(*sizes, strict=False)
    ):
        raise ValueError(f"Shapes {x.shape} and {kept.shape} are incompatible")
    splits, flat = _levels(kept, depth)
    own, rows = _levels(x, depth)
    if any(not np.array_equal(a, b) for a, b in zip(splits, own, strict=True)):
        raise errors.invalid("data and mask must have rows of the same lengths.")
    chosen = pick(rows, np.flatnonzero(flat._value))
    if not depth:
        return chosen
    ends = np.concatenate([[0], np.cumsum(flat._value)])[splits[-1]].astype(splits[-1].dtype)
    return RaggedTensor.from_nested_row_splits(chosen, map(tensor, [*splits[:-1], ends]))


def _ragged_or_tensor(value: Any) -> Any:
    return value if isinstance(value, RaggedTensor) else convert.to_tensor(value)


def _rank(x: Any) -> int:
    if isinstance(x, RaggedTensor):
        return x.ragged_rank + x.flat_values._value.ndim
    return x._value.ndim


def _levels(x: Any, depth: int) -> tuple[list[Any], Any]:
    """The ends of the rows on the outer axes, and what they are rows of."""
    splits = []
    for _ in range_(depth):
        if not isinstance(x, RaggedTensor):
            x = RaggedTensor.from_tensor(x)
        splits.append(x.row_splits._value)
        x = x.values
    return splits, x


def pick(x: Any, rows: Any, slices: bool = False) -> Any:
    """The rows with these numbers, of a tensor or a ragged one; with `slices`, so that the gradient
    of the values is `IndexedSlices`."""
    if not isinstance(x, RaggedTensor):
        b = tensor(rows)
        return gather.apply(x, b) if slices else take.apply(x, b, axis=0)
    starts, lengths = x.row_splits._value[:-1][rows], np.diff(x.row_splits._value)[rows]
    ends = np.concatenate([[0], np.cumsum(lengths)]).astype(starts.dtype)
    inner = np.arange(ends[-1]) + np.repeat(starts - ends[:-1], lengths)
    return RaggedTensor(pick(x.values, inner, slices), tensor(ends))


def map_flat_values(op: Any, *args: Any, **kwargs: Any) -> Any:
    """A function of the flat values, which keeps the rows.

    >>> import gradtape as tf
    >>> tf.ragged.map_flat_values(tf.square, tf.ragged.constant([[1, 2], [3]]))
    <tf.RaggedTensor [[1, 4], [9]]>
    """
    found = [x for x in nest.flatten([args, kwargs]) if isinstance(x, RaggedTensor)]
    if not found:
        return op(*args, **kwargs)
    first = found[0]
    for other in found[1:]:
        pairs = zip(first.nested_row_splits, other.nested_row_splits, strict=False)
        if first.ragged_rank != other.ragged_rank or any(
            not np.array_equal(a._value, b._value) for a, b in pairs
        ):
            raise errors.invalid(
                "tf.ragged.map_flat_values takes ragged tensors with rows of the same lengths."
            )
    bare = [nest.map_structure(_flat, part) for part in (list(args), kwargs)]
    made = op(*bare[0], **bare[1])
    count = len(first.flat_values)
    shape: Any = getattr(made, "shape", ())
    if not len(shape) or shape[0] != count:
        raise ValueError(
            "tf.ragged.map_flat_values requires that the output of `op` have the same "
            f"outer-dimension size as flat_values of any ragged inputs. (output shape: "
            f"{shape}; expected outer dimension size: {count})"
        )
    return first.with_flat_values(made)


def _flat(x: Any) -> Any:
    return x.flat_values if isinstance(x, RaggedTensor) else x


range_ = range


def range(
    starts: Any, limits: Any = None, deltas: Any = 1, dtype: Any = None, name: Any = None,
    row_splits_dtype: Any = dtypes.int64,
) -> RaggedTensor:  # fmt: skip
    """Rows of numbers from `starts` to below `limits`; with one argument, from 0.

    >>> import gradtape as tf
    >>> tf.ragged.range([3, 1])
    <tf.RaggedTensor [[0, 1, 2], [0]]>
    """
    if limits is None:
        starts, limits = 0, starts
    given = [_numbers(value, dtype) for value in (starts, limits, deltas)]
    kind = max((array.dtype for array in given), key=_KINDS.index)
    a, b, step = (array.astype(kind) for array in given)
    sizes = {array.shape for array in (a, b, step) if array.ndim} or {(1,)}
    if len(sizes) > 1:
        raise errors.invalid(
            "starts, limits, and deltas must have the same shape [Op:RaggedRange] name: "
        )
    a, b, step = (np.broadcast_to(array, next(iter(sizes))) for array in (a, b, step))
    if (step == 0).any():
        raise errors.invalid("Requires delta != 0 [Op:RaggedRange] name: ")
    counts = np.maximum(np.ceil((b - a) / step), 0).astype(np.int64)
    ends = np.concatenate([[0], np.cumsum(counts)])
    within = np.arange(ends[-1]) - np.repeat(ends[:-1], counts)
    values = np.repeat(a, counts) + within.astype(kind) * np.repeat(step, counts)
    splits = ends.astype(dtypes.as_dtype(row_splits_dtype).as_numpy_dtype)
    return RaggedTensor(tensor(values), tensor(splits))


_KINDS = [np.dtype(name) for name in ("int32", "int64", "float32", "float64")]


def _numbers(value: Any, dtype: Any) -> Any:
    array = np.asarray(convert.to_tensor(value)._value)
    if dtype is not None:
        array = array.astype(dtypes.as_dtype(dtype).as_numpy_dtype)
    if array.dtype not in _KINDS or array.ndim > 1:
        raise errors.invalid(
            "tf.ragged.range takes int32, int64, float32 or float64 numbers, or vectors of them; "
            f"got {value!r} [Op:RaggedRange] name: "
        )
    return array


def row_splits_to_segment_ids(splits: Any, name: Any = None, out_type: Any = None) -> Any:
    """For each value its row, from where the rows end.

    >>> import gradtape as tf
    >>> tf.ragged.row_splits_to_segment_ids([0, 2, 2, 3]).numpy().tolist()
    [0, 0, 2]
    """
    ends = convert.to_tensor(splits, hint=_INT64)._value
    if ends.dtype.name not in ("int32", "int64"):
        raise ValueError(f"splits must have dtype int32 or int64, got {ends.dtype.name}.")
    if ends.ndim != 1:
        raise ValueError(f"Shape {ends.shape} must have rank 1")
    if not len(ends):
        raise ValueError("Invalid row_splits: []")
    kind = ends.dtype if out_type is None else dtypes.as_dtype(out_type).as_numpy_dtype
    lengths = np.diff(ends)
    if lengths.max(initial=-1) < 0 < len(lengths):
        raise errors.invalid(f"Expected multiples[1] >= 0, but got {lengths.max()} [Op:Tile]")
    rows = np.repeat(np.arange(len(lengths)), np.maximum(lengths, 0))
    return tensor(rows.astype(kind))


def segment_ids_to_row_splits(
    segment_ids: Any, num_segments: Any = None, out_type: Any = None, name: Any = None
) -> Any:
    """Where the rows end, from the row of each value.

    >>> import gradtape as tf
    >>> tf.ragged.segment_ids_to_row_splits([0, 0, 2]).numpy().tolist()
    [0, 2, 2, 3]
    """
    ids = convert.to_tensor(segment_ids, hint=_INT64)._value
    if ids.dtype.kind not in "iu":
        raise TypeError(f"segment_ids must be of type integer, got {ids.dtype.name}.")
    if ids.size and ids.min() < 0:
        raise errors.invalid("Input arr must be non-negative! [Op:DenseBincount]")
    counts = np.bincount(ids)
    if num_segments is not None:
        given = convert.to_tensor(num_segments)
        if given._value.dtype.kind not in "iu":
            raise TypeError(f"num_segments must be of type integer, got {given.dtype.name}.")
        count = number(given)
        if count < 0:
            raise errors.invalid(f"size ({count}) must be non-negative [Op:DenseBincount]")
        counts = np.bincount(ids, minlength=count)[:count]  # rows beyond are left out
    kind = ids.dtype if out_type is None else dtypes.as_dtype(out_type).as_numpy_dtype
    return tensor(np.concatenate([[0], np.cumsum(counts)]).astype(kind))


def stack_dynamic_partitions(
    data: Any, partitions: Any, num_partitions: Any, name: Any = None
) -> RaggedTensor:
    """The rows of `data` by the part that each belongs to: row k holds those of part k.

    >>> import gradtape as tf
    >>> tf.ragged.stack_dynamic_partitions(["a", "b", "c"], [1, 0, 1], 2)
    <tf.RaggedTensor [[b'b'], [b'a', b'c']]>
    """
    x, parts = _ragged_or_tensor(data), convert.to_tensor(partitions)._value
    if parts.dtype.kind == "O":
        raise errors.UnimplementedError(
            None, None, "Cast int32 to string is not supported; partitions are whole numbers "
            "[Op:Cast]",
        )  # fmt: skip
    if parts.dtype.kind == "b":
        raise convert.wrong_dtype(elementwise.maximum, parts.dtype)
    if parts.dtype.name not in ("int32", "int64"):
        raise ValueError(f"value_rowids must have dtype int32 or int64, got {parts.dtype.name}.")
    if list(x.shape)[: parts.ndim] != list(parts.shape):
        raise ValueError(f"Shapes {parts.shape} and {x.shape} are incompatible")
    if parts.ndim != 1 and isinstance(x, RaggedTensor):
        raise NotImplementedError("tf.ragged.stack_dynamic_partitions of ragged parts.")
    if parts.ndim != 1:
        x, parts = arrays.reshape(x, [parts.size, *x.shape[parts.ndim :]]), parts.reshape(-1)
    count = number(num_partitions)
    if ((parts < 0) | (parts >= count)).any():
        raise errors.invalid(f"partitions must be in [0, {count}), got {parts.tolist()}.")
    order = np.argsort(parts, kind="stable")
    return RaggedTensor.from_value_rowids(pick(x, order), tensor(parts[order]), nrows=count)


# --- stacks ---------------------------------------------------------------------------------------
def stack(values: Any, axis: Any = 0, name: Any = None) -> Any:
    """Tensors of any sizes beside each other along a new axis.

    >>> import gradtape as tf
    >>> tf.ragged.stack([[1, 2], [3, 4, 5]])
    <tf.RaggedTensor [[1, 2], [3, 4, 5]]>
    """
    given = values if isinstance(values, (list, tuple)) else [values]
    if not given:
        raise ValueError("rt_inputs may not be empty.")
    parts = [_ragged_or_tensor(value) for value in given]
    rank = _rank(parts[0])
    for part in parts:
        if _rank(part) != rank:
            raise ValueError(f"Shape {part.shape} must have rank {rank}")
    if not isinstance(axis, int):
        raise TypeError(f"axis must be an int; got {type(axis).__name__}")
    place = axis
    if not -rank - 1 <= place <= rank:
        raise ValueError(f"axis={place} out of bounds: expected {-rank - 1}<=axis<{rank + 1}")
    return _stacked(parts, place % (rank + 1), rank)


def _stacked(parts: list, axis: int, rank: int) -> Any:
    dense = not any(isinstance(part, RaggedTensor) for part in parts)
    if dense and rank == 1 and axis == 0:
        parts = matching("ConcatV2", parts, "concat")
        ends = np.cumsum([0, *[len(part) for part in parts]]).astype(np.int32)  # as TensorFlow's
        return RaggedTensor(concat.apply(*parts, axis=-1), tensor(ends))
    if dense and axis >= rank - 1:
        return arrays.stack(parts, axis)
    depth = max(part.ragged_rank if isinstance(part, RaggedTensor) else 1 for part in parts)
    parts = [_deepened(part, depth) for part in parts]
    if axis > 1:
        _same_ends(parts)
        inner = _stacked([part.values for part in parts], axis - 1, rank - 1)
        return parts[0].with_values(inner)
    joined = _joined(parts)
    if axis == 0:
        return RaggedTensor(joined, np.cumsum([0, *[len(part) for part in parts]]))
    rows = len(parts[0])
    if any(len(part) != rows for part in parts):
        raise errors.invalid("Input tensors have incompatible shapes: other numbers of rows.")
    order = np.arange(rows * len(parts)).reshape(len(parts), rows).T.reshape(-1)
    return RaggedTensor(pick(joined, order), np.arange(rows + 1) * len(parts))


def _same_ends(parts: list) -> None:
    ends = parts[0].row_splits._value
    if any(not np.array_equal(part.row_splits._value, ends) for part in parts):
        raise errors.invalid("Inputs must have identical ragged splits")


def _deepened(x: Any, depth: int) -> Any:
    """With ragged axes down to this depth."""
    if not depth:
        return x
    x = x if isinstance(x, RaggedTensor) else RaggedTensor.from_tensor(x)
    return x.with_values(_deepened(x.values, depth - 1)) if depth > x.ragged_rank else x


def _joined(parts: list) -> Any:
    """All rows of ragged tensors of one depth, one after the other."""
    if not isinstance(parts[0], RaggedTensor):
        return concat.apply(*parts, axis=-parts[0]._value.ndim)
    lengths = [np.diff(part.row_splits._value) for part in parts]
    ends = np.cumsum(np.concatenate([[0], *lengths])).astype(parts[0].row_splits._value.dtype)
    return RaggedTensor(_joined([part.values for part in parts]), tensor(ends))


# --- what the functions of tensors hand over ------------------------------------------------------
def joined(values: Any, axis: Any) -> Any:
    """`tf.concat` of tensors of which some are ragged."""
    parts = [_ragged_or_tensor(value) for value in values]
    if len(parts) == 1:
        return parts[0]
    rank, place = _rank(parts[0]), number(axis)
    if any(_rank(part) != rank for part in parts):
        raise ValueError(f"tf.concat takes tensors of one rank, got {list(map(_rank, parts))}")
    if not -rank <= place < rank:
        raise ValueError(f"axis={place} out of bounds: expected {-rank}<=axis<{rank}")
    return _concat(parts, place % rank)


def _concat(parts: list, axis: int) -> Any:
    if not any(isinstance(part, RaggedTensor) for part in parts):
        return concat.apply(*parts, axis=axis - parts[0]._value.ndim)
    depth = max(part.ragged_rank for part in parts if isinstance(part, RaggedTensor))
    parts = [_deepened(part, depth) for part in parts]
    if axis == 0:
        return _joined(parts)
    if axis == 1:  # each row's parts, one after the other, as one
        rows = _stacked(parts, 1, _rank(parts[0]))
        ends = rows.values.row_splits._value[rows.row_splits._value]
        return RaggedTensor(rows.values.values, tensor(ends))
    _same_ends(parts)
    return parts[0].with_values(_concat([part.values for part in parts], axis - 1))


def gathered(params: Any, indices: Any, axis: Any, batch_dims: Any) -> Any:
    """`tf.gather` where the table or the numbers of rows are ragged."""
    if axis not in (None, 0) and not batch_dims and not isinstance(params, RaggedTensor):
        return _along(convert.to_tensor(params), indices, number(axis))
    if axis not in (None, 0) or batch_dims:
        raise NotImplementedError(
            "tf.gather of a RaggedTensor takes rows, axis=0 and batch_dims=0; for others use "
            "x.flat_values and x.row_splits, or x.to_tensor()"
        )
    table, places = _ragged_or_tensor(params), _ragged_or_tensor(indices)
    if isinstance(places, RaggedTensor):
        found = gathered(table, places.flat_values, axis, batch_dims)
        return RaggedTensor.from_nested_row_splits(found, places.nested_row_splits)
    if not isinstance(table, RaggedTensor):
        return arrays.gather(table, places)
    wanted = places._value
    if wanted.size and not 0 <= wanted.min() <= wanted.max() < len(table):
        raise errors.invalid(f"indices {wanted.tolist()} are not all in [0, {len(table)})")
    if not wanted.ndim:
        return table[int(wanted)]
    found = pick(table, wanted.reshape(-1), slices=True)
    for size, count in zip(wanted.shape[:0:-1], np.cumprod(wanted.shape)[-2::-1], strict=True):
        found = RaggedTensor(found, np.arange(count + 1) * size)
    return found


def _along(table: Any, places: RaggedTensor, axis: int) -> RaggedTensor:
    """Entries of a dense table along a later axis: the ragged rows stand in its place."""
    shape = table._value.shape
    axis = axis % len(shape) if -len(shape) <= axis < len(shape) else axis
    found = arrays.gather(table, places.flat_values, axis=axis)
    outer, inner = shape[:axis], found._value.shape[axis + 1 :]
    flat = arrays.reshape(found, (-1, *inner) if found._value.size else (0, *inner))
    counts = np.cumprod(outer)
    dtype = places.row_splits._value.dtype
    rows = zip(counts.tolist(), [*outer[1:], len(places)], strict=True)
    splits = [even(count, length, dtype) for count, length in rows]
    for ends in places.nested_row_splits:
        ends = ends._value
        copies = np.arange(counts[-1], dtype=dtype)[:, None] * ends[-1] + ends[1:]
        splits.append(tensor(np.insert(copies.reshape(-1), 0, 0)))
    return RaggedTensor.from_nested_row_splits(flat, splits)
