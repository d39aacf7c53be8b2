"""Several datasets as one: zip, enumerate, and one of many at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import dtypes, errors
from ..core.apply import tensor
from ..framework.shapes import TensorSpec
from . import structure
from .node import INFINITE, UNKNOWN, Element, Node, Table, in_order
from .selecting import Step


class Zip(Node):
    """Elements of several datasets side by side, in any structure."""

    label = "_ZipDataset"

    def __init__(self, datasets: Any) -> None:
        flat = structure.flatten(datasets)
        for dataset in flat:
            if not hasattr(dataset, "_node"):
                if isinstance(dataset, list):
                    raise TypeError(
                        "Invalid `datasets`. `datasets` is expected to be a (nested) structure of "
                        "`tf.data.Dataset` objects. Python `list` is not supported and you should "
                        "use `tuple` instead."
                    )
                raise TypeError(
                    "Invalid `datasets`. `datasets` is expected to be a (nested) structure of "
                    f"`tf.data.Dataset` objects but encountered object of type {type(dataset)}."
                )
        self._structure = structure.pack_plain(datasets, list(range(len(flat))))
        self.inputs = tuple([dataset._node for dataset in flat])

    def spec(self) -> Any:
        return structure.pack_plain(self._structure, [node.spec() for node in self.inputs])

    def cardinality(self) -> int:
        sizes = [node.cardinality() for node in self.inputs]
        if UNKNOWN in sizes:
            return UNKNOWN
        return min([n for n in sizes if n != INFINITE], default=INFINITE)

    def table(self) -> Table | None:
        found = [node.table() for node in self.inputs]
        tables = [table for table in found if table is not None and table.plain]
        if len(tables) < len(self.inputs):
            return None
        rows = min(table.rows for table in tables)
        columns = [column[:rows] for table in tables for column in table.columns]
        return Table(columns, in_order(0, rows), True)

    def elements(self) -> Iterator[Element]:
        parallel = zip(*[node.elements() for node in self.inputs], strict=False)
        return ([leaf for part in parts for leaf in part] for parts in parallel)


class Enumerate(Step):
    """Elements with their numbers."""

    label = "_ZipDataset"

    def __init__(self, before: Node, start: int) -> None:
        super().__init__(before)
        self._start = start

    def spec(self) -> Any:
        return TensorSpec([], dtypes.int64), self.before.spec()

    def table(self) -> Table | None:
        table = self.before.table()
        if table is None or not table.plain:
            return None
        counted = np.arange(self._start, self._start + table.rows, dtype=np.int64)
        return Table([counted, *table.columns], table.order, True)

    def run(self, elements: Iterator[Element]) -> Iterator[Element]:
        for k, element in enumerate(elements, self._start):
            yield [tensor(np.int64(k)), *element]


class DirectedInterleave(Node):
    """Elements of the datasets that a dataset of numbers chooses."""

    label = "_DirectedInterleaveDataset"

    def __init__(self, chooser: Node, datasets: list[Node], stop: bool) -> None:
        self.inputs = chooser, *datasets
        self._stop = stop

    def spec(self) -> Any:
        first, *others = (node.spec() for node in self.inputs[1:])
        for other in others:
            first = structure.common(first, other)
        return first

    def cardinality(self) -> int:
        chooser, *sizes = (node.cardinality() for node in self.inputs)
        if INFINITE in sizes and not self._stop and chooser == INFINITE:
            return INFINITE
        return UNKNOWN

    def elements(self) -> Iterator[Element]:
        return self._directed(*[node.elements() for node in self.inputs])

    def _directed(self, numbers: Iterator[Element], *datasets: Any) -> Iterator[Element]:
        passes = list(datasets)
        for (number,) in numbers:
            which = int(number._value)
            if not 0 <= which < len(passes):
                raise errors.invalid(f"Selector index out of range: {which} >= {len(passes)}")
            if passes[which] is None:
                continue
            element = next(passes[which], None)
            if element is not None:
                yield element
                continue
            passes[which] = None
            if self._stop or not any(passes):
                return
