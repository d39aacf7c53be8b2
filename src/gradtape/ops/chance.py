"""Random draws as ops: functions of the key and the counter of a stream, of a shape and a dtype.

Which place in which stream a draw reads is decided above; the same place gives the same numbers.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.op import Op
from .declare import elementwise, op
from .infer import asked, same
from .kernels import sampling
from .kernels.philox import Stream
from .reasons import Discrete, Missing
from .special import igamma_grad, lgamma

DRAWN = Discrete("what is drawn does not follow the parameters: another draw is another number")
PLACE = {"key": 1, "counter": 2}  # for samples
SINGLE = np.dtype(np.float32)


# --- of no operands -------------------------------------------------------------------------------
def _fractions(name: str, label: str, draw: Any) -> Op:
    def forward(key: int, counter: int, shape: tuple[int, ...], dtype: Any) -> Any:
        return draw(Stream(key, counter), math.prod(shape), dtype).reshape(shape)

    return op(
        name, forward, (), shape=lambda key, counter, shape, dtype: shape,
        dtype=asked, label=label,
        params=("key", "counter", "shape", "dtype"),
        sample=lambda d: [([], {**PLACE, "shape": (2, 3), "dtype": SINGLE})],
    )  # fmt: skip


def _any_integers(stream: Stream, count: int, dtype: Any) -> Any:
    """Whole numbers from the dtype's full range."""
    if dtype.itemsize == 4:
        return stream.words(count).view(dtype)
    pairs = stream.words(2 * count).astype(np.uint64).reshape(-1, 2)
    return (pairs[:, 0] | pairs[:, 1] << np.uint64(32)).view(dtype)


normal = _fractions("random_normal", "StatelessRandomNormalV2", Stream.normal)
truncated = _fractions("truncated_normal", "StatelessTruncatedNormalV2", Stream.truncated)
uniform = _fractions("random_uniform", "StatelessRandomUniformV2", Stream.uniform)
integers = _fractions("random_integers", "StatelessRandomUniformFullIntV2", _any_integers)


# --- between bounds -------------------------------------------------------------------------------
def _between(a: Any, b: Any, key: int, counter: int, shape: tuple[int, ...]) -> Any:
    low, high, dtype = int(a), int(b), a.dtype
    unsigned = np.dtype(f"u{dtype.name}")
    drawn = _any_integers(Stream(key, counter), math.prod(shape), unsigned)
    drawn = drawn % unsigned.type(high - low)
    return (drawn.view(dtype) + dtype.type(low)).reshape(shape)


between = op(
    "random_between", _between, (None, None), shape=lambda a, b, key, counter, shape: shape,
    label="StatelessRandomUniformIntV2", params=("key", "counter", "shape"),
    sample=lambda d: [([np.int64(2), np.int64(7)], {**PLACE, "shape": (2, 3)})],
)  # fmt: skip


def _within(a: Any, b: Any, c: Any, d: Any, key: int, counter: int, shape: tuple[int, ...]) -> Any:
    from scipy.special import ndtr, ndtri

    low, high = (np.clip(ndtr((v - a) / b), 1e-12, 1 - 1e-12) for v in (c, d))
    unit = Stream(key, counter).uniform(math.prod(shape), np.dtype(np.float64)).reshape(shape)
    return np.asarray(ndtri(low + (high - low) * unit)).astype(a.dtype)


# Deviates of mean 0 and deviation 1, for the bounds c and d of those of mean a and deviation b.
within = op(
    "parameterized_truncated_normal", _within, (DRAWN,) * 4,
    shape=lambda a, b, c, d, key, counter, shape: shape,
    label="StatelessParameterizedTruncatedNormal", params=("key", "counter", "shape"),
    sample=lambda d: [
        ([np.zeros(3), np.ones(3), np.full(3, -1.0), np.ones(3)], {**PLACE, "shape": (2, 3)})
    ],
)  # fmt: skip


# --- of the operand's own distribution ------------------------------------------------------------
def _categorical(a: Any, key: int, counter: int, count: int, dtype: Any) -> Any:
    return sampling.categorical(Stream(key, counter), a, count).astype(dtype)


def _classes(name: str, label: str) -> Op:
    return op(
        name, _categorical, DRAWN, shape=lambda a, key, counter, count, dtype: (a[0], count),
        dtype=asked, label=label, params=("key", "counter", "count", "dtype"),
        sample=lambda d: [([d(2, 3)], {**PLACE, "count": 4, "dtype": np.dtype(np.int64)})],
    )  # fmt: skip


categorical = _classes("categorical", "Multinomial")
stateless_categorical = _classes("stateless_categorical", "StatelessMultinomial")


def _largest(dtype: Any) -> float:
    return float(np.finfo(dtype).max if dtype.kind == "f" else np.iinfo(dtype).max)


def _poisson(a: Any, key: int, counter: int, times: tuple[int, ...], dtype: Any) -> Any:
    stream, top = Stream(key, counter), _largest(dtype)
    return sampling.for_each(lambda r: sampling.poisson(stream, r, top), a, times).astype(dtype)


def _each(name: str, forward: Any, pull: Any, label: str, **more: Any) -> Op:
    """`times` draws for each number of the operand."""
    return op(
        name, forward, pull, shape=lambda a, key, counter, times, dtype: times + a,
        dtype=asked, label=label,
        params=("key", "counter", "times", "dtype"),
        sample=lambda d: [([d(3, low=0.5, high=4.0)], {**PLACE, "times": (2,), "dtype": SINGLE})],
        **more,
    )  # fmt: skip


poisson = _each(
    "random_poisson", _poisson,
    Missing("TensorFlow has no derivative of a Poisson draw by its rate"), "RandomPoissonV2",
)  # fmt: skip
stateless_poisson = _each("stateless_poisson", _poisson, DRAWN, "StatelessRandomPoisson")


def _binomial(a: Any, b: Any, key: int, counter: int, shape: tuple[int, ...], dtype: Any) -> Any:
    counts, probs = (np.broadcast_to(v, shape) for v in (a, b))
    return np.asarray(sampling.binomial(Stream(key, counter), counts, probs)).astype(dtype)


def _successes(name: str, label: str) -> Op:
    return op(
        name, _binomial, (DRAWN, DRAWN), shape=lambda a, b, key, counter, shape, dtype: shape,
        dtype=asked, label=label, params=("key", "counter", "shape", "dtype"),
        sample=lambda d: [
            ([np.full(3, 9.0), d(3, low=0, high=1)], {**PLACE, "shape": (2, 3), "dtype": SINGLE})
        ],
    )  # fmt: skip


binomial = _successes("binomial", "StatefulRandomBinomial")
stateless_binomial = _successes("stateless_binomial", "StatelessRandomBinomial")


# --- gamma: draws that have a gradient, though not by the stream ----------------------------------
def _gamma(a: Any, key: int, counter: int, times: tuple[int, ...], dtype: Any) -> Any:
    stream = Stream(key, counter)
    return sampling.for_each(lambda r: sampling.gamma(stream, r), a, times).astype(dtype)


def _gamma_grad(a: Any, b: Any) -> Any:
    """How a draw b moves that keeps its quantile while its distribution P changes:
    -(dP/da) / (dP/db)."""
    dtype = a.dtype
    a, b = a.astype(np.float64), b.astype(np.float64)
    density = np.exp((a - 1.0) * np.log(b) - b - lgamma.forward(a))
    return np.asarray(-igamma_grad.forward(a, b) / density).astype(dtype)


gamma_grad = elementwise(
    "random_gamma_grad", _gamma_grad,
    (Missing("TensorFlow has no second derivative of a gamma draw"),) * 2,
    label="RandomGammaGrad", sample=((0.5, 2.0), (0.5, 3.0)),
)  # fmt: skip
gamma = _each("random_gamma", _gamma, DRAWN, "RandomGamma")


# --- orders ---------------------------------------------------------------------------------------
def _shuffle(a: Any, key: int, counter: int) -> Any:
    return a[sampling.order(Stream(key, counter), len(a))] if a.ndim else a


def _orders(name: str, label: str, reason: Any) -> Op:
    return op(
        name, _shuffle, reason, shape=same, label=label,
        params=("key", "counter"), sample=lambda d: [([d(3, 2)], PLACE)],
    )  # fmt: skip


shuffle = _orders("shuffle", "RandomShuffle", Discrete("TensorFlow shuffles without a gradient"))
stateless_shuffle = _orders(
    "stateless_shuffle", "StatelessShuffle",
    Missing("TensorFlow has no derivative of stateless_shuffle"),
)  # fmt: skip
