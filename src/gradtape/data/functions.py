"""The functions that users give to transformations: recorded once, and played for every element.

What a function gives is found out at once, on stand-ins, so that `element_spec` is known and a
wrong function is refused where it is given. What depends on the data (sizes that are numbers of an
element, Python code that only runs later) is left open, or found out with the first element.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .. import errors, nest
from ..autodiff.custom import suspended
from ..compile.function import Function
from ..compile.record import Unrecordable, Unseen, stand_ins
from ..core.apply import tensor
from ..core.record import Value
from ..framework.shapes import CompositeTensor, NoneTensorSpec, TensorSpec, TypeSpec
from ..ragged.tensor import RaggedTensor, RaggedTensorSpec
from ..sparse.tensor import SparseTensor, SparseTensorSpec
from . import structure
from .node import NotKnownYet

_TENSORS = (TensorSpec, RaggedTensorSpec, SparseTensorSpec, NoneTensorSpec)


# The number that stands for all, and the size that stands for open ones. Where somebody looks at
# numbers or sizes are open, three of these are tried: numbers that lie apart, as halves and thirds
# of 0 and 1 are the same, and sizes of which one is 1.
_STAND_INS = ((0, 2), (1, 3), (7, 1), (2, 5), (3, 4))
_TRIED = 3


class _Opaque(Exception):
    """A function gives datasets, which are no values of a program."""


class Call:
    """A function of elements.

    `takes` is the structure of what it is called with, or None as long as that is not known; a
    tuple becomes several arguments.
    """

    def __init__(self, function: Callable[..., Any], takes: Callable[[], Any], name: str) -> None:
        if not callable(function):
            raise TypeError(f"The function given to Dataset.{name}() is not callable: {function!r}")
        self._python, self._takes, self._name = function, takes, name
        self._program = Function(self._recorded)
        self._eager = False
        self._gives: Any = None
        self._found: Any = None  # the specs of the last recording
        self._closed = True  # whether all sizes are known
        self._pack: Any = None
        self._several = False
        try:
            wanted = takes()
        except NotKnownYet:
            return
        self._eager = not all(isinstance(spec, _TENSORS) for spec in structure.flatten(wanted))
        self._gives = self._survey(wanted)

    @property
    def gives(self) -> Any:
        """The structure of specs of its results; NotKnownYet before the first one."""
        if self._gives is None:
            raise NotKnownYet
        return self._gives

    def __call__(self, flat: list[Any]) -> list[Any]:
        """The leaves of the result for the leaves of an element."""
        if self._pack is None:
            takes = self._takes()
            self._pack, self._several = structure.packer(takes), type(takes) is tuple
        element = self._pack(flat)
        args = element if self._several else (element,)
        if not self._eager:
            try:
                found = self._program(*args)
            except _Opaque:
                self._eager = True
        if self._eager:
            found = self._run(args)
        if self._gives is None:
            known = self._found if self._closed else structure.map_leaves(_open, self._found)
            self._gives = known
        return found

    def begin(self) -> None:
        """Let random ops with seeds begin anew, as they do for every iterator of TensorFlow's."""
        for kernels in self._program._kernels.values():
            kernels.restart_seeded()

    # --- how it runs ------------------------------------------------------------------------------
    def _recorded(self, *args: Any) -> list[Any]:
        # Elements are packed for the function alone, which may write into a dictionary of them.
        leaves = self._leaves(nest.map_structure(lambda leaf: leaf, args))
        if not all(isinstance(leaf, (Value, CompositeTensor, type(None))) for leaf in leaves):
            raise _Opaque
        return leaves

    def _run(self, args: Any) -> list[Any]:
        return self._leaves(args)

    def _leaves(self, args: Any) -> list[Any]:
        result = self._python(*args)
        if isinstance(result, list):  # of tensors, perhaps, that cannot be stacked
            result = tuple(result)
        try:
            self._found, leaves = structure.normalised(result)
        except (TypeError, ValueError) as cause:
            raise TypeError(
                f"Unsupported return value from function passed to Dataset.{self._name}(): "
                f"{result!r}."
            ) from cause
        return leaves

    # --- what it gives ----------------------------------------------------------------------------
    def _survey(self, wanted: Any) -> Any:
        """The specs of its results, or None if only the data tell."""
        found: list[Any] = []
        refused: Exception | None = None
        closed = all(map(_is_closed, structure.flatten(wanted)))
        try:
            with suspended(), _standing_in():
                for number, size in _STAND_INS:
                    try:
                        spec, again = self._tried(wanted, number, size, number > 0)
                    except errors.OpError:  # of numbers that no element may have
                        continue
                    except (Unseen, Unrecordable):
                        raise
                    except Exception as error:  # perhaps of such numbers, too
                        refused = refused or error
                        continue
                    found.append(spec)
                    if len(found) == _TRIED or (not again and closed):
                        break
                if refused is not None and not found:
                    raise refused
                self._closed = not stand_ins.guessed
        except Unseen:
            self._closed = False
            return None
        except Unrecordable:
            return None
        if len(found) > 1:
            return functools.reduce(structure.common, found)
        if found and closed and not again:
            return found[0]
        self._closed = False
        return None

    def _tried(self, wanted: Any, number: int, size: int, anew: bool = False) -> tuple[Any, bool]:
        """The specs for stand-ins, and whether somebody looked at their numbers."""
        stand_ins.size = size
        flat = [stand_in(spec, number, size) for spec in structure.flatten(wanted)]
        element = structure.pack(wanted, flat)
        args = element if type(wanted) is tuple else (element,)
        if not self._eager:
            program = self._program
            bound = program._signature.bind(args, {})
            tree = program._tree(bound)
            try:
                if anew and tree.takes:
                    take = tree.tried(bound)
                else:
                    with program._counted(tree, bound):
                        take = tree.taken(bound, program._may_create)
                return self._found, bool(take.program.guards)
            except _Opaque:
                self._eager = True
        self._run(args)
        return self._found, True


@contextmanager
def _standing_in() -> Iterator[None]:
    before = stand_ins.used, stand_ins.size, stand_ins.guessed
    stand_ins.used, stand_ins.guessed = True, False
    try:
        yield
    finally:
        stand_ins.used, stand_ins.size, stand_ins.guessed = before


def _is_closed(spec: TypeSpec) -> bool:
    return isinstance(spec, NoneTensorSpec) or (
        isinstance(spec, TensorSpec) and spec.shape.is_fully_defined()
    )


def _open(spec: TypeSpec) -> TypeSpec:
    """The description without the shape."""
    return TensorSpec(None, spec.dtype) if isinstance(spec, TensorSpec) else spec


def stand_in(spec: TypeSpec, number: int, size: int) -> Any:
    """A leaf that a spec describes: this number everywhere, open sizes filled in."""
    if isinstance(spec, NoneTensorSpec):
        return None
    if not isinstance(spec, (TensorSpec, RaggedTensorSpec, SparseTensorSpec)):
        return spec._stand_in(number, size)  # type: ignore[attr-defined]
    dtype = np.dtype(spec.dtype.as_numpy_dtype)
    sizes = [size] if spec.shape.rank is None else spec.shape.as_list()
    shape = [size if n is None else n for n in sizes]
    if isinstance(spec, SparseTensorSpec):
        nowhere = tensor(np.zeros((0, len(shape)), np.int64)), tensor(np.zeros(0, dtype))
        return SparseTensor(*nowhere, tensor(np.array(shape, np.int64)))
    if dtype.kind == "O":
        array: Any = np.full(shape, b"0" * number, object)
    else:
        array = np.full(shape, number, dtype)
    made = tensor(array if array.ndim or dtype.kind == "O" else array[()])
    if isinstance(spec, RaggedTensorSpec) and spec.ragged_rank:
        splits = spec.row_splits_dtype
        made = RaggedTensor.from_tensor(made, None, None, spec.ragged_rank, None, splits)
    return made
