"""The native functions against wider types: a sample of all numbers, the special ones, all widths.

`python -m tests.compile.native.exhaustive` takes every float32.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from gradtape.compile.native.functions import BINARY, UNARY

from . import references
from .harness import EXTENDED, looped

DTYPES = [np.float32, np.float64]
# In units in the last place, where it is not 2.
LIMITS = {("tan", "float64"): 4, ("sinh", "float64"): 4, ("erfc", "float64"): 4}
LIMITS |= {(name, "float64"): 4 for name in ("asinh", "acosh", "atanh")}
LIMITS |= {(name, dtype.__name__): 4 for name in ("xlogy", "xlog1py") for dtype in DTYPES}
NAMES = [*UNARY, *BINARY]
# gelu and its derivative are formulas: near the zeros of the derivative, and where erfc is
# subnormal, they are as exact as these are.
FORMULAS = {"gelu", "gelu_grad"}


@pytest.fixture(autouse=True)
def _quiet():
    with np.errstate(all="ignore"):
        yield


def special(dtype: Any) -> Any:
    """Zeros, infinities, NaN, the ends of the normal and subnormal numbers, whole numbers."""
    f = np.finfo(dtype)
    positive = [0.0, np.inf, f.max, f.tiny, f.smallest_subnormal, f.smallest_normal / 3]
    positive += [0.5, 1.0, 1 - f.epsneg, 1 + f.eps, 1.5, 2.0, 3.0, 2.0**24 + 1, 2.0**53 - 1, 1e10]
    # Where exp begins to be infinite, subnormal and 0.
    positive += [88.722, 88.723, 87.33, 103.97, 103.98, 709.78, 709.79, 708.39, 745.13, 745.14]
    x = np.array(positive, dtype)
    return np.concatenate([x, -x, np.full(4, np.nan, dtype)])


def sample(dtype: Any, count: int, seed: int = 0) -> Any:
    """Half of all bit patterns, half of the numbers that functions change at; and special ones."""
    rng = np.random.default_rng(seed)
    whole = np.dtype(f"u{np.dtype(dtype).itemsize}")
    bits = rng.integers(0, np.iinfo(whole).max, count // 2, dtype=whole, endpoint=True)
    spans = [1e-3, 0.1, 1, 1.5, 3, 12, 100, 800]
    usual = [rng.uniform(-s, s, count // 16).astype(dtype) for s in spans]
    x = np.concatenate([bits.view(dtype), *usual, special(dtype)])
    return np.concatenate([x, np.ones(-x.size % 16, dtype)])


def pairs(dtype: Any, count: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    s = special(dtype)
    a, b = (v.ravel() for v in np.meshgrid(s, s))
    logs = [rng.uniform(-reach, reach, count // 4) for reach in (0.01, 3, 30, 80)]
    bases = np.exp(np.concatenate(logs))
    exponents = np.concatenate([rng.uniform(-r, r, count // 4) for r in (200, 3, 5, 1)])
    whole = rng.integers(-40, 40, count // 4)
    powers = -np.exp(rng.uniform(-3, 3, whole.size))
    x = np.concatenate([a, sample(dtype, count), bases.astype(dtype), powers.astype(dtype)])
    y = rng.permutation(sample(dtype, count))
    y = np.concatenate([b, y, exponents.astype(dtype), whole.astype(dtype)])
    end = x.size - x.size % 16
    return x[:end], y[:end]


def operands(name: str, dtype: Any, count: int) -> tuple[Any, ...]:
    return (sample(dtype, count),) if name in UNARY else pairs(dtype, count)


def native(name: str, dtype: Any, width: int) -> Any:
    emit = UNARY.get(name) or BINARY[name]
    return looped(emit, 1 if name in UNARY else 2, dtype, width)


def exact(name: str, *values: Any) -> Any:
    wide = [v.astype(references.WIDER[v.dtype]) for v in values]
    return (references.UNARY.get(name) or references.BINARY[name])(*wide)


def needs_wider(dtype: Any) -> None:
    if dtype == np.float64 and not EXTENDED:
        pytest.skip("there is no wider type here")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", [n for n in NAMES if n not in FORMULAS])
def test_close_to_the_true_value(name, dtype):
    needs_wider(dtype)
    values = operands(name, dtype, 1 << (20 if dtype == np.float32 else 17))
    y = native(name, dtype, 8)(*values)
    error = references.units(y, exact(name, *values))
    k = np.argmax(error)
    case = (name, [v[k] for v in values], y[k])
    assert error[k] <= LIMITS.get((name, np.dtype(dtype).name), 2), case


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", sorted(FORMULAS))
def test_formulas(name, dtype):
    needs_wider(dtype)
    x = sample(dtype, 1 << 17)
    values = (x,) if name in UNARY else (np.ones_like(x), x)
    y, truth = native(name, dtype, 8)(*values), exact(name, *values)
    # A unit of the largest part: of the derivative it is about 1.
    unit = np.spacing(np.maximum(np.abs(truth), 1e-30 if name == "gelu" else 1).astype(dtype))
    finite = np.isfinite(truth.astype(dtype))
    assert np.all(np.abs(y - truth)[finite] <= 5 * unit[finite])
    np.testing.assert_array_equal(y[~finite], truth[~finite].astype(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NAMES)
def test_the_same_bits_at_every_width(name, dtype):
    values = operands(name, dtype, 1 << 12)
    first = native(name, dtype, 8)(*values)
    for width in (1, 4, 16):
        y = native(name, dtype, width)(*values)
        np.testing.assert_array_equal(y, first)
        np.testing.assert_array_equal(np.signbit(y)[first == 0], np.signbit(first)[first == 0])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NAMES)
def test_special_numbers_as_numpy(name, dtype):
    values = [special(dtype)]
    if name in BINARY:
        values = [v.ravel() for v in np.meshgrid(*values, *values)]
    pad = -values[0].size % 4
    values = [np.concatenate([v, v[:pad]]) for v in values]
    y = native(name, dtype, 4)(*values)
    truth = exact(name, *values).astype(dtype) if dtype == np.float32 or EXTENDED else None
    if truth is None:
        pytest.skip("there is no wider type here")
    for asks in (np.isnan, np.isposinf, np.isneginf):
        np.testing.assert_array_equal(asks(y), asks(truth))


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_angles_of_every_size(name, dtype):
    """Near multiples of π/2, where little is left of them, and in vectors with one huge number."""
    needs_wider(dtype)
    rng = np.random.default_rng(2)
    turns = np.concatenate([np.arange(1.0, 4097), 2.0 ** rng.uniform(0, 100, 4096)])
    x = (turns.astype(np.longdouble) * (np.pi / 2)).astype(dtype)
    x = np.concatenate([x, np.nextafter(x, dtype(0)), rng.permutation(x) * dtype(1e-3)])
    error = references.units(native(name, dtype, 8)(x), exact(name, x))
    assert error.max() <= LIMITS.get((name, np.dtype(dtype).name), 2)
