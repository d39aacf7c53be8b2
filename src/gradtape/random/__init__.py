"""`tf.random`: random numbers, bit for bit those that TensorFlow's CPU kernels give for a seed.

TensorFlow's rules of seeds: `set_seed(s)` starts a sequence of op seeds, one for each call that has
none of its own; a call with `seed=k` belongs to a kernel that goes on where it stopped when an
equal call comes again; without any seed the numbers differ from run to run.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes
from ..core.apply import tensor
from ..core.op import Op
from ..core.record import threads
from ..framework import convert
from ..framework.arguments import attribute_dtype
from ..framework.lifetimes import Beside
from ..framework.namespaces import lookup
from ..ops import chance, elementwise
from ..ops.kernels.philox import RESERVED, Stream
from . import experimental
from .draws import (
    FLOATS,
    WHOLE,
    at_least_tiny,
    between,
    counts_dtype,
    drawn,
    gamma_deviates,
    kernel_dtype,
    logits_of,
    moment,
    numpy_dtype,
    plain_shape,
    rates_of,
    scaled,
    shape_of,
    stretched,
    whole_dtype,
)  # fmt: skip
from .generator import (
    Algorithm,
    Generator,
    create_rng_state,
    get_global_generator,
    set_global_generator,
)  # fmt: skip
from .stateless import (
    fold_in,
    split,
    stateless_binomial,
    stateless_categorical,
    stateless_gamma,
    stateless_normal,
    stateless_parameterized_truncated_normal,
    stateless_poisson,
    stateless_truncated_normal,
    stateless_uniform,
)  # fmt: skip

__all__ = [
    "set_seed", "normal", "truncated_normal", "uniform", "categorical", "gamma", "poisson",
    "shuffle",
    "stateless_normal", "stateless_truncated_normal", "stateless_uniform", "stateless_categorical",
    "stateless_gamma", "stateless_poisson", "stateless_binomial",
    "stateless_parameterized_truncated_normal", "split", "fold_in",
    "Generator", "Algorithm", "create_rng_state", "get_global_generator", "set_global_generator",
    "experimental", "all_candidate_sampler", "fixed_unigram_candidate_sampler",
    "learned_unigram_candidate_sampler", "log_uniform_candidate_sampler",
    "uniform_candidate_sampler",
]  # fmt: skip


__getattr__ = lookup(__name__, {"..nn.sampling": """
    all_candidate_sampler fixed_unigram_candidate_sampler learned_unigram_candidate_sampler
    log_uniform_candidate_sampler uniform_candidate_sampler"""})  # fmt: skip


# What TensorFlow takes for the global seed where only the op has one.
_DEFAULT_SEED = 87654321
_LARGEST = 2**31 - 1


class _Seeds:
    """The global seed, the op seeds that follow from it, and the kernels at work."""

    def __init__(self) -> None:
        self.seed: Any = None
        self.kernels: dict[tuple, Stream] = {}
        self.hearing: Beside[Any, None] = Beside()  # who has streams that begin again

    def set(self, seed: Any) -> None:
        from random import Random

        try:
            self.ops = Random(seed)
        except TypeError:  # NumPy's integers
            seed = int(np.array(seed))
            self.ops = Random(seed)
        self.seed = seed
        self.kernels = {}
        for one in self.hearing:
            one.restart()

    def kernel(self, seed: Any, *kind: Any) -> Any:
        """The stream of the kernel for an op of this kind."""
        if seed is not None:
            if isinstance(seed, (str, bytes, list)) or (
                getattr(getattr(seed, "_value", None), "dtype", np.dtype(int)).kind == "O"
            ):
                raise TypeError(f"`seed` must be a whole number, got {seed!r}.")
            if isinstance(seed, np.ndarray) and seed.size > 1 and self.seed is None:
                raise TypeError(f"Expected int for argument 'seed2' not {seed!r}.")
            if np.size(getattr(seed, "_value", seed)) > 1:
                raise ValueError(f"`seed` must be a single whole number, got {seed!r}.")
        if threads.recording is not None:
            return threads.recording.kernel(seed)
        pair = self.pair(seed)
        if pair is None:
            return Stream(*np.frombuffer(os.urandom(16), np.uint64).tolist())
        if seed is None:
            return Stream.seeded(*pair)
        return self.kernels.setdefault((*kind, *pair), Stream.seeded(*pair))

    def pair(self, seed: Any) -> tuple[int, int] | None:
        """The two seeds of an op, None if it has none."""
        return seeds_of_op(self.seed, seed, lambda: self.ops.randint(0, _LARGEST))


_seeds = _Seeds()


def seeds_of_op(whole: Any, seed: Any, following: Callable[[], int]) -> tuple[int, int] | None:
    """What an op takes for its seeds, of the global seed and its own: `following` gives the next
    one where only the first is there. None if there is neither."""
    if whole is None:
        return None if seed is None else (_DEFAULT_SEED, int(seed) % _LARGEST)
    own = following() if seed is None else seed
    pair = int(whole) % _LARGEST, int(own) % _LARGEST
    # Two zeros would mean "no seed" to a kernel.
    return (0, _LARGEST) if pair == (0, 0) else pair


def when_seed_is_set(one: Any) -> None:
    """Call `restart` of this object, as long as it lives."""
    _seeds.hearing.put(one, None)


def global_seed() -> Any:
    """What `set_seed` was given last, None if it was not."""
    return _seeds.seed


def seeds_of(seed: Any) -> tuple[int, int] | None:
    """The two seeds of an op that is made here, by its own seed and the global one."""
    return _seeds.pair(seed)


def set_seed(seed: Any) -> None:
    """Make the random numbers from here on the same in every run.

    >>> import gradtape as tf
    >>> tf.random.set_seed(42)
    >>> tf.random.normal([2])
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([ 0.3274685, -0.8426258], dtype=float32)>
    """
    if threads.recording is not None:  # a function has a seed of its own
        threads.recording.set_seed(seed)
    else:
        _seeds.set(seed)


# --- fractions ------------------------------------------------------------------------------------
def normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = dtypes.float32,
    seed: Any = None,
    name: str | None = None,
) -> Any:
    """Normal deviates; gradients flow to `mean` and `stddev`."""
    return _deviates("RandomStandardNormal", chance.normal, shape, mean, stddev, dtype, seed)


def truncated_normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = dtypes.float32,
    seed: Any = None,
    name: str | None = None,
) -> Any:
    """Normal deviates no further than two deviations from the mean."""
    return _deviates("TruncatedNormal", chance.truncated, shape, mean, stddev, dtype, seed)


def _deviates(label: str, op: Op, shape: Any, mean: Any, stddev: Any, dtype: Any, seed: Any) -> Any:
    wanted = numpy_dtype(dtype)
    mean, stddev = moment(mean, wanted, 0.0), moment(stddev, wanted, 1.0)
    return scaled(_floats(label, op, shape, dtype, seed), mean, stddev)


def _floats(label: str, op: Op, shape: Any, dtype: Any, seed: Any) -> Any:
    sizes = shape_of(shape, label)
    wanted = kernel_dtype(dtype, label)
    stream = _seeds.kernel(seed, label, wanted.name).reserve(math.prod(sizes) * RESERVED)
    return drawn(op, stream, shape=sizes, dtype=wanted)


def uniform(
    shape: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = dtypes.float32,
    seed: Any = None,
    name: str | None = None,
) -> Any:
    """Numbers in [minval, maxval), all equally likely; whole ones need a `maxval`."""
    found = dtypes.as_dtype(dtype)
    if found.name not in (*FLOATS, *WHOLE):
        raise ValueError(
            f"Argument `dtype` got invalid value {found!r}. Accepted dtypes are "
            f"({', '.join(f'tf.{n}' for n in (*FLOATS, *WHOLE))})."
        )
    if found.is_floating:
        if minval is None:
            raise convert.unsupported(minval)
        return stretched(
            _floats("RandomUniform", chance.uniform, shape, dtype, seed), minval, maxval
        )
    if maxval is None:
        raise ValueError(f"Must specify maxval for integer dtype tf.{found.name}")
    label, wanted = "RandomUniformInt", numpy_dtype(dtype)
    low, high = convert.to_tensor(minval, wanted), convert.to_tensor(maxval, wanted)
    sizes = shape_of(shape, label)
    stream = _seeds.kernel(seed, label, wanted.name).reserve(math.prod(sizes) * RESERVED)
    return between(stream, sizes, low, high, label)


# --- other distributions --------------------------------------------------------------------------
def categorical(
    logits: Any, num_samples: Any, dtype: Any = None, seed: Any = None, name: str | None = None
) -> Any:
    """Classes drawn with the probabilities softmax(logits), `num_samples` for each row.

    Differs from TensorFlow: where that hands a large batch out to threads, its rows depend on how
    many threads there are, and only the first of them are the same here.
    """
    wanted = whole_dtype(dtypes.int64 if dtype is None else dtype)
    logits, count = logits_of(logits, num_samples, "Multinomial")
    blocks = len(logits._value) * 2 * -(-count // 4) * 4 * RESERVED
    stream = _seeds.kernel(seed, "Multinomial", logits.dtype.name, wanted.name).reserve(blocks)
    return drawn(chance.categorical, stream, logits, count=count, dtype=wanted)


def gamma(
    shape: Any,
    alpha: Any,
    beta: Any = None,
    dtype: Any = dtypes.float32,
    seed: Any = None,
    name: str | None = None,
) -> Any:
    """Gamma deviates with shape `alpha` and inverse scale `beta`, `shape` of them for each pair."""
    label, wanted = "RandomGamma", numpy_dtype(dtype)
    alpha, beta = rates_of(alpha, beta, wanted, label)
    sizes = plain_shape(shape, label)
    each = elementwise.add.apply(alpha, tensor(np.zeros(beta._value.shape, wanted)[()]))
    count = math.prod(sizes) * each._value.size
    stream = _seeds.kernel(seed, label, wanted.name).reserve(count * RESERVED)
    return at_least_tiny(elementwise.div.apply(gamma_deviates(stream, each, sizes), beta))


def poisson(
    shape: Any, lam: Any, dtype: Any = dtypes.float32, seed: Any = None, name: str | None = None
) -> Any:
    """Counts of events that come at a mean rate `lam`, `shape` of them for each rate."""
    label = "RandomPoissonV2"
    rates = convert.to_tensor(lam)
    if rates._value.dtype.kind == "b" and not convert.is_tensor_like(lam):
        rates = convert.to_tensor(lam, np.dtype(np.float64))
    wanted = counts_dtype(
        dtypes.int64 if dtype is None else attribute_dtype(dtype, "dtype", label), label, rates
    )
    sizes = plain_shape(shape, label)
    count = math.prod(sizes) * rates._value.size
    stream = _seeds.kernel(seed, label, rates.dtype.name, wanted.name).reserve(count * RESERVED)
    return drawn(chance.poisson, stream, rates, times=sizes, dtype=wanted)


def shuffle(value: Any, seed: Any = None, name: str | None = None) -> Any:
    """The rows of a tensor in a random order; no gradient flows through it, as in TensorFlow."""
    value = convert.to_tensor(value)
    rows = value._value
    stream = Stream(0, 0)  # for what has no order
    if rows.ndim and rows.shape[0] > 1:
        stream = _seeds.kernel(seed, "RandomShuffle", rows.dtype.name)
        stream = stream.reserve(-(-(len(rows) - 1) // 4))
    return drawn(chance.shuffle, stream, value)
