"""Functions of elements: map, flat_map, interleave, scan, and the threads that run some of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

from . import structure
from .functions import Call
from .node import AUTOTUNE, UNKNOWN, Element, Node
from .selecting import Step
from .specs import DatasetSpec
from .workers import in_threads, when_slow


class Map(Step):
    """A function of every element."""

    label = "_MapDataset"

    def __init__(
        self, before: Node, function: Callable[..., Any], calls: int | None, ordered: bool
    ) -> None:
        super().__init__(before)
        self._call = Call(function, before.spec, "map")
        self._calls, self._ordered = calls, ordered
        if calls is not None:
            self.label = "_ParallelMapDataset"

    def spec(self) -> Any:
        return self._call.gives

    def begin(self) -> None:
        self._call.begin()

    def run(self, elements: Iterator[Element]) -> Iterator[Element]:
        if self._calls is None or self._calls == 1:
            return map(self._call, elements)
        if self._calls == AUTOTUNE:
            return when_slow(self._call, elements, os.cpu_count() or 1, self._ordered)
        return in_threads(self._call, elements, self._calls, self._ordered)


class FlatMap(Step):
    """The elements of the datasets that a function gives."""

    label = "_FlatMapDataset"

    def __init__(self, before: Node, function: Callable[..., Any], name: str = "flat_map") -> None:
        super().__init__(before)
        self._call = Call(function, before.spec, name)
        if self._call._gives is not None:
            self._check(self._call._gives)

    def _check(self, gives: Any) -> None:
        if not isinstance(gives, DatasetSpec):
            raise TypeError(
                "The `map_func` argument must return a `Dataset` object. Got "
                f"{type(gives).__name__!r}."
            )

    def spec(self) -> Any:
        gives = self._call.gives
        self._check(gives)
        return gives.element_spec

    def cardinality(self) -> int:
        return UNKNOWN

    def begin(self) -> None:
        self._call.begin()

    def opened(self, element: Element) -> Iterator[Element]:
        """A pass over the dataset for an element."""
        (dataset,) = self._call(element)
        self._check(dataset._type_spec)
        return dataset._node.elements()

    def run(self, elements: Iterator[Element]) -> Iterator[Element]:
        for element in elements:
            yield from self.opened(element)


class Interleave(FlatMap):
    """Some of the datasets that a function gives at a time, in turn."""

    label = "_InterleaveDataset"

    def __init__(self, before: Node, function: Callable[..., Any], cycle: int, block: int) -> None:
        super().__init__(before, function, "interleave")
        self._cycle = (os.cpu_count() or 1) if cycle == AUTOTUNE else cycle
        self._block = block

    def run(self, elements: Iterator[Element]) -> Iterator[Element]:
        inputs: Iterator[Element] | None = elements
        slots: list[Iterator[Element] | None] = [None] * self._cycle
        slot = 0
        while inputs is not None or any(slots):
            current = slots[slot]
            if current is None and inputs is not None:
                element = next(inputs, None)
                if element is None:
                    inputs = None
                    continue
                current = slots[slot] = self.opened(element)
            if current is not None:
                for _ in range(self._block):
                    found = next(current, None)
                    if found is None:
                        slots[slot] = None
                        break
                    yield found
            slot = (slot + 1) % self._cycle


class Scan(Step):
    """A function of a state and of every element."""

    label = "_ScanDataset"

    def __init__(self, before: Node, state: Any, function: Callable[..., Any]) -> None:
        super().__init__(before)
        self._state = Folding(function, state, before, "scan", gives_more=True)

    def spec(self) -> Any:
        return self._state.gives[1]

    def begin(self) -> None:
        self._state.call.begin()

    def run(self, elements: Iterator[Element]) -> Iterator[Element]:
        state = self._state.first
        for element in elements:
            state, found = self._state.step(state, element)
            yield found


class Folding:
    """A state that a function of it and of an element goes on with."""

    def __init__(
        self, function: Callable[..., Any], state: Any, before: Node, name: str, gives_more: bool
    ) -> None:
        self.spec, self.first = structure.normalised(state)
        self._name, self._before, self._more = name, before, gives_more
        self.call = Call(function, lambda: (self.spec, before.spec()), name)
        if self.call._gives is not None:
            wider = self._check(self.call._gives)
            if wider != self.spec:  # a size of the state that changes on the way
                self.spec = wider
                self.call = Call(function, lambda: (self.spec, before.spec()), name)

    @property
    def gives(self) -> Any:
        return self.call.gives

    def _check(self, gives: Any) -> Any:
        """The specs of the state, which may be wider than those of the first one."""
        if self._more and not (isinstance(gives, tuple) and len(gives) == 2):
            raise TypeError(
                f"Invalid `scan_func`. `scan_func` should return a pair consisting of new state "
                f"and the output value but its return type is {gives}."
            )
        new = gives[0] if self._more else gives
        function = "scan_func" if self._more else "reduce_func"
        old_flat, new_flat = structure.flatten(self.spec), structure.flatten(new)
        kinds = [getattr(s, "dtype", None) for s in old_flat]
        if len(old_flat) != len(new_flat) or kinds != [getattr(s, "dtype", None) for s in new_flat]:
            raise TypeError(
                f"Invalid `{function}`. The element types of the new state must match those of "
                f"the initial state: {new} against {self.spec}."
            )
        return structure.common(self.spec, new)

    def step(self, state: list[Any], element: Element) -> tuple[list[Any], Element]:
        """The state after an element, and what else the function gives."""
        found = self.call([*state, *element])
        many = len(structure.flatten(self.spec))
        return found[:many], found[many:]
