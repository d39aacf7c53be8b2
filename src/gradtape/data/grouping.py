"""Elements in groups that are datasets themselves: windows, and groups by a key."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .. import dtypes, errors
from ..core.apply import tensor
from ..framework import convert
from ..framework.shapes import TensorSpec
from . import structure
from .functions import Call
from .node import INFINITE, UNKNOWN, Element, Node
from .selecting import Step
from .sources import Elements
from .specs import DatasetSpec

_INT64 = np.dtype(np.int64)


def as_dataset(elements: list[Element], spec: Any) -> Any:
    from .dataset import Dataset

    return Dataset(Elements(elements, spec))


class Window(Step):
    """Datasets of neighbours, one for each leaf."""

    label = "_WindowDataset"

    def __init__(self, before: Node, size: int, shift: int, stride: int, drop: bool) -> None:
        super().__init__(before)
        for name, number in (
            ("Window size", size),
            ("Window shift", shift),
            ("Window stride", stride),
        ):
            if number < 1:
                raise errors.invalid(f"{name} must be greater than zero.")
        self._size, self._shift, self._stride, self._drop = size, shift, stride, drop

    def spec(self) -> Any:
        return structure.map_leaves(DatasetSpec, self.before.spec())

    def cardinality(self) -> int:
        n = self.before.cardinality()
        if n in (INFINITE, UNKNOWN, 0):
            return n
        if not self._drop:
            return -(-n // self._shift)
        reach = (self._size - 1) * self._stride + 1
        return max(0, (n - reach) // self._shift + 1)

    def run(self, elements: Iterator[Element]) -> Iterator[Element]:
        reach = (self._size - 1) * self._stride + 1
        held: list[Element] = []
        ended = False
        while True:
            while len(held) < reach and not ended:
                element = next(elements, None)
                if element is None:
                    ended = True
                else:
                    held.append(element)
            if not held or (len(held) < reach and self._drop):
                return
            yield self._datasets(held[: reach : self._stride])
            for _ in range(self._shift - len(held)):  # those between windows
                if next(elements, None) is None:
                    return
            held = held[self._shift :]

    def _datasets(self, group: list[Element]) -> Element:
        specs = structure.flatten(self.before.spec())
        columns = zip(specs, zip(*group, strict=True), strict=True)
        return [as_dataset([[leaf] for leaf in part], spec) for spec, part in columns]


class GroupByWindow(Step):
    """Elements with one key together, as soon as there are enough of them."""

    label = "_GroupByWindowDataset"

    def __init__(
        self,
        before: Node,
        key: Callable[..., Any],
        reduce: Callable[..., Any],
        size: Callable[..., Any],
    ) -> None:
        super().__init__(before)
        number = TensorSpec([], dtypes.int64)
        self._key = Call(_whole(key), before.spec, "group_by_window")
        self._size = Call(_whole(size), lambda: number, "group_by_window")
        for name, call in (("key_func", self._key), ("window_size_func", self._size)):
            gives = call._gives
            if gives is not None and not number.is_compatible_with(gives):
                raise ValueError(
                    f"Invalid `{name}`. `{name}` must return a single `tf.int64` scalar tensor but "
                    f"its return type is {gives}."
                )
        self._reduce = Call(reduce, lambda: (number, DatasetSpec(before.spec())), "group_by_window")
        if self._reduce._gives is not None:
            self._check(self._reduce._gives)

    def _check(self, gives: Any) -> None:
        if not isinstance(gives, DatasetSpec):
            raise TypeError(
                "Invalid `reduce_func`. `reduce_func` must return a single `tf.data.Dataset` "
                f"object but its return type is {gives}."
            )

    def spec(self) -> Any:
        return self._reduce.gives.element_spec

    def cardinality(self) -> int:
        return UNKNOWN

    def begin(self) -> None:
        for call in (self._key, self._size, self._reduce):
            call.begin()

    def run(self, elements: Iterator[Element]) -> Iterator[Element]:
        groups: dict[int, list[Element]] = {}
        sizes: dict[int, int] = {}
        for element in elements:
            (found,) = self._key(element)
            key = int(found._value)
            if key not in sizes:
                (wanted,) = self._size([found])
                sizes[key] = int(wanted._value)
                if sizes[key] < 1:
                    raise errors.invalid(
                        f"Window size must be greater than zero, but got {sizes[key]}."
                    )
            group = groups.setdefault(key, [])
            group.append(element)
            if len(group) == sizes[key]:
                del groups[key], sizes[key]
                yield from self._reduced(key, group)
        for key in sorted(groups):
            yield from self._reduced(key, groups[key])

    def _reduced(self, key: int, group: list[Element]) -> Iterator[Element]:
        dataset = as_dataset(group, self.before.spec())
        (reduced,) = self._reduce([tensor(np.int64(key)), dataset])
        self._check(reduced._type_spec)
        return reduced._node.elements()


def _whole(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, whose result is converted to int64 where it is no tensor."""
    return lambda *args: convert.to_tensor(function(*args), _INT64)
