"""Entries taken by number, by place or by a mask, and put where numbers say: gather and scatter."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from .. import dtypes, errors
from ..core.apply import tensor
from ..core.op import Op
from ..core.record import Value
from ..framework import convert
from ..framework.arguments import alike, as_input, integer, listed, matching, number, typed, word
from ..ops import compare, elementwise, index, rows, scatter, sort
from ..ops import reduce as reduce_ops
from ..ops import shape as shape_ops

_NUMBERS = frozenset(map(np.dtype, ("int32", "int64")))


# What the ops are declared for beside int32 and int64, and those that have no kernel for it.
_SHORT = {
    "GatherV2": ("int16",), "GatherNd": ("int16",), "ScatterNd": ("int16",),
    "TensorScatterUpdate": ("int16", "uint16"),
}  # fmt: skip
_NO_SHORT = ("ScatterNd", "TensorScatterUpdate")


def _places(indices: Any, label: str) -> Any:
    """A tensor of whole numbers, or TensorFlow's error about its dtype."""
    b = convert.to_tensor(indices)
    if b._value.dtype not in _NUMBERS:
        if b._value.dtype.name in _SHORT.get(label, ()):
            if label in _NO_SHORT:
                raise errors.no_kernel(label, b.dtype.name)
            return shape_ops.cast.apply(b, dtype=np.dtype(np.int64))
        raise errors.wrong_dtype(
            f"Value for attr 'Tindices' of {convert.c_name(b._value.dtype)} is not in the list of "
            f"allowed values: int16, int32, int64; indices are whole numbers, got {indices!r} "
            f"[Op:{label}]"
        )
    return b


# --- gather ---------------------------------------------------------------------------------------
def gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    axis: Any = None,
    batch_dims: Any = 0,
    name: str | None = None,
) -> Any:
    """The entries with these numbers along an axis.

    Along the first axis the gradient is `IndexedSlices`: only the rows that were taken.

    >>> import gradtape as tf
    >>> tf.gather([10, 20, 30], [2, 0])
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([30, 10], dtype=int32)>
    """
    if convert.is_ragged(params) or convert.is_ragged(indices):
        from ..ragged.functions import gathered

        return gathered(params, indices, axis, batch_dims)
    x = convert.to_tensor(params)
    b = _places(indices, "ResourceGather" if hasattr(params, "_read") else "GatherV2")
    if batch_dims is None:
        raise convert.unsupported(batch_dims)
    batch = integer(batch_dims, "batch_dims", compares=True)
    axis = batch if axis is None else number(typed(axis, "GatherV2"), "GatherV2", plain=True)
    ndim, depth = x._value.ndim, b._value.ndim
    if not ndim:
        raise errors.invalid("params must be at least 1 dimensional [Op:GatherV2]")
    if not -ndim <= axis < ndim:
        raise errors.invalid(
            f"Shape must be at least rank {axis + 1 if axis >= 0 else -axis} but is rank {ndim}: "
            f"axis must be in [-{ndim}, {ndim}) [Op:GatherV2]"
        )
    if axis == 0:
        # As TensorFlow, which along the first axis pays no heed to batch_dims.
        return index.gather.apply(x, b)
    if not batch:
        return index.take.apply(x, b, axis=axis)
    batch = batch + depth if batch < 0 else batch
    axis %= ndim
    _check_batch(x._value.shape, b._value.shape, axis, batch)
    return index.gather_batch.apply(x, b, axis=axis, batch=batch)


def _check_batch(shape: tuple[int, ...], places: tuple[int, ...], axis: int, batch: int) -> None:
    if not 0 <= batch <= len(places) or batch >= len(shape):
        raise errors.invalid(
            f"Shape must be at least rank {batch + 1} but is rank {len(shape)}: batch_dims must be "
            f"at most the rank of the indices ({len(places)}) and less than the rank of params "
            "[Op:GatherV2]"
        )
    if axis < batch:
        raise errors.invalid(
            f"batch_dims ({batch}) must be less than or equal to axis ({axis}) [Op:GatherV2]"
        )
    for k in range(batch):
        if shape[k] != places[k]:
            raise errors.invalid(
                f"params.shape[{k}]: {shape[k]} should be equal to indices.shape[{k}]: {places[k]} "
                "[Op:GatherV2]"
            )


_POLICIES = ("", "DEFAULT", "ERROR", "IGNORE")


def gather_nd(
    params: Any,
    indices: Any,
    batch_dims: Any = 0,
    name: str | None = None,
    bad_indices_policy: str = "",
) -> Any:
    """The entries or blocks at these coordinates, one row of coordinates each."""
    if isinstance(batch_dims, str):
        raise ValueError(f"`batch_dims` must be a whole number, got {batch_dims!r}.")
    batch, x = integer(batch_dims, "batch_dims"), convert.to_tensor(params)
    _nd_batch(batch, x._value.ndim, convert.to_tensor(indices)._value.ndim)
    b = _places(indices, "ResourceGatherNd" if hasattr(params, "_read") else "GatherNd")
    policy = word(bad_indices_policy, "bad_indices_policy", _POLICIES, "GatherNd", "DEFAULT")
    if not b._value.ndim:
        raise errors.invalid("indices must be at least a vector [Op:GatherNd]")
    if not x._value.ndim:
        raise errors.invalid("params must be at least a vector [Op:GatherNd]")
    if batch:
        b = _with_batch(b, x._value.shape[:batch])
    shape, depth = x._value.shape, b._value.shape[-1]
    if depth > len(shape):
        raise errors.invalid(
            f"index innermost dimension length must be <= params rank; saw: {depth} vs. "
            f"{len(shape)} [Op:GatherNd]"
        )
    if not shape:
        raise errors.invalid("params must be at least a vector [Op:GatherNd]")
    if not x._value.size and math.prod(b._value.shape[:-1]):
        raise errors.invalid("Requested more than 0 entries, but params is empty. [Op:GatherNd]")
    lost = None
    if policy == "IGNORE":
        sizes = np.array(shape[:depth])
        lost = convert.computed(
            lambda b: ((b < 0) | (b >= sizes)).any(axis=-1, keepdims=True), b._value
        )
        b = tensor(convert.computed(lambda lost, b: np.where(lost, 0, b), lost, b._value))
    if depth == 1 and b._value.ndim == 2 and lost is None and not batch:
        # One number for each row: a gather, whose gradient stays in rows.
        y = index.gather_rows.apply(x, shape_ops.reshape.apply(b, shape=b._value.shape[:-1]))
    else:
        y = _at_coordinates(x, b, depth)
    if lost is None:
        return y
    shape = lost.shape[:-1] + (1,) * (y._value.ndim - lost.ndim + 1)
    gone = shape_ops.reshape.apply(tensor(lost), shape=shape)
    return index.select.apply(gone, tensor(y._value.dtype.type(0)), y)


def _nd_batch(batch: int, ndim: int, places: int) -> None:
    if batch < 0:
        raise ValueError(f"tf.gather_nd does not allow negative batch_dims, got {batch}.")
    for name, rank in (("params", ndim), ("indices", places)):
        if batch and batch >= rank:
            raise ValueError(
                f"Argument `batch_dims` = {batch} must be less than rank(`{name}`) = {rank}"
            )


def _at_coordinates(x: Any, b: Any, depth: int) -> Any:
    shape = x._value.shape
    flat = scatter.flat_index.apply(b, shape=shape[:depth], of="GatherNd")
    table = shape_ops.reshape.apply(x, shape=(math.prod(shape[:depth]), *shape[depth:]))
    return index.take.apply(table, flat, axis=0)


def _with_batch(b: Any, batch: tuple[int, ...]) -> Any:
    """The coordinates with those of the batch in front."""
    shape = b._value.shape
    if shape[: len(batch)] != batch:
        raise errors.invalid(
            f"the first {len(batch)} axes of params {list(batch)} and of indices "
            f"{list(shape[: len(batch)])} must agree [Op:GatherNd]"
        )
    grid = np.indices(batch, sparse=False, dtype=b._value.dtype)
    grid = np.moveaxis(grid, 0, -1).reshape(*batch, *(1,) * (len(shape) - 1 - len(batch)), -1)
    grid = np.broadcast_to(grid, (*shape[:-1], len(batch)))
    return shape_ops.concat.apply(tensor(grid), b, axis=-1)


def embedding_lookup(params: Any, ids: Any, max_norm: Any = None, name: str | None = None) -> Any:
    """Rows of a table of embeddings, shortened to `max_norm` if given.

    Its gradient is `IndexedSlices`: a large table is never filled with zeros.
    """
    if isinstance(params, (list, tuple)):
        if not params:
            raise ValueError("Length of params is currently 0. Need at least one param.")
        if len(params) != 1:
            parts = matching("ConcatV2", params)
            _check_parts([len(part._value) for part in parts])
            params = shape_ops.concat.apply(*parts, axis=-parts[0]._value.ndim)
        else:
            params = params[0]
    if convert.is_ragged(ids):
        return ids.with_flat_values(embedding_lookup(params, ids.flat_values, max_norm))
    x, b = convert.to_tensor(params), _places(ids, "GatherV2")
    y = index.gather.apply(x, b)
    return y if max_norm is None else _shorten(y, max_norm, b._value.ndim)


def _check_parts(sizes: list[int]) -> None:
    """A table in parts has them equally long, but for one row more in the first ones."""
    each, more = divmod(sum(sizes), len(sizes))
    if sizes != [each + (k < more) for k in range(len(sizes))]:
        raise errors.invalid(
            f"the parts of `params` must be equally long, the first ones by one row longer if "
            f"need be, got {sizes} rows [Op:GatherV2]"
        )


def _shorten(y: Any, max_norm: Any, lead: int) -> Any:
    from ..math.clipping import limit_of

    if y._value.dtype.kind in "bO":
        raise convert.wrong_dtype(elementwise.mul, y._value.dtype)
    if y._value.dtype.kind in "iu":
        raise convert.wrong_dtype(elementwise.sqrt, y._value.dtype)
    limit = limit_of(max_norm, y._value.dtype)
    axes = tuple(range(lead - y._value.ndim, 0))
    total = reduce_ops.sum.apply(elementwise.mul.apply(y, y), axis=axes, keepdims=True)
    zero, one = tensor(y._value.dtype.type(0)), tensor(y._value.dtype.type(1))
    positive = compare.greater.apply(total, zero)
    # The root of a harmless number where the norm is 0, whose derivative would be infinite.
    root = elementwise.sqrt.apply(index.select.apply(positive, total, one))
    norm = index.select.apply(positive, root, total)
    longest = elementwise.maximum.apply(norm, limit)
    return elementwise.div.apply(elementwise.mul.apply(y, limit), longest)


# --- masks ----------------------------------------------------------------------------------------
def boolean_mask(tensor: Any, mask: Any, axis: Any = None, name: str = "boolean_mask") -> Any:
    """The entries where the mask is true, in one axis instead of the mask's."""
    x, b = convert.to_tensor(tensor), convert.to_tensor(mask)
    start = 0 if axis is None else integer(axis, "axis")
    if not b._value.ndim:
        raise ValueError("mask cannot be scalar.")
    if b._value.dtype.kind == "O":
        raise convert.wrong_dtype(_NUMBERS_ONLY, b._value.dtype)
    part = x._value.shape[start : start + b._value.ndim] if start >= 0 else ()
    if part != b._value.shape:
        raise ValueError(
            f"Shapes {part} and {b._value.shape} are incompatible: a mask has one truth value for "
            f"each entry of the tensor's axes from {start} on, and TensorFlow does not count this "
            "axis from the end"
        )
    return index.mask.apply(x, b, axis=start)


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """x where the condition holds and y elsewhere; of a condition alone, the places where it does.

    Both branches are computed, so a derivative that is infinite or nan in the one not chosen still
    spoils the gradient (0 * inf = nan): choose safe numbers before the dangerous function.

    >>> import gradtape as tf
    >>> tf.where([True, False], 1.0, [2.0, 3.0])
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 3.], dtype=float32)>
    """
    if x is None and y is None:
        return _places_where(condition)
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    if isinstance(condition, Value) or hasattr(condition, "_read"):
        a = convert.to_tensor(condition)
        if a._value.dtype.kind != "b":
            if not all(convert.quickly(v) for v in (x, y)):
                convert.to_tensor(a, np.dtype(bool))
            raise errors.wrong_dtype(
                "cannot compute SelectV2 as input #0(zero-based) was expected to be a bool tensor "
                f"but is a {convert.c_name(a._value.dtype)} tensor; write x != 0 [Op:SelectV2]"
            )
    else:
        a = convert.to_tensor(condition, np.dtype(bool))
    b, c = _branches(condition, x, y)
    try:
        return index.select.apply(a, b, c)
    except (errors.InvalidArgumentError, ValueError):
        raise errors.invalid(
            f"condition {list(a._value.shape)}, then {list(b._value.shape)}, and else "
            f"{list(c._value.shape)} must be broadcastable [Op:SelectV2]"
        ) from None


def _branches(condition: Any, x: Any, y: Any) -> Any:
    try:
        return matching("SelectV2", [x, y], beside=[condition])
    except errors.of_dtypes() as error:
        # The condition is TensorFlow's input #0.
        raise errors.wrong_dtype(str(error).replace("input #1", "input #2")) from None


def _places_where(condition: Any) -> Any:
    a = convert.to_tensor(condition)
    if a._value.dtype.kind == "O":
        raise convert.wrong_dtype(_NUMBERS_ONLY, a._value.dtype)
    if not a._value.ndim:
        raise errors.invalid("WhereOp : Unhandled input dimensions: 0 [Op:Where]")
    return sort.where_true.apply(a)


class _NumbersOnly:
    label, takes = "Where", "biufcV"


_NUMBERS_ONLY: Any = _NumbersOnly()


# --- scatter --------------------------------------------------------------------------------------
def _coordinates(
    indices: Any, updates: Any, shape: tuple[int, ...], op: str, policy: str = ""
) -> tuple:
    """Checked: (numbers of rows, updates as rows, shape of the table of rows)."""
    b = _places(indices, op)
    if op != "ScatterNd":
        if not updates._value.ndim:
            raise errors.at_run(f"Updates shape must have rank at least one. Found:[] [Op:{op}]")
        if updates._value.size and not b._value.size:
            raise errors.invalid(f"Indices and updates specified for empty output [Op:{op}]")
    if not b._value.ndim:
        raise errors.invalid(f"Indices shape must have rank at least one. Found: [] [Op:{op}]")
    depth = b._value.shape[-1]
    outer, inner = b._value.shape[:-1], shape[depth:]
    if depth > len(shape):
        raise errors.invalid(
            f"Index depth {depth} must be at most the rank {len(shape)} of shape {list(shape)} "
            f"[Op:{op}]"
        )
    given = updates._value.shape
    if given != outer + inner:
        n = len(outer)
        if given[:n] != outer or len(given) < n:
            said = (
                f"Dimensions [0,{n}) of indices[shape={list(b._value.shape)}] must match "
                f"dimensions [0,{n}) of updates[shape={list(given)}]"
                if op == "ScatterNd"
                else "Outer dimensions of indices and update must match. Indices shape: "
                f"{list(b._value.shape)}, updates shape:{list(given)}"
            )
        else:
            said = f"updates must have shape {list(outer + inner)}, got {list(given)}"
        raise errors.invalid(f"{said} [Op:{op}]")
    count = math.prod(outer)
    updates = shape_ops.reshape.apply(updates, shape=(count, *inner))
    policy = word(policy, "bad_indices_policy", _POLICIES, op, "DEFAULT")
    if policy == "IGNORE":
        inside = ((b._value >= 0) & (b._value < np.array(shape[:depth]))).all(axis=-1)
        kept = tensor(np.flatnonzero(inside))
        count = kept._value.size
        b, updates = tensor(b._value[inside]), index.take.apply(updates, kept, axis=0)
    flat = scatter.flat_index.apply(b, shape=shape[:depth], of=op)
    flat = shape_ops.reshape.apply(flat, shape=(count,))
    return flat, updates, (math.prod(shape[:depth]), *inner)


def scatter_nd(
    indices: Any, updates: Any, shape: Any, bad_indices_policy: str = "", name: str | None = None
) -> Any:
    """Zeros of a shape with the updates added at the coordinates.

    Differs from TensorFlow: also of ignored coordinates (`bad_indices_policy="IGNORE"`) there is a
    gradient, 0, where TensorFlow's fails.

    >>> import gradtape as tf
    >>> tf.scatter_nd([[0], [2], [2]], [1, 2, 3], [4])
    <tf.Tensor: shape=(4,), dtype=int32, numpy=array([1, 0, 5, 0], dtype=int32)>
    """
    u = convert.to_tensor(updates)
    if getattr(indices, "dtype", None) == dtypes.int16:
        _places(indices, "ScatterNd")
    _, sizes = alike((indices, shape), "ScatterNd", "Tindices")
    if sizes.ndim != 1:
        raise errors.invalid(f"Shape must be a vector, got {shape!r} [Op:ScatterNd]")
    size = tuple(sizes.tolist())
    flat, parts, table = _coordinates(indices, u, size, "ScatterNd", bad_indices_policy)
    if u._value.dtype.kind == "O":
        y = scatter.set_rows.apply(tensor(np.full(table, b"", object)), flat, parts)
    else:
        y = rows.add_rows.apply(parts, flat, shape=table)
    return shape_ops.reshape.apply(y, shape=size)


def _scattered(
    tensor: Any, indices: Any, updates: Any, op: Op, label: str, policy: str = ""
) -> Any:
    x, u = _table(tensor, indices, updates, label, "" if op is scatter.set_rows else "bcO")
    flat, parts, table = _coordinates(indices, u, x._value.shape, label, policy)
    y = op.apply(shape_ops.reshape.apply(x, shape=table), flat, parts)
    return shape_ops.reshape.apply(y, shape=x._value.shape)


def tensor_scatter_nd_update(
    tensor: Any, indices: Any, updates: Any, name: str | None = None
) -> Any:
    """The tensor with the updates instead of what it had at the coordinates."""
    return _scattered(tensor, indices, updates, scatter.set_rows, "TensorScatterUpdate")


def tensor_scatter_nd_add(
    tensor: Any, indices: Any, updates: Any, bad_indices_policy: str = "", name: str | None = None
) -> Any:
    """The tensor with the updates added at the coordinates."""
    return _added(tensor, indices, updates, elementwise.add, "TensorScatterAdd", bad_indices_policy)


def tensor_scatter_nd_sub(
    tensor: Any, indices: Any, updates: Any, bad_indices_policy: str = "", name: str | None = None
) -> Any:
    """The tensor with the updates subtracted at the coordinates."""
    return _added(tensor, indices, updates, elementwise.sub, "TensorScatterSub", bad_indices_policy)


def _added(tensor: Any, indices: Any, updates: Any, op: Op, label: str, policy: str) -> Any:
    x, u = _table(tensor, indices, updates, label, "bO")
    flat, parts, table = _coordinates(indices, u, x._value.shape, label, policy)
    total = rows.add_rows.apply(parts, flat, shape=table)
    return op.apply(x, shape_ops.reshape.apply(total, shape=x._value.shape))


def tensor_scatter_nd_max(
    tensor: Any, indices: Any, updates: Any, bad_indices_policy: str = "", name: str | None = None
) -> Any:
    """At the coordinates the greater of the tensor and the updates."""
    op, label = scatter.max_rows, "TensorScatterMax"
    return _scattered(tensor, indices, updates, op, label, bad_indices_policy)


def tensor_scatter_nd_min(
    tensor: Any, indices: Any, updates: Any, bad_indices_policy: str = "", name: str | None = None
) -> Any:
    """At the coordinates the lesser of the tensor and the updates."""
    op, label = scatter.min_rows, "TensorScatterMin"
    return _scattered(tensor, indices, updates, op, label, bad_indices_policy)


def _table(tensor: Any, indices: Any, updates: Any, label: str, kinds: str) -> list[Any]:
    """The tensor and its updates; before TensorFlow compares their dtypes it looks at that of the
    indices, and whether there is a kernel, which there is not for these kinds of numbers."""
    try:
        found = matching(label, [tensor, updates], beside=[indices])
    except errors.of_dtypes():
        found = [convert.to_tensor(tensor)]
        if found[0]._value.dtype.kind not in kinds:
            raise
    _places(indices, label)
    if found[0]._value.dtype.kind in kinds:
        raise errors.no_kernel(label, found[0].dtype.name)
    return found


# --- parts by number ------------------------------------------------------------------------------
def dynamic_partition(
    data: Any, partitions: Any, num_partitions: Any, name: str | None = None
) -> list[Any]:
    """The entries of `data` dealt into lists, each to the list with its number."""
    x, b = convert.to_tensor(data), as_input(partitions, np.int32, "DynamicPartition")
    shape, count = b._value.shape, integer(num_partitions, "num_partitions")
    if count < 1:
        raise errors.invalid(
            f"Value for attr 'num_partitions' of {count} must be at least minimum 1 "
            "[Op:DynamicPartition]"
        )
    if x._value.shape[: len(shape)] != shape:
        raise errors.invalid(
            f"data.shape must start with partitions.shape, got data.shape = "
            f"{list(x._value.shape)}, partitions.shape = {list(shape)} [Op:DynamicPartition]"
        )
    convert.examine(partial(_check_partitions, count), b._value)
    times = lambda numbers: np.bincount(numbers.reshape(-1), minlength=count)
    sizes = tuple(convert.computed(times, b._value).tolist())
    entries = shape_ops.reshape.apply(x, shape=(b._value.size, *x._value.shape[len(shape) :]))
    dealt = index.take.apply(entries, index.partition_places.apply(b), axis=0)
    return list(shape_ops.split.apply(dealt, sizes=sizes, axis=-dealt._value.ndim))


def _check_partitions(count: int, numbers: Any) -> None:
    if numbers.size and not 0 <= numbers.min() <= numbers.max() < count:
        raise errors.at_run(
            f"partitions must be in [0, {count}), got {np.ravel(numbers).tolist()} "
            "[Op:DynamicPartition]"
        )


def _taken_apart(values: Any) -> bool:
    """Whether TensorFlow's op takes the values of a list, or the rows of a tensor, as they are."""
    plain = isinstance(values, (list, tuple)) and all(map(convert.quickly, values))
    return plain or (convert.is_tensor_like(values) and bool(values.shape.rank))


def dynamic_stitch(indices: Any, data: Any, name: str | None = None) -> Any:
    """Entries put together by their numbers; where two have the same, the later one stays."""
    quick = _taken_apart(indices) and _taken_apart(data)
    if quick:
        places, data = [as_input(b, np.int32, "DynamicStitch") for b in indices], list(data)
    else:
        if convert.is_tensor_like(indices):
            as_input(indices, np.int32, "DynamicStitch")
        listed(indices, "indices", "dynamic_stitch")
        places = [convert.to_tensor(b, np.dtype(np.int32)) for b in indices]
        listed(data, "data", "dynamic_stitch")
    if not places:
        raise errors.invalid("Value for attr 'N' of 0 must be at least 1 [Op:DynamicStitch]")
    if len(data) != len(places):
        message = (
            f"List argument 'data' to 'dynamic_stitch' Op with length {len(data)} must match "
            f"length {len(places)} of argument 'indices'."
        )
        raise errors.invalid(message) if quick else ValueError(message)
    parts = matching("DynamicStitch", data, beside=indices)
    flat, entries = [], []
    for b, x in zip(places, parts, strict=True):
        depth, shape = b._value.ndim, x._value.shape
        if shape[:depth] != b._value.shape:
            raise errors.invalid(
                f"data.shape = {list(shape)} does not start with indices.shape = "
                f"{list(b._value.shape)} [Op:DynamicStitch]"
            )
        flat.append(shape_ops.reshape.apply(b, shape=(b._value.size,)))
        entries.append(shape_ops.reshape.apply(x, shape=(b._value.size, *shape[depth:])))
    all_places = shape_ops.concat.apply(*flat, axis=-1)
    convert.examine(_check_places, all_places._value)
    size = int(convert.computed(lambda places: places.max(initial=-1), all_places._value)) + 1
    rows_ = shape_ops.concat.apply(*entries, axis=-entries[0]._value.ndim)
    nothing = b"" if rows_._value.dtype == object else 0
    zeros = tensor(np.full((size, *rows_._value.shape[1:]), nothing, rows_._value.dtype))
    return scatter.set_rows.apply(zeros, all_places, rows_)


def _check_places(places: Any) -> None:
    if (places < 0).any():
        raise errors.invalid(
            f"indices[{int(np.argmax(places < 0))}] is out of range [Op:DynamicStitch]"
        )
