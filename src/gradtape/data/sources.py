"""Where elements come from: tensors, numbers, random numbers, generators."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .. import dtypes, errors
from ..control.python import reported
from ..core.apply import tensor
from ..core.record import Value
from ..framework import convert
from ..framework.shapes import TensorShape, TensorSpec, TypeSpec
from . import leaves, structure
from .node import INFINITE, UNKNOWN, Element, Node, Table, in_order, plain, whole
from .randomness import Seeds, Words

LARGE = 10_000_000  # numbers of a range that are not all made at once


def _given(tensors: Any) -> tuple[Any, list[Any]]:
    """Specs and leaves of what a user gives, which nobody follows any more."""
    spec, flat = structure.normalised(tensors)
    return spec, [plain(leaf) if isinstance(leaf, Value) else leaf for leaf in flat]


class Tensors(Node):
    """One element."""

    label = "_TensorDataset"

    def __init__(self, tensors: Any) -> None:
        self._spec, self._leaves = _given(tensors)

    def spec(self) -> Any:
        return self._spec

    def cardinality(self) -> int:
        return 1

    def elements(self) -> Iterator[Element]:
        yield list(self._leaves)


class Slices(Node):
    """The rows of tensors."""

    label = "_TensorSliceDataset"

    def __init__(self, tensors: Any) -> None:
        spec, self._leaves = _given(tensors)
        if not self._leaves:
            raise ValueError("Invalid `tensors`. `tensors` must not be empty.")
        self._spec = structure.map_leaves(structure.unbatched, spec)
        sizes = [n for n in map(leaves.size, self._leaves) if n is not None]
        for n in sizes:
            if n != sizes[0]:
                raise ValueError(f"Dimensions {sizes[0]} and {n} are not compatible")
        self._rows = sizes[0]

    def spec(self) -> Any:
        return self._spec

    def cardinality(self) -> int:
        return self._rows

    def table(self) -> Table | None:
        if not all(isinstance(leaf, Value) for leaf in self._leaves):
            return None
        return Table([leaf._value for leaf in self._leaves], in_order(0, self._rows), True)

    def elements(self) -> Iterator[Element]:
        parts = [leaves.rows(leaf, self._rows) for leaf in self._leaves]
        return map(list, zip(*parts, strict=True))


class Range(Node):
    """Whole numbers with a step."""

    label = "_RangeDataset"

    def __init__(self, args: tuple[Any, ...], output_type: Any) -> None:
        if not 1 <= len(args) <= 3:
            raise ValueError(f"Invalid `args`. The length of `args` should be 1 to 3: {len(args)}.")
        numbers = [whole(arg, "range") for arg in args]
        if len(numbers) == 3 and not numbers[2]:
            raise errors.invalid("step must be a non-zero integer.")
        self._range = range(*numbers)
        self._dtype = dtypes.as_dtype(output_type)

    def spec(self) -> Any:
        return TensorSpec([], self._dtype)

    def cardinality(self) -> int:
        return len(self._range)

    def table(self) -> Table | None:
        if len(self._range) > LARGE:
            return None
        steps = self._range
        column = np.arange(steps.start, steps.stop, steps.step, dtype=np.int64)
        return Table([column.astype(self._dtype.as_numpy_dtype)], in_order(0, len(steps)), True)

    def elements(self) -> Iterator[Element]:
        kind = self._dtype.as_numpy_dtype
        return ([tensor(kind(k))] for k in self._range)


class Counter(Node):
    """Numbers without an end."""

    label = "_ScanDataset"

    def __init__(self, start: Any, step: Any, dtype: Any) -> None:
        self._dtype = dtypes.as_dtype(dtype)
        kind = np.dtype(self._dtype.as_numpy_dtype)
        self._start, self._step = (plain(convert.to_tensor(n, kind))._value for n in (start, step))

    def spec(self) -> Any:
        return TensorSpec([], self._dtype)

    def cardinality(self) -> int:
        return INFINITE

    def elements(self) -> Iterator[Element]:
        number = self._start
        while True:
            yield [tensor(number)]
            number = number + self._step


class Random(Node):
    """Random whole numbers of 32 bits."""

    label = "_RandomDataset"

    def __init__(self, seed: Any, again: bool) -> None:
        self._seeds = Seeds(seed, again)

    def spec(self) -> Any:
        return TensorSpec([], dtypes.int64)

    def cardinality(self) -> int:
        return INFINITE

    def elements(self) -> Iterator[Element]:
        words = Words(*self._seeds.next())
        while True:
            yield from ([tensor(n)] for n in words.take(64).astype(np.int64))


class Nothing(Node):
    """No elements, of some description: a stand-in."""

    label = "_TensorSliceDataset"

    def __init__(self, spec: Any) -> None:
        self._spec = spec

    def spec(self) -> Any:
        return self._spec

    def cardinality(self) -> int:
        return UNKNOWN

    def elements(self) -> Iterator[Element]:
        return iter(())


class Elements(Node):
    """Elements that are there already."""

    label = "_WindowDataset"

    def __init__(self, elements: list[Element], spec: Any) -> None:
        self._elements, self._spec = elements, spec

    def spec(self) -> Any:
        return self._spec

    def cardinality(self) -> int:
        return len(self._elements)

    def elements(self) -> Iterator[Element]:
        return iter(self._elements)


class Generator(Node):
    """What a Python generator yields."""

    label = "_FlatMapDataset"

    def __init__(
        self,
        generator: Callable[..., Any],
        output_types: Any,
        output_shapes: Any,
        args: Any,
        output_signature: Any,
    ) -> None:
        if not callable(generator):
            raise TypeError("`generator` must be a Python callable.")
        self._generator = generator
        self._spec = _signature(output_types, output_shapes, output_signature)
        self._specs = structure.flatten(self._spec)
        self._args = tuple([plain(convert.to_tensor(arg)).numpy() for arg in args or ()])

    def spec(self) -> Any:
        return self._spec

    def cardinality(self) -> int:
        return UNKNOWN

    def elements(self) -> Iterator[Element]:
        values = self._values()
        while True:
            try:
                value = next(values)
            except StopIteration:
                return
            except Exception as error:  # the user's, which the consumer finds as the cause
                raise reported(error) from error
            yield self._checked(value)

    def _values(self) -> Iterator[Any]:
        yield from self._generator(*self._args)

    def _checked(self, value: Any) -> Element:
        try:
            flat = structure.flatten_up_to(self._spec, value)
        except (TypeError, ValueError) as cause:
            raise _wrong(
                "an element that did not match the expected structure. The expected structure was "
                f"{self._spec}, but the yielded element was {value}."
            ) from cause
        return [self._leaf(one, spec) for one, spec in zip(flat, self._specs, strict=True)]

    def _leaf(self, value: Any, spec: TypeSpec) -> Any:
        if not isinstance(spec, TensorSpec):
            return structure.as_leaf(value, spec)
        try:
            if isinstance(value, Value):
                made = plain(value)
            else:
                made = convert.to_tensor(value, np.dtype(spec.dtype.as_numpy_dtype))
        except (TypeError, ValueError) as cause:
            raise _wrong(
                "an element that could not be converted to the expected type. The expected type "
                f"was {spec.dtype.name}, but the yielded element was {value}."
            ) from cause
        if made.dtype != spec.dtype:
            raise _wrong(
                f"an element of type {made.dtype.name} where an element of type {spec.dtype.name} "
                "was expected."
            )
        if not spec.shape.is_compatible_with(made.shape):
            raise _wrong(
                f"an element of shape {made.shape} where an element of shape {spec.shape} was "
                "expected."
            )
        return made


def _wrong(what: str) -> Exception:
    return errors.invalid(f"TypeError: `generator` yielded {what}")


def _signature(types: Any, shapes: Any, signature: Any) -> Any:
    """The specs of what a generator yields."""
    if signature is None:
        if types is None:
            raise TypeError(
                "To specify the output signature you need to provide either the "
                "`output_signature` argument or the `output_types` argument."
            )
        kinds = [dtypes.as_dtype(t) for t in structure.flatten(types)]
        if shapes is None:
            sizes = [TensorShape(None)] * len(kinds)
        else:
            sizes = [TensorShape(one) for one in structure.flatten_up_to(types, shapes)]
        specs = [TensorSpec(n, kind) for n, kind in zip(sizes, kinds, strict=True)]
        return structure.pack_plain(types, specs)
    for name, other in (("output_types", types), ("output_shapes", shapes)):
        if other is not None:
            raise TypeError(
                f"The `{name}` argument can not be used together with the `output_signature` "
                "argument."
            )
    for spec in structure.flatten(signature):
        if not isinstance(spec, TypeSpec):
            raise TypeError(
                "`output_signature` must contain objects that are subclass of `tf.TypeSpec` but "
                f"found {type(spec)} which is not."
            )
    return signature
