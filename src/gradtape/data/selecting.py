"""Which elements, how often and in which order: take, skip, shard, repeat, shuffle, filter, …"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from itertools import count as numbers
from itertools import islice
from typing import Any

import numpy as np

from .. import dtypes, errors
from ..framework.shapes import TensorSpec
from . import structure
from .functions import Call
from .node import INFINITE, UNKNOWN, Element, Node, Order, Table, cut, in_order
from .randomness import Seeds, Words, shuffled, shuffled_elements

log = logging.getLogger("gradtape")


class Step(Node):
    """A node with one before it, whose elements look alike."""

    def __init__(self, before: Node) -> None:
        self.inputs = (before,)
        self.before = before

    def elements(self) -> Iterator[Element]:
        return self.run(self.before.elements())

    def run(self, elements: Iterator[Element]) -> Iterator[Element]:
        """What becomes of the elements of a pass."""
        return elements


class Take(Step):
    """The first ones."""

    label = "_TakeDataset"

    def __init__(self, before: Node, count: int) -> None:
        super().__init__(before)
        self._count = count

    def cardinality(self) -> int:
        n = self.before.cardinality()
        if self._count < 0 or n == UNKNOWN:
            return n
        return self._count if n == INFINITE else min(n, self._count)

    def table(self) -> Table | None:
        table, n = self.before.table(), self._count
        if table is None or n < 0:
            return table
        if table.plain:
            return Table(table.columns, in_order(0, min(n, table.rows)))
        return table.with_order(lambda: cut(table.order(), 0, n))

    def run(self, elements: Iterator[Element]) -> Iterator[Element]:
        return islice(elements, None if self._count < 0 else self._count)


class Skip(Step):
    """All but the first ones."""

    label = "_SkipDataset"

    def __init__(self, before: Node, count: int) -> None:
        super().__init__(before)
        self._count = count

    def cardinality(self) -> int:
        n = self.before.cardinality()
        if n in (INFINITE, UNKNOWN):
            return n
        return 0 if self._count < 0 else max(0, n - self._count)

    def table(self) -> Table | None:
        table, n = self.before.table(), self._count
        if table is None or n < 0:
            return None
        return table.with_order(lambda: cut(table.order(), n, None))

    def run(self, elements: Iterator[Element]) -> Iterator[Element]:
        return iter(()) if self._count < 0 else islice(elements, self._count, None)


class Shard(Step):
    """Every n-th one."""

    label = "_ShardDataset"

    def __init__(self, before: Node, shards: int, index: int) -> None:
        super().__init__(before)
        if shards < 1:
            raise errors.invalid(
                f"Number of shards must be greater than zero (currently num_shards = {shards})."
            )
        if not 0 <= index < shards:
            raise errors.invalid(
                f"Index must be between 0 and {shards - 1} (currently index = {index})."
            )
        self._shards, self._index = shards, index

    def cardinality(self) -> int:
        n = self.before.cardinality()
        if n in (INFINITE, UNKNOWN):
            return n
        return n // self._shards + (self._index < n % self._shards)

    def table(self) -> Table | None:
        table = self.before.table()
        return None if table is None else table.with_order(lambda: self._order(table.order()))

    def _order(self, pieces: Order) -> Order:
        seen = 0
        for piece in pieces:
            mine = piece[(self._index - seen) % self._shards :: self._shards]
            seen += len(piece)
            if len(mine):
                yield mine

    def run(self, elements: Iterator[Element]) -> Iterator[Element]:
        return islice(elements, self._index, None, self._shards)


class Repeat(Step):
    """Again and again."""

    label = "_RepeatDataset"

    def __init__(self, before: Node, count: int) -> None:
        super().__init__(before)
        self._count = count

    def cardinality(self) -> int:
        n = self.before.cardinality()
        if self._count < 0:
            return 0 if n == 0 else INFINITE
        if self._count == 0:
            return 0
        return n if n in (INFINITE, UNKNOWN) else n * self._count

    def table(self) -> Table | None:
        table = self.before.table()
        if table is None:
            return None
        return table.with_order(lambda: self._passes(table.order(), table.order))

    def elements(self) -> Iterator[Element]:
        return self._passes(self.before.elements(), self.before.elements)

    def _passes(self, first: Any, more: Callable[[], Iterator[Any]]) -> Iterator[Any]:
        one = first
        for k in numbers():
            if k == self._count:
                return
            empty = True
            for found in one:
                empty = False
                yield found
            if empty and self._count < 0:  # or it would go round for ever
                return
            # One more is opened than is gone through, but where TensorFlow makes one op of both.
            if k + 1 != self._count or not isinstance(self.before, Shuffle):
                one = more()


class Shuffle(Step):
    """In a random order, by a buffer."""

    label = "_ShuffleDataset"

    def __init__(self, before: Node, buffer: int, seed: Any, again: bool) -> None:
        super().__init__(before)
        if buffer < 1 and buffer != UNKNOWN:
            raise errors.invalid(
                "buffer_size must be greater than zero or UNKNOWN_CARDINALITY "
                "[Op:ShuffleDatasetV3] name: "
            )
        self._buffer = 2**62 if buffer == UNKNOWN else buffer
        self._seeds = Seeds(seed, again)

    def table(self) -> Table | None:
        table = self.before.table()
        if table is None:
            return None
        return table.with_order(
            lambda: shuffled(table.order(), self._buffer, Words(*self._seeds.next()))
        )

    def run(self, elements: Iterator[Element]) -> Iterator[Element]:
        return shuffled_elements(elements, self._buffer, Words(*self._seeds.next()))


class Concatenate(Node):
    """One dataset after the other."""

    label = "_ConcatenateDataset"

    def __init__(self, first: Node, second: Node) -> None:
        self.inputs = first, second

    def spec(self) -> Any:
        first, second = (node.spec() for node in self.inputs)
        try:
            return structure.common(first, second)
        except (TypeError, ValueError):
            raise TypeError(
                "Incompatible type specs of elements: the two datasets to concatenate have "
                f"elements of {first} and of {second}."
            ) from None

    def cardinality(self) -> int:
        sizes = [node.cardinality() for node in self.inputs]
        for special in (INFINITE, UNKNOWN):
            if special in sizes:
                return special
        return sum(sizes)

    def elements(self) -> Iterator[Element]:
        return self._both(self.inputs[0].elements())

    def _both(self, first: Iterator[Element]) -> Iterator[Element]:
        yield from first
        yield from self.inputs[1].elements()


class Chosen(Step):
    """Those that a function says yes to: all of them, or up to the first no."""

    def __init__(self, before: Node, predicate: Callable[..., Any], name: str) -> None:
        super().__init__(before)
        self.label = "_FilterDataset" if name == "filter" else "_TakeWhileDataset"
        self._only_first = name == "take_while"
        self._call = Call(predicate, before.spec, name)
        gives = self._call._gives
        yes = TensorSpec([], dtypes.bool)
        if gives is not None and not (
            isinstance(gives, TensorSpec) and yes.is_compatible_with(gives)
        ):
            raise ValueError(
                "Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor, but its "
                f"return type is {gives}."
            )

    def cardinality(self) -> int:
        return UNKNOWN

    def begin(self) -> None:
        self._call.begin()

    def run(self, elements: Iterator[Element]) -> Iterator[Element]:
        for element in elements:
            (answer,) = self._call(element)
            if answer._value:
                yield element
            elif self._only_first:
                return


class Unique(Step):
    """Each element once."""

    label = "_UniqueDataset"

    def __init__(self, before: Node) -> None:
        super().__init__(before)
        flat = structure.flatten(before.spec())
        if len(flat) != 1 or not isinstance(flat[0], TensorSpec):
            raise TypeError(
                "`tf.data.Dataset.unique()` only supports elements with a single component, got "
                f"{before.spec()}."
            )
        if flat[0].dtype not in (dtypes.int32, dtypes.int64, dtypes.string):
            raise TypeError(
                "`tf.data.Dataset.unique()` only supports elements of dtype `tf.int32`, `tf.int64` "
                f"or `tf.string`, got {flat[0].dtype.name}."
            )

    def cardinality(self) -> int:
        return UNKNOWN

    def run(self, elements: Iterator[Element]) -> Iterator[Element]:
        seen = set()
        for element in elements:
            value = np.asarray(element[0]._value)
            known = value.shape, tuple(value.ravel().tolist())
            if known not in seen:
                seen.add(known)
                yield element


class AssertCardinality(Step):
    """A number of elements that is checked."""

    label = "_AssertCardinalityDataset"

    def __init__(self, before: Node, expected: int) -> None:
        super().__init__(before)
        self._expected = expected

    def cardinality(self) -> int:
        return self._expected

    def table(self) -> Table | None:
        return self.before.table() if self.before.cardinality() == self._expected else None

    def run(self, elements: Iterator[Element]) -> Iterator[Element]:
        wanted, seen = self._expected, 0
        for element in elements:
            seen += 1
            if 0 <= wanted < seen:
                raise self._other(f"at least {seen}")
            yield element
        if wanted != UNKNOWN and seen != wanted:
            raise self._other(str(seen))

    def _other(self, found: str) -> Exception:
        wanted = "an infinite number of" if self._expected == INFINITE else str(self._expected)
        return errors.FailedPreconditionError(
            None, None, f"Input dataset was expected to contain {wanted} elements but contained "
            f"{found} elements.",
        )  # fmt: skip


class IgnoreErrors(Step):
    """Elements whose computation raises are left out."""

    label = "_IgnoreErrorsDataset"

    def __init__(self, before: Node, log_warning: bool) -> None:
        super().__init__(before)
        self._log = log_warning

    def cardinality(self) -> int:
        return UNKNOWN

    def run(self, elements: Iterator[Element]) -> Iterator[Element]:
        while True:
            try:
                yield next(elements)
            except StopIteration:
                return
            except Exception as error:
                if self._log:
                    log.warning("Error raised with error message %s", error)
