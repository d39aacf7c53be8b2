"""What the compiler knows of ops beyond their declarations: which are one call of a NumPy function
that can write into an array, which only look at their operand's memory, which make new arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Any

import numpy as np

from ..core.op import Op
from ..ops import elementwise, index, linear, neural, reduce, shape, special
from ..ops.kernels import parallel
from .program import Equation, Python, Var

NATIVE = "?bhilqBHILQfdFD"  # dtypes of NumPy's own, but for float16


@cache
def ufunc_of(op: Any) -> Any:
    """The NumPy function that is all of an element-wise op, if there is one."""
    if not isinstance(op, Op) or not op.broadcasts:
        return None
    forward = op.forward
    if isinstance(forward, np.ufunc):
        return forward
    plain = getattr(forward, "__module__", "") == "_operator"
    if plain or getattr(forward, "__qualname__", "").startswith("shared."):
        return next((f for f in op.numpy if isinstance(f, np.ufunc)), None)
    return None


def is_native(value: Var) -> bool:
    return value.dtype is not None and value.dtype.char in NATIVE


@cache
def _result_type(ufunc: Any, dtypes: tuple[np.dtype, ...]) -> np.dtype | None:
    try:
        return ufunc.resolve_dtypes((*dtypes, *(None,) * ufunc.nout))[-1]
    except TypeError:
        return None


def as_ufunc(equation: Equation) -> Any:
    """The function that computes an equation in one call, with the dtypes that it has."""
    found = ufunc_of(equation.op)
    if found is None or equation.params or not is_native(equation.outputs[0]):
        return None
    if not all(map(is_native, equation.inputs)):
        return None
    dtypes = tuple(v.dtype for v in equation.inputs)
    if found.nin != len(dtypes) or _result_type(found, dtypes) != equation.outputs[0].dtype:
        return None
    return found


# --- memory ---------------------------------------------------------------------------------------
# The result is the operand itself, or another look at its numbers.
LOOKS = frozenset(
    (shape.identity, shape.stop_gradient, shape.reshape, shape.transpose, shape.broadcast_to,
     shape.split, shape.unstack)
)  # fmt: skip
# New arrays, whatever comes in; of all other ops this is not known.
NEW = frozenset(
    (linear.matmul, linear.matmul_nt, linear.matmul_tn, reduce.sum, reduce.mean, reduce.max,
     reduce.min, elementwise.sigmoid, elementwise.sigmoid_grad, elementwise.tanh_grad,
     elementwise.softplus, elementwise.squared_difference, neural.relu, neural.relu_gate,
     neural.bias_add, neural.gelu, neural.gelu_grad, index.gather, index.gather_rows, shape.concat,
     shape.stack, shape.cast)
)  # fmt: skip


def looks(equation: Equation) -> bool:
    """Whether the results are looks at the first operand's memory; single numbers are not."""
    if any(v.shape == () for v in equation.outputs):
        return False
    if equation.op is index.getitem:
        return len(equation.inputs) == 1 and is_basic(equation.params["key"])
    return equation.op in LOOKS


def is_basic(key: Any) -> bool:
    """Whether a key only looks: positions in arrays pick."""
    plain = (int, slice, type(None), type(Ellipsis), np.integer)
    return all(isinstance(part, plain) for part in (key if isinstance(key, tuple) else (key,)))


def is_new(equation: Equation) -> bool:
    """Whether the results are arrays of their own."""
    if equation.op in NEW or isinstance(equation.op, (Fused, Kernel)):
        return True
    return as_ufunc(equation) is not None


# --- writing into an array ------------------------------------------------------------------------
PRODUCTS = frozenset((linear.matmul, linear.matmul_nt, linear.matmul_tn))


def by_element(equation: Equation) -> bool:
    """Whether it goes element by element, so that it may write where it reads."""
    return as_ufunc(equation) is not None or equation.op is unless_zero


def writes(equation: Equation) -> bool:
    """Whether backends can let it write its result into an array."""
    op, (made, *_) = equation.op, equation.outputs
    if not is_native(made) or not all(map(is_native, equation.inputs)):
        return False
    if op in PRODUCTS:
        return made.dtype.char in "fd"
    if op in (shape.concat, shape.reshape, shape.stack, tile, turned_copy):
        return True
    if op is shape.cast:
        return equation.inputs[0].dtype.kind != "c"
    return by_element(equation)


@dataclass(eq=False, frozen=True)
class Kernel(Python):
    """A function of the compiler's own, whose results are new arrays."""

    infer: Callable[..., Any]


def _first(a: Any, *_: Any, **__: Any) -> Any:
    return a


def _unless_zero(a: Any, b: Any) -> Any:
    y = elementwise.zero_where(a == 0, b)
    return y.copy() if y is b else y


# The second operand, but 0 where the first one is 0.
unless_zero = Kernel("unless_zero", _unless_zero, _first)
# --- fused equations ------------------------------------------------------------------------------
# Ops that NumPy computes in several calls, part by part, on rows of float32 up to `BLOCK` long:
# `kernel(*operands, out, *rooms)`, with the number of rooms.
PARTS: dict[Any, tuple[Callable[..., Any], int]] = {
    special.erf: (special.erf_in_blocks, 2),
    neural.gelu: (neural.gelu_in_blocks, 4),
    neural.gelu_grad: (neural.gelu_grad_in_blocks, 4),
}


def in_parts(equation: Equation) -> bool:
    """Whether it can be computed part by part, though it is not one call."""
    values = (*equation.inputs, *equation.outputs)
    return equation.op in PARTS and all(
        v.dtype.char == "f" and v.shape == values[0].shape for v in values
    )


def is_costly(equation: Equation) -> bool:
    """Whether threads may share the work on a single equation."""
    shared = getattr(getattr(equation.op, "forward", None), "__qualname__", "").startswith(
        "shared."
    )
    return shared or equation.op in PARTS


def threaded() -> int:
    """Numbers from which on threads share the work."""
    return parallel.MANY


@dataclass(eq=False, frozen=True)
class Fused:
    """Equations on arrays of one shape, element by element, as a single one."""

    name: str
    body: tuple[Equation, ...]
    inputs: tuple[Var, ...]
    outputs: tuple[Var, ...]

    def forward(self, *values: Any) -> tuple:
        """The results as the equations give them, one by one."""
        known = dict(zip(self.inputs, values, strict=True))
        for equation in self.body:
            y = equation.op.forward(*[known[v] for v in equation.inputs])
            known[equation.outputs[0]] = y
        return tuple([known[v] for v in self.outputs])

    def read_before(self, made: Var) -> list[Var]:
        """The operands that nobody reads any more once this result is written."""
        late, found = set[Var](), []
        for equation in reversed(self.body):
            if made in equation.outputs:
                found = [v for v in self.inputs if v not in late]
                # A kernel of several steps writes before it has read everything.
                if equation.op in PARTS:
                    found = [v for v in found if v not in equation.inputs]
                break
            late.update(equation.inputs)
        return found


STRETCH = 4096  # numbers that BLAS adds up one after the other, and so loses by rounding


def dot_of_stretches(a: Any, b: Any) -> Any:
    """The product of long vectors, each stretch added up from zero: of 35,110 equal float32 numbers
    BLAS alone loses 1e-5."""
    ends = range(0, a.size, STRETCH)
    return np.add.reduce([a[k : k + STRETCH].dot(b[k : k + STRETCH]) for k in ends])


def _dot(a: Any, b: Any) -> Any:
    a, b = a.reshape(-1), b.reshape(-1)
    return a.dot(b) if a.size <= STRETCH else dot_of_stretches(a, b)


# The sum of all products.
dot = Kernel(
    "dot", _dot, lambda a, b: ((), a[1])
)  # fmt: skip


# A matrix whose rows are the columns of another one.
turned_copy = Kernel(
    "turned_copy", lambda a: np.ascontiguousarray(a.T), lambda a: (a[0][::-1], a[1])
)  # fmt: skip


def _tiled(a: Any, count: int) -> Any:
    return ((count * prod(a[0]),), a[1])


# The same numbers again and again.
tile = Kernel("tile", lambda a, count: np.tile(a.reshape(-1), count), _tiled)


def is_row(value: Var, shape: tuple[int, ...]) -> bool:
    """Whether a value is broadcast over leading axes only: the same for every row."""
    size = value.shape
    while size and size[0] == 1:
        size = size[1:]
    return 0 < len(size) < len(shape) and shape[len(shape) - len(size) :] == size
