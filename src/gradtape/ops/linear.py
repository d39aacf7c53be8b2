"""Products of matrices, and the general contraction of two operands that `einsum` is made of."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from ..core import apply
from ..core.op import FLOATS, NUMBERS, REALS
from .declare import op
from .infer import Shape, alike, stacked
from .kernels.pending import product_later
from .kernels.product import product, product_of_stacks


# --- matrices -------------------------------------------------------------------------------------
def _matmul(a: Any, b: Any) -> Any:
    if a.ndim == b.ndim == 2 and a.dtype.char in "fdFD":
        if a.shape[1] == b.shape[0]:
            return product(a, b)
        raise _wrong_shapes(a.shape, b.shape)
    if a.ndim < 2 or b.ndim < 2 or a.shape[-1] != b.shape[-2]:
        raise _wrong_shapes(a.shape, b.shape)
    kind = a.dtype.kind
    if kind in FLOATS and a.itemsize == 2:
        # NumPy has no BLAS for them; TensorFlow adds up in float32 as well.
        return _matmul(a.astype(np.float32), b.astype(np.float32)).astype(a.dtype)
    if kind == "i" and a.itemsize < 4:
        raise TypeError(f"cast {a.dtype.name} to int32 first")
    if kind == "u":
        from ..errors import no_kernel

        raise no_kernel("MatMul", a.dtype.name)
    if a.ndim > 2 and b.ndim == 2:
        # One large product instead of one for each matrix of the stack.
        rows = a.reshape(prod(a.shape[:-1]), a.shape[-1])
        return _matmul(rows, b).reshape(*a.shape[:-1], b.shape[-1])
    return product_of_stacks(a, b) if kind in "fc" else np.matmul(a, b)


def _wrong_shapes(a: tuple[int, ...], b: tuple[int, ...]) -> Exception:
    from ..errors import invalid

    if len(a) >= 2 and len(b) >= 2:
        return invalid(
            f"Matrix size-incompatible: In[0]: {list(a)}, In[1]: {list(b)}: the columns of the "
            f"first ({a[-1]}) and the rows of the second ({b[-2]}) differ [Op:MatMul] name: "
        )
    advice = (
        "matmul takes matrices; give a vector an axis first (tf.expand_dims), or tf.linalg.matvec"
    )
    if len(a) == len(b):
        return invalid(f"In[0] and In[1] ndims must be == 2: {len(a)}: {advice} [Op:MatMul] name: ")
    return invalid(
        f"In[0] and In[1] has different ndims: {list(a)} vs. {list(b)}: {advice} [Op:MatMul] name: "
    )


def turned(a: Any) -> Any:
    """The last two axes exchanged."""
    if a.__class__ is np.ndarray:
        # 0.3 and 0.5 us faster than np.swapaxes.
        return a.T if a.ndim == 2 else a.swapaxes(-1, -2)
    return np.swapaxes(a, -1, -2)


def _across_rows(a: Any, g: Any, b: Any) -> Any:
    """aᵀ g for an operand b: of stacks that share a matrix b, one product over all their rows."""
    if a.ndim > 2 and b.ndim == 2 and g.ndim == a.ndim:
        a = np.reshape(a, (prod(a.shape[:-1]), a.shape[-1]))
        g = np.reshape(g, (prod(g.shape[:-1]), g.shape[-1]))
    return matmul_tn(a, g)


def _product_shape(rows: int, columns: int) -> Any:
    """The shape rule of a product of matrices, by the axes that stay of each."""

    def shape(a: Shape, b: Shape) -> Shape:
        left, right = a[-3 - rows], b[-3 - columns]
        if None not in (left, right) and left != right:
            raise ValueError(f"{a} and {b}: {left} and {right} are summed over together")
        return stacked(a, b, a[rows], b[columns])

    return shape


def _product(name: str, forward: Any, rules: Any, shape: Any, sample: Any, **more: Any) -> Any:
    made = op(
        name, forward, rules, shape=shape, label="MatMul", push="bilinear", broadcasts=True,
        batches=True, takes=NUMBERS, sample=sample, **more,
    )  # fmt: skip
    # Without parameters, so it may take the short path: 2.5 us less per call.
    made.apply = apply.quick(made)
    return made


# Of a b, a bᵀ and aᵀ b each has derivatives among the others, so no transpose is ever recorded.
matmul: Any = _product(
    "matmul", _matmul,
    (lambda g, b: matmul_nt(g, b), lambda g, a, b: _across_rows(a, g, b)),
    _product_shape(-2, -1),
    lambda d: [
        ([d(2, 3), d(3, 4)], {}), ([d(5, 2, 3), d(3, 4)], {}), ([d(5, 1, 2, 3), d(2, 3, 4)], {}),
    ],
    numpy=(np.matmul,), later=lambda old, g, a, b_shape: product_later(old, a._value, g),
)  # fmt: skip
matmul_nt: Any = _product(
    "matmul_nt", lambda a, b: _matmul(a, turned(b)),
    (lambda g, b: matmul(g, b), lambda g, a, b: _across_rows(g, a, b)),
    _product_shape(-2, -2),
    lambda d: [([d(2, 3), d(4, 3)], {}), ([d(5, 2, 3), d(4, 3)], {}), ([d(2, 3), d(5, 4, 3)], {})],
    later=lambda old, g, a, b_shape: product_later(old, g, a._value),
)  # fmt: skip
matmul_tn: Any = _product(
    "matmul_tn", lambda a, b: _matmul(turned(a), b),
    (lambda g, b: matmul_nt(b, g), lambda g, a: matmul(a, g)),
    _product_shape(-1, -1),
    lambda d: [([d(3, 2), d(3, 4)], {}), ([d(5, 3, 2), d(5, 3, 4)], {})],
)  # fmt: skip

# (a x b) . g = a . (b x g) = b . (g x a): every derivative is a cross product again.
cross = op(
    "cross", np.cross, (lambda g, b: np.cross(b, g), lambda g, a: np.cross(g, a)),
    shape=alike, push="bilinear", batches=True, takes=REALS,
    sample=lambda d: [([d(3), d(3)], {}), ([d(2, 3), d(2, 3)], {})],
)  # fmt: skip


# --- contractions ---------------------------------------------------------------------------------
@lru_cache(maxsize=512)
def _plan(labels: str, a: str, b: str) -> tuple[Any, ...]:
    """How to write a contraction as a product of stacked matrices: (both, a's own, inner) times
    (both, inner, b's own), and where the result's axes stand then."""
    both = [c for c in a if c in b and c in labels]
    inner = [c for c in a if c in b and c not in labels]
    own_a = [c for c in a if c not in b]
    own_b = [c for c in b if c not in a]
    made = both + own_a + own_b
    return (
        tuple(a.index(c) for c in both + own_a + inner),
        tuple(b.index(c) for c in both + inner + own_b),
        tuple(made.index(c) for c in labels),
        len(both), len(inner), len(own_a), len(own_b),
    )  # fmt: skip


def _contract(a: Any, b: Any, equation: str) -> Any:
    left, right, labels = _parts(equation)
    axes_a, axes_b, axes, n_both, n_inner, n_a, n_b = _plan(labels, left, right)
    a, b = a.transpose(axes_a), b.transpose(axes_b)
    both, own_a = a.shape[:n_both], a.shape[n_both : n_both + n_a]
    own_b = b.shape[n_both + n_inner :]
    if n_inner:
        inner = prod(a.shape[n_both + n_a :])
        a = a.reshape(*both, prod(own_a), inner)
        b = b.reshape(*both, inner, prod(own_b))
        y = _matmul(a, b).reshape(both + own_a + own_b)
    else:
        y = a.reshape(a.shape + (1,) * n_b) * b.reshape(both + (1,) * n_a + own_b)
    return y.transpose(axes)


def _parts(equation: str) -> tuple[str, str, str]:
    operands, labels = equation.split("->")
    left, right = operands.split(",")
    return left, right, labels


def _derivative(g: Any, other: Any, equation: str, which: int) -> Any:
    left, right, labels = _parts(equation)
    mine, others = (left, right) if which == 0 else (right, left)
    if g.ndim > len(labels):
        # A label of its own for the leading axis of a stack of cotangents.
        labels, mine = "*" + labels, "*" + mine
    return contract(g, other, equation=f"{labels},{others}->{mine}")


def _contract_shape(a: Shape, b: Shape, equation: str) -> Shape:
    left, right, labels = _parts(equation)
    sizes = {c: n for c, n in zip(left + right, a + b, strict=True) if n is not None}
    return tuple(sizes.get(c) for c in labels)


# Each label stands in at least two of the three parts and in none twice, so the derivatives are
# contractions of the same kind: whatever else einsum can say is said by other ops before and after.
contract = op(
    "contract", _contract,
    (
        lambda g, b, equation: _derivative(g, b, equation, 0),
        lambda g, a, equation: _derivative(g, a, equation, 1),
    ),
    shape=_contract_shape, label="Einsum", push="bilinear", batches=True, params=("equation",),
    takes=NUMBERS,
    sample=lambda d: [
        ([d(2, 3), d(3, 4)], {"equation": "ij,jk->ki"}),
        ([d(2, 3, 2), d(2, 4, 2)], {"equation": "bij,bkj->bik"}),
        ([d(2), d(3)], {"equation": "i,j->ji"}),
        ([d(2, 3), d(2, 3)], {"equation": "ij,ij->"}),
    ],
)  # fmt: skip
