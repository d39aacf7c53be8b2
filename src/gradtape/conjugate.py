"""`tf.linalg.experimental`: the method of conjugate gradients."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from . import convert
from .core.apply import tensor
from .norms import norm
from .products import matvec
from .rearranging import broadcast_to
from .reductions import reduce_sum

__all__ = ["conjugate_gradient"]


class CGState(NamedTuple):
    """Steps taken, solution, residual, direction, and residual times preconditioned residual."""

    i: Any
    x: Any
    r: Any
    p: Any
    gamma: Any


def conjugate_gradient(
    operator: Any,
    rhs: Any,
    preconditioner: Any = None,
    x: Any = None,
    tol: float = 1e-5,
    max_iter: int = 20,
    name: str = "conjugate_gradient",
) -> CGState:
    """x in operator @ x = rhs by steps that gradients flow through.

    Differs from TensorFlow: for want of LinearOperators the operators are matrices, or any objects
    with a method `matvec`.

    >>> import gradtape as tf
    >>> a = tf.constant([[4.0, 1.0], [1.0, 3.0]])
    >>> tf.linalg.experimental.conjugate_gradient(a, tf.constant([5.0, 4.0])).x.numpy().round(3)
    array([1., 1.], dtype=float32)
    """
    for claim in ("is_self_adjoint", "is_positive_definite"):
        if not getattr(operator, claim, True):
            raise ValueError("Expected a self-adjoint, positive definite operator.")
    apply, prepare = _product(operator), _product(preconditioner)
    rhs = convert.to_tensor(rhs)
    if not rhs._value.ndim:
        raise ValueError(f"`rhs` is a vector, or a stack of them, got shape {rhs.shape}.")
    lead = np.broadcast_shapes(rhs._value.shape[:-1], _batch(operator), _batch(preconditioner))
    shape = (*lead, rhs._value.shape[-1])
    r = rhs if shape == rhs._value.shape else broadcast_to(rhs, shape)
    limit = float(tol) * norm(r, axis=-1)._value
    if x is None:
        x = tensor(np.zeros(shape, rhs._value.dtype))
    else:
        x = convert.to_tensor(x)
        r = rhs - apply(x)
    p = r if prepare is None else prepare(r)
    gamma, steps = _dot(r, p), 0
    while steps < max_iter and np.any(norm(r, axis=-1)._value > limit):
        z = apply(p)
        alpha = (gamma / _dot(p, z))[..., None]
        x, r = x + alpha * p, r - alpha * z
        q = r if prepare is None else prepare(r)
        before, gamma = gamma, _dot(r, q)
        p, steps = q + (gamma / before)[..., None] * p, steps + 1
    return CGState(tensor(np.int32(steps)), x, r, p, gamma)


def _product(operator: Any) -> Any:
    if operator is None:
        return None
    if hasattr(operator, "matvec"):
        return operator.matvec
    matrix = convert.to_tensor(operator)
    return lambda v: matvec(matrix, v)


def _batch(operator: Any) -> tuple[int, ...]:
    if operator is None or hasattr(operator, "matvec"):
        found = getattr(operator, "batch_shape", ())
        return tuple(int(n) for n in found)
    return convert.to_tensor(operator)._value.shape[:-2]


def _dot(a: Any, b: Any) -> Any:
    from .math import conj

    return reduce_sum((conj(a) if a._value.dtype.kind == "c" else a) * b, -1)
