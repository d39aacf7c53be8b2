"""Going through a dataset: `iter(dataset)`, in Python and in functions.

An iterator holds a handle, a tensor with the pass that is under way. In a function that is recorded
an element is drawn by an effect on that handle, so every call of the function draws its own, and
an iterator that is an argument is told from others by what its elements look like, not by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator as PythonIterator
from threading import Lock
from typing import Any

import numpy as np

from .. import errors, nest
from ..autodiff.custom import suspended
from ..core.apply import tensor
from ..core.record import Value, threads
from ..framework.shapes import CompositeTensor, TensorSpec, TypeSpec
from ..framework.tracking import Trackable
from . import structure
from .functions import stand_in
from .node import Element, Node, NotKnownYet, walk
from .optional import Optional
from .randomness import Seeds

_END = "End of sequence [Op:IteratorGetNext] name: "


class Pass:
    """One way through the elements, for all threads."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self._lock = Lock()
        self._open()

    def _open(self) -> None:
        self._held: list[Element] = []  # drawn to be looked at
        self._drawn = 0
        self._began = [number for seeds in _seeds(self.node) for number in seeds.state()]
        for one in walk(self.node):
            one.begin()
        self._elements = self.node.elements()

    def next(self) -> Element | None:
        """The next element, None at the end."""
        with self._lock:
            self._drawn += 1
            if self._held:
                return self._held.pop()
            return next(self._elements, None)

    def state(self) -> list[int]:
        """Where it is: after how many elements, and what its randomness began with."""
        return [self._drawn, *self._began]

    def go_to(self, drawn: int, *began: int) -> None:
        """Be where another one was, in this process or an earlier one."""
        seeds = _seeds(self.node)
        if len(began) != 3 * len(seeds):
            raise errors.invalid(
                "The iterator in the checkpoint is one of another dataset: that has "
                f"{len(began) // 3} random steps, and this one {len(seeds)}."
            )
        with self._lock:
            for k, one in enumerate(seeds):
                one.go_to(*began[3 * k : 3 * k + 3])
            self._open()
            for _ in range(drawn):
                next(self._elements, None)
            self._drawn = drawn

    def put_back(self, element: Element) -> None:
        """Let an element be the next one again."""
        with self._lock:
            self._held.append(element)

    def spec(self) -> Any:
        """What elements look like; the next one tells, if nothing else does."""
        try:
            return self.node.spec()
        except NotKnownYet:
            element = self.next()
            self._drawn -= 1
            if element is not None:
                self._held.append(element)
            return self.node.spec()


def _seeds(node: Node) -> list[Seeds]:
    """Those of all random steps, in an order that another process has as well."""
    return [one._seeds for one in walk(node) if hasattr(one, "_seeds")]


def handle(node: Node) -> Any:
    """A tensor that holds a new pass."""
    held = np.empty((), object)
    held[()] = Pass(node)
    return held


def spec_of(node: Node) -> Any:
    """What elements look like; if only the data tell, the first one is made."""
    try:
        return node.spec()
    except NotKnownYet:
        with suspended():
            next(node.elements(), None)
        return node.spec()


class IteratorSpec(TypeSpec):
    """The description of an iterator by that of its elements."""

    __slots__ = ("_element_spec",)

    def __init__(self, element_spec: Any) -> None:
        self._element_spec = element_spec

    @staticmethod
    def from_value(value: Any) -> IteratorSpec:
        """The description of an iterator."""
        return IteratorSpec(value.element_spec)

    @property
    def element_spec(self) -> Any:
        """The structure of specs of an element."""
        return self._element_spec

    @property
    def value_type(self) -> type:
        return Iterator

    def _serialize(self) -> tuple[Any, ...]:
        return (self._element_spec,)

    @property
    def _component_specs(self) -> Any:
        return [TensorSpec([], "string")]

    def _to_components(self, value: Any) -> Any:
        return [value._handle]

    def _from_components(self, components: Any) -> Any:
        return Iterator(components[0], self._element_spec)

    def __hash__(self) -> int:
        return hash((IteratorSpec, tuple(structure.flatten(self._element_spec))))


class Iterator(CompositeTensor, Trackable):
    """The elements of a dataset, one by one.

    >>> import gradtape as tf
    >>> iterator = iter(tf.data.Dataset.range(2))
    >>> int(next(iterator)), int(iterator.get_next())
    (0, 1)
    >>> bool(iterator.get_next_as_optional().has_value())
    False
    """

    def __init__(self, handle: Any, element_spec: Any = None) -> None:
        self._handle, self._spec = handle, element_spec
        self._pack: Any = None

    @property
    def _pass(self) -> Pass:
        return self._handle._value.item()

    def _serialize_to_tensors(self) -> dict[str, Any]:
        return {"ITERATOR_STATE": tensor(np.array(self._pass.state(), np.int64))}

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> None:
        self._pass.go_to(*restored_tensors["ITERATOR_STATE"].numpy().tolist())

    @property
    def element_spec(self) -> Any:
        """The structure of specs of an element."""
        if self._spec is None:
            self._spec = self._pass.spec()
        return self._spec

    @property
    def _type_spec(self) -> TypeSpec:  # type: ignore[override]
        return IteratorSpec(self.element_spec)

    def _handed(self) -> tuple[Any, Any]:
        """What tells it from others when it is an argument of a function, and its tensor."""
        return self.element_spec, self._handle

    def __iter__(self) -> Iterator:
        return self

    def __next__(self) -> Any:
        if threads.recording is not None:
            return self.get_next()
        element = self._pass.next()
        if element is None:
            raise StopIteration
        return self._packed(element)

    def _packed(self, element: Element) -> Any:
        if self._pack is None:
            self._pack = structure.packer(self.element_spec)
        return self._pack(element)

    def get_next(self) -> Any:
        """The next element; OutOfRangeError after the last one."""
        if threads.recording is None:
            element = self._pass.next()
            if element is None:
                raise errors.OutOfRangeError(None, None, _END)
            return self._packed(element)
        return self._packed(_drawn(self._handle._value, self.element_spec)[1])

    next = get_next

    def get_next_as_optional(self) -> Optional:
        """The next element, or that there is none."""
        spec = self.element_spec
        if threads.recording is None:
            element = self._pass.next()
            return Optional.empty(spec) if element is None else Optional(
                tensor(np.True_), element, spec
            )  # fmt: skip
        has, leaves = _drawn(self._handle._value, spec, or_none=True)
        return Optional(has, leaves, spec)


def _drawn(held: Any, spec: Any, or_none: bool = False) -> tuple[Any, list[Any]]:
    """Whether there was an element at a call of the function that is recorded, and its leaves."""
    specs = structure.flatten(spec)
    dense = all(isinstance(one, TensorSpec) for one in specs)

    def draw(held: Any) -> list[Any]:
        leaves = held.item().next()
        if leaves is None:
            if not or_none:
                raise errors.OutOfRangeError(None, None, _END)
            return [np.False_, *_arrays([stand_in(one, 0, 0) for one in specs])]
        return [np.True_, *([leaf._value for leaf in leaves] if dense else _arrays(leaves))]

    def put_back(found: list[Any], held: Any) -> None:
        if found[0]:
            held.item().put_back(_leaves(specs, iter(map(tensor, found[1:]))))

    draw.undo = put_back  # type: ignore[attr-defined]
    made = threads.recording.effect("IteratorGetNext", draw, [held], True, False)
    has, *rest = map(tensor, made)
    return has, _leaves(specs, iter(rest))


def _arrays(leaves: list[Any]) -> list[Any]:
    flat = nest.flatten([leaf for leaf in leaves if leaf is not None], expand_composites=True)
    return [one._value for one in flat]


def _leaves(specs: list[Any], left: PythonIterator[Any]) -> list[Any]:
    found: list[Any] = []
    for spec in specs:
        if spec.value_type is type(None):
            found.append(None)
        elif isinstance(spec, TensorSpec) or not getattr(spec, "ragged_rank", 1):
            found.append(next(left))
        else:
            parts = spec._component_specs
            found.append(spec._from_components(nest.map_structure(lambda _: next(left), parts)))
    return found


def loop(node: Node) -> PythonIterator[Any]:
    """A Python loop over a dataset in a function that is recorded: a new pass at every call."""
    spec = spec_of(node)
    (held,) = threads.recording.effect("MakeIterator", lambda: [handle(node)], [], True, False)
    while True:
        has, leaves = _drawn(held, spec, or_none=True)
        if not has:
            return
        yield structure.pack(spec, leaves)


def outside(name: str, function: Callable[[], list[Any]], spec: Any) -> Any:
    """What a function of datasets gives; at every call of a function that is recorded, anew."""
    if threads.recording is None:
        return structure.pack(spec(), function())
    made = threads.recording.effect(name, lambda: _arrays(function()), [], True, False)
    return structure.pack(spec(), _leaves(structure.flatten(spec()), iter(map(tensor, made))))


class NumpyIterator:
    """The elements of a dataset as NumPy arrays."""

    def __init__(self, dataset: Any) -> None:
        self._iterator = iter(dataset)

    def __iter__(self) -> NumpyIterator:
        return self

    def __next__(self) -> Any:
        return _numpy(next(self._iterator))

    def next(self) -> Any:
        return self.__next__()

    def __repr__(self) -> str:
        return f"NumpyIterator(iterator={self._iterator!r})"


def _numpy(value: Any) -> Any:
    def leaf(one: Any) -> Any:
        if isinstance(one, Value):
            return one.numpy()  # type: ignore[attr-defined]
        if hasattr(one, "_node"):
            return NumpyIterator(one)
        return one.numpy() if hasattr(one, "numpy") else one

    return structure.map_leaves(leaf, value)
