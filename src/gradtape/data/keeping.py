"""Elements that are kept, or made ahead: cache, prefetch; and options, which ride along."""

from __future__ import annotations

import os
from collections.abc import Iterator
from threading import Lock
from typing import Any

import numpy as np

from .. import errors
from ..core.record import Value
from . import records, structure
from .node import AUTOTUNE, Element, Node, Table, in_order
from .selecting import Step
from .workers import ahead, ahead_when_slow

AUTOMATIC = 2  # elements that are made ahead if nobody says how many


class Cache(Step):
    """The elements of the first whole pass, from then on: in memory, or in a file."""

    label = "CacheDataset"

    def __init__(self, before: Node, filename: str) -> None:
        super().__init__(before)
        self._file = f"{filename}.elements" if filename else None
        self._kept: list[Element] | None = None
        self._table: Table | None = None
        self._lock = Lock()

    def table(self) -> Table | None:
        if self._file is None:
            below = self.before.table()
            if below is not None and below.plain:
                return below
            with self._lock:
                if self._table is None and self._kept:
                    self._table = as_table(self._kept)
            return self._table
        return None

    def elements(self) -> Iterator[Element]:
        if self._kept is not None:
            return iter(self._kept)
        if self._file is not None and os.path.exists(self._file):
            return records.read(self._file, structure.flatten(self.before.spec()))
        elements = self.before.elements()
        if self._file is None:
            return self._first(elements)
        return self._written(self._file, elements)

    def _first(self, elements: Iterator[Element]) -> Iterator[Element]:
        # Who counts batches does not ask for one more than there are, to be told of the end.
        last = self.before.cardinality()
        kept = []
        for element in elements:
            kept.append(element)
            if len(kept) == last:
                self._kept = kept
            yield element
        self._kept = kept

    def _written(self, file: str, elements: Iterator[Element]) -> Iterator[Element]:
        lock = f"{file}.lockfile"
        try:
            os.close(os.open(lock, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            raise errors.AlreadyExistsError(
                None, None, f"There appears to be a concurrent caching iterator running - cache "
                f"lockfile already exists ('{lock}'). If you are sure no other running TF "
                "computations are using this cache prefix, delete the lockfile and re-initialize "
                "the iterator.",
            ) from None  # fmt: skip
        try:
            with records.Writer(file) as writer:
                for element in elements:
                    writer.write(element)
                    yield element
                writer.finish()
        finally:
            os.unlink(lock)


def as_table(elements: list[Element]) -> Table | None:
    """Elements as rows of arrays, if they are dense and of one shape."""
    columns = []
    for part in zip(*elements, strict=True):
        if not all(isinstance(leaf, Value) for leaf in part):
            return None
        shape = part[0]._value.shape
        if any(leaf._value.shape != shape for leaf in part):
            return None
        column = np.empty((len(part), *shape), part[0]._value.dtype)
        for k, leaf in enumerate(part):
            column[k, ...] = leaf._value
        columns.append(column)
    return Table(columns, in_order(0, len(elements)), True)


class Prefetch(Step):
    """Elements that a thread makes ahead."""

    label = "_PrefetchDataset"

    def __init__(self, before: Node, size: int) -> None:
        super().__init__(before)
        if size < AUTOTUNE:
            raise errors.invalid("buffer_size must be >= 0 or set buffer_size to be -1")
        self._size = size

    def table(self) -> Table | None:
        return self.before.table()  # numbers of rows need no thread

    def run(self, elements: Iterator[Element]) -> Iterator[Element]:
        if not self._size or self.cardinality() in (0, 1):  # there is nothing to be ahead with
            return elements
        if self._size == AUTOTUNE:
            return ahead_when_slow(elements, AUTOMATIC)
        return ahead(elements, self._size)


class WithOptions(Step):
    """The same elements, with options."""

    label = "_OptionsDataset"

    def __init__(self, before: Node, options: Any) -> None:
        super().__init__(before)
        self.options = options

    def table(self) -> Table | None:
        return self.before.table()
