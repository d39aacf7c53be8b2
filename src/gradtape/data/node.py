"""What a dataset is inside: a node of a pipeline, which can be gone through again and again.

A transformation is one class: how it iterates, what its elements look like, how many there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.apply import tensor
from ..framework import convert
from ..framework.convert import is_recorded

AUTOTUNE = -1
INFINITE_CARDINALITY = INFINITE = -1
UNKNOWN_CARDINALITY = UNKNOWN = -2
PIECE = 16384  # row numbers that are made at a time

Element = list[Any]
Order = Iterator[np.ndarray]


class NotKnownYet(Exception):
    """What the elements of a dataset look like is known only when there is one."""


@dataclass(frozen=True)
class Table:
    """A dataset whose elements are rows of arrays: only the numbers of rows need to travel, and a
    batch is gathered at once."""

    columns: list[Any]  # arrays, one for each leaf, with as many rows
    order: Callable[[], Order]  # the numbers of rows of one pass, in pieces
    plain: bool = False  # whether that is all rows, in their order

    @property
    def rows(self) -> int:
        return len(self.columns[0])

    def elements(self) -> Iterator[Element]:
        pick = [row_of(column) for column in self.columns]
        for piece in self.order():
            for k in piece.tolist():
                yield [tensor(at(k)) for at in pick]

    def with_order(self, order: Callable[[], Order]) -> Table:
        return Table(self.columns, order)


def in_order(start: int, stop: int) -> Callable[[], Order]:
    """The numbers of rows as they stand."""

    def order() -> Order:
        for k in range(start, stop, PIECE):
            yield np.arange(k, min(k + PIECE, stop))

    return order


def row_of(column: Any) -> Callable[[int], Any]:
    """What gives a row of an array, as the value of a tensor."""
    if column.ndim == 1 and column.dtype.kind == "O":
        return lambda k: column[k, ...]
    return column.__getitem__


def cut(order: Order, start: int, stop: int | None) -> Order:
    """A part of an order."""
    seen = 0
    for piece in order:
        low = max(start - seen, 0)
        high = len(piece) if stop is None else min(stop - seen, len(piece))
        if low < high:
            yield piece[low:high]
        seen += len(piece)
        if stop is not None and seen >= stop:
            return


class Node:
    """A step of a pipeline."""

    label = "Dataset"  # TensorFlow's name for it
    inputs: tuple[Node, ...] = ()
    options: Any = None  # those that were set here

    def spec(self) -> Any:
        """The structure of specs of an element; NotKnownYet if only the data tell."""
        return self.inputs[0].spec()

    def cardinality(self) -> int:
        return self.inputs[0].cardinality()

    def elements(self) -> Iterator[Element]:
        """One pass. What is random about it is settled when it is opened, not when the first
        element is asked for; so this is no generator."""
        raise NotImplementedError

    def table(self) -> Table | None:
        """The dataset as rows of arrays, if that is what it is."""
        return None

    def begin(self) -> None:
        """An iterator of the user's starts."""


def walk(node: Node) -> Iterator[Node]:
    """The node and all before it."""
    yield node
    for one in node.inputs:
        yield from walk(one)


def whole(value: Any, name: str) -> int:
    """An argument that is a whole number."""
    made = plain(convert.to_tensor(value, hint=np.dtype(np.int64)))._value
    if made.dtype.kind not in "iu" or made.ndim:
        raise TypeError(f"`{name}` must be a whole number, got {value!r}.")
    return int(made)


def plain(value: Any) -> Any:
    """A tensor that nobody follows; of a function that is recorded, what it holds now."""
    array = value._value
    return tensor(array.read("numbers") if is_recorded(array) else array)
