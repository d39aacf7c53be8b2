"""Ops between real and complex numbers. They are not holomorphic: their rules take cotangents as
they come (`real`), where the sweep conjugates those of all other ops."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.op import Op
from .declare import elementwise, op
from .elementwise import SIGNED, divide_no_nan
from .infer import as_complex, as_real, broadcast, same


def _complex_sample(d: Any) -> Any:
    return [([d(2, 3) + 1j * d(2, 3)], {})]


absolute = elementwise(
    "abs", np.abs, lambda g, a: g * np.sign(a),
    dtype=as_real, takes=SIGNED, numpy=(np.absolute,),
)  # fmt: skip


def zeros(a: Any) -> Any:
    return np.zeros_like(a)


complex_abs = op(
    "complex_abs", np.abs,
    lambda g, a, y: divide_no_nan(to_complex(g, zeros(g)) * a, to_complex(y, zeros(y))),
    shape=same, dtype=as_real, label="ComplexAbs", real=True, batches=True, sample=_complex_sample,
)  # fmt: skip


def _to_complex(a: Any, b: Any) -> Any:
    # By parts: a + 1j * b would turn an infinite part into nan.
    out = np.empty(np.broadcast_shapes(a.shape, b.shape), np.result_type(a.dtype, np.complex64))
    out.real, out.imag = a, b
    return out[()]


to_complex: Op = op(
    "to_complex", _to_complex, (lambda g: np.real(g), lambda g: np.imag(g)),
    shape=broadcast, dtype=as_complex, label="Complex", real=True, push="linear", broadcasts=True,
    batches=True,
    sample=lambda d: [([d(2, 3), d(3)], {})],
)  # fmt: skip
real = op(
    "real", lambda a: np.real(a)[()], lambda g: to_complex(g, zeros(g)), shape=same,
    dtype=as_real, real=True, push="linear", batches=True, numpy=(np.real,), sample=_complex_sample,
)  # fmt: skip
imag = op(
    "imag", lambda a: np.imag(a)[()], lambda g: to_complex(zeros(g), g), shape=same,
    dtype=as_real, real=True, push="linear", batches=True, numpy=(np.imag,), sample=_complex_sample,
)  # fmt: skip
conj = op(
    "conj", np.conj, lambda g: np.conj(g), shape=same, real=True, push="linear", batches=True,
    numpy=(np.conjugate,), sample=_complex_sample,
)  # fmt: skip
angle = op(
    "angle", np.angle,
    lambda g, a: -to_complex(g, zeros(g)) / to_complex(np.imag(a), np.real(a)),
    shape=same, dtype=as_real, real=True, batches=True, sample=_complex_sample,
)  # fmt: skip
