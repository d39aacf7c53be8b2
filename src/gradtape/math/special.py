"""`tf.math.special`: Bessel functions and integrals, element by element; Sobol's sequence."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes, errors
from ..core.apply import tensor
from ..framework import convert
from ..framework.arguments import as_input, number
from ..framework.functions import unary
from ..framework.namespaces import lookup
from ..ops import special as ops
from .elementwise import bessel_i0, bessel_i0e, bessel_i1, bessel_i1e

__getattr__ = lookup(__name__)

__all__ = [
    "bessel_i0", "bessel_i0e", "bessel_i1", "bessel_i1e", "bessel_j0", "bessel_j1", "bessel_k0",
    "bessel_k0e", "bessel_k1", "bessel_k1e", "bessel_y0", "bessel_y1", "dawsn", "expint",
    "fresnel_cos", "fresnel_sin", "spence",
]  # fmt: skip

_INT32 = np.dtype(np.int32)

bessel_j0 = unary(ops.bessel_j0, "bessel_j0", "The Bessel function of the first kind, order 0.")
bessel_j1 = unary(ops.bessel_j1, "bessel_j1", "The Bessel function of the first kind, order 1.")
bessel_k0 = unary(
    ops.bessel_k0, "bessel_k0", "The modified Bessel function of the second kind, order 0."
)
bessel_k1 = unary(
    ops.bessel_k1, "bessel_k1", "The modified Bessel function of the second kind, order 1."
)
bessel_k0e = unary(ops.bessel_k0e, "bessel_k0e", "exp(x) bessel_k0(x).")
bessel_k1e = unary(ops.bessel_k1e, "bessel_k1e", "exp(x) bessel_k1(x).")
bessel_y0 = unary(ops.bessel_y0, "bessel_y0", "The Bessel function of the second kind, order 0.")
bessel_y1 = unary(ops.bessel_y1, "bessel_y1", "The Bessel function of the second kind, order 1.")
dawsn = unary(ops.dawsn, "dawsn", "exp(-x^2) times the integral of exp(t^2) from 0 to x.")
expint = unary(ops.expint, "expint", "The integral of exp(t) / t up to x, for x above 0.")
fresnel_cos = unary(ops.fresnel_cos, "fresnel_cos", "The integral of cos(pi t^2 / 2) from 0 to x.")
fresnel_sin = unary(ops.fresnel_sin, "fresnel_sin", "The integral of sin(pi t^2 / 2) from 0 to x.")
spence = unary(ops.spence, "spence", "The integral of log(t) / (1 - t) from 1 to x.")


def sobol_sample(
    dim: Any, num_results: Any, skip: Any = 0, dtype: Any = dtypes.float32, name: str | None = None
) -> Any:
    """Points of Sobol's sequence, which fill the unit cube evenly.

    >>> import gradtape as tf
    >>> tf.math.sobol_sample(2, 2)
    <tf.Tensor: shape=(2, 2), dtype=float32, numpy=
    array([[0.5 , 0.5 ],
           [0.75, 0.25]], dtype=float32)>
    """
    found = dtypes.as_dtype(dtype)
    if found.name not in ("float32", "float64"):
        raise errors.wrong_dtype(
            f"Value for attr 'dtype' of {found.name} is not in the list of allowed values: float, "
            "double [Op:SobolSample]"
        )
    given = (("dim", dim), ("num_results", num_results), ("skip", skip))
    quick = all(convert.quickly(value) for _, value in given)
    sizes = []
    for argument, value in given:
        read = (
            as_input(value, np.int32, "SobolSample") if quick else convert.to_tensor(value, _INT32)
        )
        if read._value.ndim:
            raise errors.invalid(f"{argument} must be a scalar [Op:SobolSample] name: ")
        sizes.append(number(read))
    size, count, start = sizes
    if size < 1:
        raise errors.invalid("dim must be at least one [Op:SobolSample] name: ")
    if count < 1:
        raise errors.invalid("num_results must be at least one [Op:SobolSample] name: ")
    if start < 0:
        raise errors.invalid("skip must be non-negative [Op:SobolSample] name: ")
    from scipy.stats import qmc

    points = qmc.Sobol(size, scramble=False).fast_forward(start + 1).random(count)
    return tensor(points.astype(np.dtype(found.as_numpy_dtype)))
