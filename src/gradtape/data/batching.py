"""Elements side by side: batch, padded_batch, ragged_batch, and back: unbatch, rebatch."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from .. import errors
from ..core.apply import tensor
from ..framework import convert
from ..framework.shapes import TensorShape, TensorSpec
from ..ragged.tensor import RaggedTensorSpec
from ..sparse.tensor import SparseTensor, SparseTensorSpec
from . import leaves, structure
from .node import INFINITE, UNKNOWN, Element, Node, Order, Table, plain
from .selecting import Step


class Batch(Step):
    """So many elements as one."""

    label = "_BatchDataset"

    def __init__(self, before: Node, size: int, drop: bool, ragged: Any = None) -> None:
        super().__init__(before)
        if size < 1:
            raise errors.invalid("Batch size must be greater than zero. [Op:BatchDatasetV2] name: ")
        self._size, self._drop = size, drop
        self._ragged = ragged  # the dtype of row splits, where sizes that differ make rows

    def _parts(self) -> Any:
        """The specs of what is put side by side."""
        spec = self.before.spec()
        if self._ragged is None:
            return spec
        return structure.map_leaves(lambda one: _ragged(one, self._ragged), spec)

    def spec(self) -> Any:
        size = self._size if self._drop else None
        return structure.map_leaves(lambda one: structure.batched(one, size), self._parts())

    def cardinality(self) -> int:
        n = self.before.cardinality()
        if n in (INFINITE, UNKNOWN):
            return n
        return n // self._size if self._drop else -(-n // self._size)

    def elements(self) -> Iterator[Element]:
        table = self.before.table() if self._ragged is None else None
        if table is None:
            return self._stacked(self.before.elements())
        return self._gathered(table, table.order())

    def _gathered(self, table: Table, order: Order) -> Iterator[Element]:
        """Whole batches of rows: 20 ns a row of 64 floats, where stacking takes 300."""
        for low, rows in regrouped(order, self._size):
            if len(rows) < self._size and self._drop:
                return
            if low is not None and table.plain:  # rows as they stand: no copy
                yield [tensor(column[low : low + len(rows)]) for column in table.columns]
            else:
                yield [tensor(column.take(rows, axis=0)) for column in table.columns]

    def _stacked(self, elements: Iterator[Element]) -> Iterator[Element]:
        specs = None
        while group := list(islice(elements, self._size)):
            if len(group) < self._size and self._drop:
                return
            if specs is None:
                specs = structure.flatten(self._parts())
            yield batch(group, specs)


def regrouped(order: Order, size: int) -> Iterator[tuple[int | None, np.ndarray]]:
    """Numbers of rows in groups of one size; with the first one, where they stand in a row."""
    left: list[np.ndarray] = []
    have = 0
    for piece in order:
        left.append(piece)
        have += len(piece)
        if have < size:
            continue
        rows = np.concatenate(left) if len(left) > 1 else piece
        for low in range(0, have - size + 1, size):
            yield int(rows[low]), rows[low : low + size]
        left, have = [rows[have - have % size :]], have % size
    if have:
        rows = np.concatenate(left)
        yield int(rows[0]), rows


def batch(group: list[Element], specs: list[Any]) -> Element:
    """One element of several."""
    parts = zip(specs, zip(*group, strict=True), strict=True)
    return [leaves.batch(list(part), spec, k) for k, (spec, part) in enumerate(parts)]


def _ragged(spec: Any, splits: Any) -> Any:
    """The description of a tensor, some sizes of which differ from element to element."""
    if not isinstance(spec, TensorSpec) or spec.shape.rank is None:
        return spec
    if spec.shape.is_fully_defined():
        return spec
    depth = max(axis for axis, size in enumerate(spec.shape) if size is None)
    return RaggedTensorSpec(spec.shape, spec.dtype, depth, splits)


class SparseBatch(Step):
    """So many elements as the rows of a sparse tensor."""

    label = "_DenseToSparseBatchDataset"

    def __init__(self, before: Node, size: int, row_shape: Any) -> None:
        super().__init__(before)
        spec = before.spec()
        if not isinstance(spec, TensorSpec):
            raise TypeError(
                "`dense_to_sparse_batch` requires an input dataset whose elements have a single "
                f"component, but the given dataset has {spec}."
            )
        self._size, self._row = size, _shape(row_shape)

    def spec(self) -> Any:
        dtype = self.before.spec().dtype
        return SparseTensorSpec(TensorShape([None]).concatenate(self._row), dtype)

    def cardinality(self) -> int:
        n = self.before.cardinality()
        return n if n in (INFINITE, UNKNOWN) else -(-n // self._size)

    def run(self, elements: Iterator[Element]) -> Iterator[Element]:
        while group := list(islice(elements, self._size)):
            arrays = [leaf._value for (leaf,) in group]
            largest = np.max([array.shape for array in arrays], axis=0).tolist()
            full = [
                n if wanted is None else wanted
                for n, wanted in zip(largest, self._row, strict=True)
            ]
            if any(n > wanted for n, wanted in zip(largest, full, strict=True)):
                raise errors.DataLossError(
                    None,
                    None,
                    f"Got element with shape {largest}, larger than the row shape {full}.",
                )
            places = [np.indices(a.shape).reshape(a.ndim, -1).T for a in arrays]
            rows = np.repeat(np.arange(len(arrays)), list(map(len, places)))[:, None]
            indices = np.concatenate([rows, np.concatenate(places)], axis=1)
            values = np.concatenate([array.ravel() for array in arrays])
            shape = np.array([len(arrays), *full], np.int64)
            yield [SparseTensor(tensor(indices.astype(np.int64)), tensor(values), tensor(shape))]


class PaddedBatch(Step):
    """So many elements as one, filled up to the size of the largest."""

    label = "_PaddedBatchDataset"

    def __init__(self, before: Node, size: int, shapes: Any, values: Any, drop: bool) -> None:
        super().__init__(before)
        if size < 1:
            raise errors.invalid(
                "Batch size must be greater than zero. [Op:PaddedBatchDatasetV2] name: "
            )
        self._size, self._drop = size, drop
        spec = before.spec()
        flat = structure.flatten(spec)
        for one in flat:
            if not isinstance(one, TensorSpec):
                raise TypeError(
                    "`padded_batch` is only supported for datasets that produce tensor elements "
                    "but type spec of elements in the input dataset is not a subclass of "
                    f"TensorSpec: `{one}`."
                )
        self._shapes = self._padded_shapes(spec, flat, shapes)
        self._values = _padding(spec, flat, values)
        n = size if drop else None
        self._spec = structure.pack_plain(
            spec,
            [
                TensorSpec(TensorShape([n]).concatenate(shape), one.dtype)
                for shape, one in zip(self._shapes, flat, strict=True)
            ],
        )

    def _padded_shapes(self, spec: Any, flat: list[Any], shapes: Any) -> list[TensorShape]:
        if shapes is None:
            for one in flat:
                if one.shape.rank is None:
                    raise ValueError(
                        "You must provide `padded_shapes` argument because component rank is "
                        "unknown."
                    )
            return [one.shape for one in flat]
        wanted = [_shape(one) for one in structure.flatten_up_to(spec, shapes)]
        for shape, one in zip(wanted, flat, strict=True):
            if not _fits(shape, one.shape):
                raise ValueError(
                    f"The padded shape {shape} is not compatible with the shape {one.shape} of "
                    "the corresponding input component."
                )
        return wanted

    def spec(self) -> Any:
        return self._spec

    def cardinality(self) -> int:
        n = self.before.cardinality()
        if n in (INFINITE, UNKNOWN):
            return n
        return n // self._size if self._drop else -(-n // self._size)

    def run(self, elements: Iterator[Element]) -> Iterator[Element]:
        while group := list(islice(elements, self._size)):
            if len(group) < self._size and self._drop:
                return
            columns = zip(zip(*group, strict=True), self._shapes, self._values, strict=True)
            yield [self._padded(k, *column) for k, column in enumerate(columns)]

    def _padded(self, number: int, parts: Any, shape: TensorShape, value: Any) -> Any:
        arrays = [part._value for part in parts]
        for array in arrays:
            if array.ndim != shape.rank:
                raise errors.invalid(
                    "All elements in a batch must have the same rank as the padded shape for "
                    f"component{number}: expected rank {shape.rank} but got element with rank "
                    f"{array.ndim}"
                )
        largest = [max(sizes) for sizes in zip(*[a.shape for a in arrays], strict=True)]
        full = []
        for axis, wanted in enumerate(shape):
            if wanted is not None and largest[axis] > wanted:
                raise errors.DataLossError(
                    None, None, f"Attempted to pad to a smaller size than the input element: the "
                    f"size {largest[axis]} of axis {axis} in component {number} is above {wanted}.",
                )  # fmt: skip
            full.append(largest[axis] if wanted is None else wanted)
        made = np.full((len(arrays), *full), value, arrays[0].dtype)
        for k, array in enumerate(arrays):
            place: Any = k, *[slice(n) for n in array.shape]
            made[place] = array
        return tensor(made)


def _shape(given: Any) -> TensorShape:
    """A padded shape; -1 is as open as None."""
    if hasattr(given, "_value"):
        given = plain(given)._value.tolist()
    if isinstance(given, TensorShape):
        return given
    try:
        sizes = list(given)
    except TypeError:
        sizes = [given]
    return TensorShape([None if n is None or int(n) == -1 else int(n) for n in sizes])


def _fits(padded: TensorShape, given: TensorShape) -> bool:
    if padded.rank is None or given.rank is None:
        return True
    return padded.rank == given.rank and all(
        a is None or b is None or a >= b for a, b in zip(padded, given, strict=True)
    )


def _padding(spec: Any, flat: list[Any], values: Any) -> list[Any]:
    """The numbers that fill up, one for each leaf."""
    if values is None or not isinstance(values, (tuple, dict)):
        given = [values] * len(flat)
    else:
        given = structure.flatten_up_to(spec, values)
    made = []
    for value, one in zip(given, flat, strict=True):
        dtype = np.dtype(one.dtype.as_numpy_dtype)
        if value is None:
            made.append(b"" if dtype.kind == "O" else np.zeros((), dtype)[()])
            continue
        found = convert.to_tensor(value)
        if found._value.ndim:
            raise ValueError(
                "Invalid `padding_values`. `padding_values` values should be scalars, but got "
                f"{found.shape}."
            )
        if found.dtype != one.dtype:
            raise TypeError(
                f"Invalid `padding_values`. `padding_values` values type {found.dtype!r} does not "
                f"match type {one.dtype!r} of the corresponding input component."
            )
        made.append(plain(found)._value[()])
    return made


class Unbatch(Step):
    """The rows of every element."""

    label = "_UnbatchDataset"

    def __init__(self, before: Node) -> None:
        super().__init__(before)
        spec = before.spec()
        if not structure.flatten(spec):
            raise ValueError("Cannot unbatch an input with no components.")
        sizes = {
            one.shape[0]
            for one in structure.flatten(spec)
            if getattr(one, "shape", None) is not None and one.shape.rank
        } - {None}
        if len(sizes) > 1:
            raise ValueError(
                "Cannot unbatch an input dataset whose components have different sizes in the "
                f"0th dimension. Component sizes: {sorted(sizes)}."
            )
        self._rows = sizes.pop() if sizes else None
        self._spec = structure.map_leaves(structure.unbatched, spec)

    def spec(self) -> Any:
        return self._spec

    def cardinality(self) -> int:
        n = self.before.cardinality()
        if n in (INFINITE, 0):
            return n
        return UNKNOWN if n == UNKNOWN or self._rows is None else n * self._rows

    def run(self, elements: Iterator[Element]) -> Iterator[Element]:
        for element in elements:
            sizes = [n for n in map(leaves.size, element) if n is not None]
            if len(set(sizes)) > 1:
                raise errors.invalid(
                    "Input element must have the same batch size in each component. Component 0 "
                    f"had size {sizes[0]} but another component had size "
                    f"{next(n for n in sizes if n != sizes[0])}."
                )
            parts = [leaves.rows(leaf, sizes[0]) for leaf in element]
            yield from map(list, zip(*parts, strict=True))


class Rebatch(Step):
    """Batches of other sizes, which take turns."""

    label = "_RebatchDataset"

    def __init__(self, before: Node, sizes: list[int], drop: bool) -> None:
        super().__init__(before)
        if not sizes or any(n < 1 for n in sizes):
            raise errors.invalid("rebatch_dataset: batch sizes must be positive.")
        self._sizes, self._drop = sizes, drop
        size = sizes[0] if len(set(sizes)) == 1 else None
        if size is not None and not drop:
            known = [one.shape[0] for one in self._ranked() if one.shape[0] is not None]
            if not known or known[0] % size:
                size = None
        self._unbatched = Unbatch(before)
        self._spec = structure.map_leaves(
            lambda one: structure.batched(one, size), self._unbatched.spec()
        )

    def _ranked(self) -> list[Any]:
        specs = structure.flatten(self.before.spec())
        found = [one for one in specs if getattr(one, "shape", None) is not None]
        for one in found:
            if one.shape.rank == 0:
                raise ValueError(
                    "Invalid `batch_sizes`. Expected dataset with rank of >= 1 but found a "
                    "dataset with scalar elements. Fix the issue by adding the `batch` "
                    "transformation to the dataset."
                )
        return [one for one in found if one.shape.rank is not None]

    def spec(self) -> Any:
        return self._spec

    def cardinality(self) -> int:
        n = self.before.cardinality()
        return n if n == INFINITE else UNKNOWN

    def run(self, elements: Iterator[Element]) -> Iterator[Element]:
        rows, specs = self._unbatched.run(elements), structure.flatten(self._unbatched.spec())
        turn = 0
        while group := list(islice(rows, self._sizes[turn % len(self._sizes)])):
            if len(group) < self._sizes[turn % len(self._sizes)] and self._drop:
                return
            yield batch(group, specs)
            turn += 1


# --- how large batches are ------------------------------------------------------------------------
_HAND_ON = (  # elements as they are
    "Cache", "Filter", "Options", "Prefetch", "Repeat", "Shard", "Shuffle", "Skip", "Take",
)  # fmt: skip


def batch_size(dataset: Any) -> Any:
    """The rows of a whole batch of a dataset, -1 if nothing tells: what libraries share out."""
    sizes = {spec.shape[0] for spec in structure.flatten(dataset.element_spec)}
    known = sizes.pop() if len(sizes) == 1 else None
    return tensor(np.int64(_rows(dataset._node) if known is None else known))


def _rows(node: Node) -> int:
    if isinstance(node, (Batch, PaddedBatch)):
        return node._size
    name = node.label.removeprefix("_").removesuffix("Dataset")
    if name not in (*_HAND_ON, "Zip"):
        return -1
    sizes = {_rows(one) for one in node.inputs}
    return sizes.pop() if len(sizes) == 1 else -1
