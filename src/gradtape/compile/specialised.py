"""A function for arguments of one kind, as `get_concrete_function` gives it."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..core.apply import tensor
from ..framework.shapes import TensorSpec
from .concrete import ConcreteSignature
from .draws import Kernels
from .record import Recording
from .traced import Traced
from .traces import printed
from .tree import Take


class ConcreteFunction:
    """One signature of a function; called with tensors of that kind, or with its arguments."""

    def __init__(self, function: Any, bound: Any, trace: Any) -> None:
        self._function, self._bound, self._trace = function, bound, trace
        name = f"__inference_{function._name}_{len(function._traces)}"
        self.name = name.encode()
        self._signature = ConcreteSignature(function._signature, bound, trace, name)
        self._taken: Take | None = None
        self._open: set[tuple[int, int]] = set()  # sizes of results that depend on open ones
        self._take  # noqa: B018 - recorded at once, as TensorFlow traces

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        bound = self._signature.bind(args, kwargs)
        tree = self._function._tree(bound)
        with self._function._counted(tree, bound):
            return tree.call(bound, self._function._may_create)

    @property
    def _take(self) -> Take:
        """A recording: on the values that were given, or on stand-ins for specs."""
        if self._taken is None:
            self._taken = self._recorded(2)
            if any(None in _sizes(leaf) for leaf in self._bound.leaves):
                other = self._recorded(3).program.outputs
                self._open = {
                    (k, axis)
                    for k, pair in enumerate(zip(self._taken.program.outputs, other, strict=True))
                    for axis, (n, m) in enumerate(zip(*[v.shape or () for v in pair], strict=True))
                    if n != m
                }
        return self._taken

    def _recorded(self, size: int) -> Take:
        leaves = [_stand_in(leaf, size) for leaf in self._bound.leaves]
        args, kwargs = self._bound.rebuild(leaves)
        bound = self._function._signature.bind(args, kwargs)
        tree = self._function._tree(bound)
        with self._function._counted(tree, bound):
            return tree.some_take(bound, self._function._may_create)

    # --- what it takes and gives ------------------------------------------------------------------
    @property
    def structured_input_signature(self) -> Any:
        return self._bound.specs

    @property
    def inputs(self) -> list[Any]:
        """Its tensors, which have no values here, and its variables."""
        return [*map(_symbol, self._take.program.inputs), *self.captured_inputs]

    @property
    def captured_inputs(self) -> list[Any]:
        return [variable.handle for variable in self.variables]

    @property
    def structured_outputs(self) -> Any:
        return self._take.pack(self.outputs)

    @property
    def outputs(self) -> list[Any]:
        return list(map(_symbol, self._take.program.outputs))

    @property
    def _specs(self) -> list[TensorSpec]:
        return [
            TensorSpec(
                [None if (k, axis) in self._open else n for axis, n in enumerate(v.shape or ())],
                dtypes.of(v.dtype),
            )
            for k, v in enumerate(self._take.program.outputs)
        ]

    @property
    def output_shapes(self) -> Any:
        return self._take.pack([spec.shape for spec in self._specs])

    @property
    def output_dtypes(self) -> Any:
        return self._take.pack([spec.dtype for spec in self._specs])

    @property
    def variables(self) -> tuple[Any, ...]:
        given = {id(variable) for variable in self._bound.variables}
        return tuple([v for v, _ in self._take.program.variables if id(v) not in given])

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        return tuple([variable for variable in self.variables if variable.trainable])

    @property
    def function_type(self) -> Any:
        return self._signature

    def pretty_printed_signature(self, verbose: bool = True) -> str:
        signature = self._function._signature
        outputs = self._take.pack(self._specs)
        return printed(signature, self._trace, outputs, self.variables, verbose)

    def __str__(self) -> str:
        return f"ConcreteFunction {self.pretty_printed_signature()}"

    def __repr__(self) -> str:
        return f"<ConcreteFunction {self.pretty_printed_signature(verbose=False)} at {id(self):#x}>"


def _sizes(leaf: Any) -> list[int | None]:
    if not isinstance(leaf, TensorSpec) or leaf.shape.rank is None:
        return [] if not isinstance(leaf, TensorSpec) else [None]
    return leaf.shape.as_list()


def _symbol(var: Any) -> Any:
    """A tensor with a shape and a dtype, which stands for a value of the program."""
    recording = Recording(Kernels(), None, False)
    array = np.broadcast_to(np.zeros((), var.dtype), var.shape)
    symbol = tensor(Traced(array if array.ndim else array[()], recording, var))
    recording.close()
    return symbol


def _stand_in(leaf: Any, size: int) -> Any:
    """A tensor that a spec describes, open sizes filled in."""
    if not isinstance(leaf, TensorSpec):
        return leaf
    sizes = [] if leaf.shape.rank is None else leaf.shape.as_list()
    shape = [size if n is None else n for n in sizes]
    dtype = np.dtype(leaf.dtype.as_numpy_dtype)
    return tensor(np.full(shape, b"", object) if dtype.kind == "O" else np.zeros(shape, dtype)[()])
