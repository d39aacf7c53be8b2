"""Random numbers that are a function of their seed alone (a pair of whole numbers)."""

from __future__ import annotations

import enum
import math
from typing import Any

import numpy as np

from .. import dtypes, errors
from ..core.apply import tensor
from ..core.op import Op
from ..core.record import threads
from ..framework import convert
from ..framework.arguments import defaulted
from ..ops import chance, elementwise
from ..ops.kernels.philox import LONG, Stream
from ..ops.shape import stack
from .draws import (
    FLOATS,
    at_least_tiny,
    between,
    counts_dtype,
    drawn,
    gamma_deviates,
    kernel_dtype,
    logits_of,
    moment,
    numpy_dtype,
    rates_of,
    scaled,
    shape_of,
    stretched,
    whole_dtype,
)  # fmt: skip

_INTEGERS = ("int32", "int64", "uint32", "uint64")
# The key with which seeds are scrambled, so that near seeds give far streams.
_SCRAMBLER = 0x02461E293EC8F720


class Algorithm(enum.Enum):
    """The algorithms that TensorFlow knows; here, as on its CPUs, there is Philox."""

    PHILOX = 1
    THREEFRY = 2
    AUTO_SELECT = 3


def algorithm_of(alg: Any) -> Algorithm:
    """An `alg` argument: a name, a number or an `Algorithm`."""
    if isinstance(alg, Algorithm):
        return alg
    if isinstance(alg, str):
        if alg.upper() in Algorithm.__members__:
            return Algorithm[alg.upper()]
        raise ValueError(
            f"Argument `alg` got unsupported value {alg}. Supported values are philox for the "
            "Philox algorithm, threefry for the ThreeFry algorithm, and auto_select for "
            "auto-selection."
        )
    if alg is None:
        return Algorithm.AUTO_SELECT
    if convert.is_tensor_like(alg) and alg._value.dtype.kind == "O":
        raise TypeError(f"Argument `alg` must be a Python string or a number, got {alg!r}.")
    if alg.__class__ is not int and not convert.is_tensor_like(alg):
        raise TypeError(
            f"Can't convert argument `alg` (of value {alg!r} and type {type(alg)}) to int."
        )
    given = convert.to_tensor(alg)._value
    if np.ndim(given) or given not in (1, 2, 3):
        raise ValueError(f"Argument `alg` got unsupported value {alg!r}.")
    return Algorithm(int(given))


def stream_of(
    seed: Any, alg: Any = "philox", label: str = "StatelessRandomGetKeyCounter"
) -> Stream:
    """The start that a pair of seeds stands for."""
    if isinstance(seed, float):
        raise convert.cannot(seed, np.dtype(np.int32))
    values = defaulted(seed, np.int64)._value
    if values.dtype.name not in ("int32", "int64"):
        raise errors.wrong_dtype(
            f"Value for attr 'Tseed' of {convert.c_name(values.dtype)} is not in the list of "
            f"allowed values: int32, int64 [Op:{label}]"
        )
    if values.shape != (2,):
        raise errors.invalid(
            f"seed must have shape [2], not {list(values.shape)}: a pair such as seed=[1, 2] "
            f"[Op:{label}]"
        )
    if algorithm_of(alg) is Algorithm.THREEFRY:
        raise errors.invalid("the ThreeFry algorithm needs an accelerator: use alg='philox'")
    if convert.is_recorded(values):
        return threads.recording.place(_place, values)
    return Stream(*_place(values))


def _place(seed: Any) -> tuple[int, int]:
    """The key and the counter that a pair of seeds stands for."""
    first, second = (n & LONG for n in seed.tolist())
    a, b, c, d = Stream(_SCRAMBLER, first | second << 64).words(4).tolist()
    return a | b << 32, (c | d << 32) << 64


# --- fractions ------------------------------------------------------------------------------------
def stateless_normal(
    shape: Any,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = dtypes.float32,
    name: str | None = None,
    alg: Any = "auto_select",
) -> Any:
    """Normal deviates; gradients flow to `mean` and `stddev`."""
    return deviates(chance.normal, lambda _: stream_of(seed, alg), shape, mean, stddev, dtype)


def stateless_truncated_normal(
    shape: Any,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = dtypes.float32,
    name: str | None = None,
    alg: Any = "auto_select",
) -> Any:
    """Normal deviates no further than two deviations from the mean."""
    return deviates(chance.truncated, lambda _: stream_of(seed, alg), shape, mean, stddev, dtype)


def deviates(op: Op, reserve: Any, shape: Any, mean: Any, stddev: Any, dtype: Any) -> Any:
    """mean + stddev * numbers from the stream that `reserve(count)` gives."""
    dtype = dtypes.float32 if dtype is None else dtype
    wanted = numpy_dtype(dtype)
    mean, stddev = moment(mean, wanted, 0.0), moment(stddev, wanted, 1.0)
    sizes = shape_of(shape, op.label)
    kernel_dtype(dtype, op.label)
    numbers = drawn(op, reserve(math.prod(sizes)), shape=sizes, dtype=wanted)
    return scaled(numbers, mean, stddev)


def stateless_uniform(
    shape: Any,
    seed: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = dtypes.float32,
    name: str | None = None,
    alg: Any = "auto_select",
) -> Any:
    """Numbers in [minval, maxval); whole ones of the full range if both are None."""
    found = dtypes.as_dtype(dtype)
    if found.name not in (*FLOATS, *_INTEGERS):
        raise ValueError(
            f"Argument `dtype` got invalid value {found!r}. Accepted dtypes are "
            f"({', '.join(f'tf.{n}' for n in (*FLOATS, *_INTEGERS))})."
        )
    if found.is_integer and (minval is None) != (maxval is None):
        raise ValueError(
            f"For integer `dtype` argument {found!r}, argument `minval` and `maxval` must be both "
            f"None or not None. Got `minval`={minval} and `maxval`={maxval}."
        )
    if found.is_unsigned and minval is not None:
        raise ValueError(
            f"Argument `dtype` got invalid value {found!r} when argument `minval` is not None. "
            "Please don't use unsigned integers in this case."
        )
    return uniform_of(lambda _: stream_of(seed, alg), shape, minval, maxval, dtype)


def uniform_of(reserve: Any, shape: Any, minval: Any, maxval: Any, dtype: Any) -> Any:
    """Uniform numbers of any dtype from the stream that `reserve(count)` gives."""
    wanted = numpy_dtype(dtype)
    if wanted.kind in "iu":
        full = minval is None
        label = f"StatelessRandomUniform{'Full' if full else ''}IntV2"
        sizes = shape_of(shape, label)
        if full:
            stream = reserve(math.prod(sizes))
            return drawn(chance.integers, stream, shape=sizes, dtype=wanted)
        low, high = convert.to_tensor(minval, wanted), convert.to_tensor(maxval, wanted)
        return between(reserve(math.prod(sizes)), sizes, low, high, label)
    if minval is None:
        raise convert.unsupported(minval)
    sizes = shape_of(shape, "StatelessRandomUniformV2")
    unit = drawn(chance.uniform, reserve(math.prod(sizes)), shape=sizes, dtype=wanted)
    return stretched(unit, minval, maxval)


def stateless_parameterized_truncated_normal(
    shape: Any,
    seed: Any,
    means: Any = 0.0,
    stddevs: Any = 1.0,
    minvals: Any = -2.0,
    maxvals: Any = 2.0,
    name: str | None = None,
) -> Any:
    """Normal deviates between bounds of their own.

    Differs from TensorFlow: the distribution is the same, the numbers are not.
    """
    label = "StatelessParameterizedTruncatedNormal"
    given = [convert.to_tensor(v) for v in (means, stddevs, minvals, maxvals)]
    wanted = kernel_dtype(given[0].dtype, label)
    for k, v in enumerate(given):
        if v._value.dtype != wanted:
            raise errors.wrong_dtype(
                f"cannot compute {label} as input #{k + 2}(zero-based) was expected to be a "
                f"{convert.c_name(wanted)} tensor but is a {convert.c_name(v._value.dtype)} tensor "
                f"[Op:{label}]"
            )
    means, stddevs, low, high = given
    sizes = shape_of(shape, label)
    _trailing(sizes, _together(given, label), label)
    convert.examine(_check_bounds, low._value, high._value, stddevs._value)
    return scaled(drawn(chance.within, stream_of(seed), *given, shape=sizes), means, stddevs)


def _check_bounds(low: Any, high: Any, stddevs: Any) -> None:
    if np.any(low >= high) or np.any(stddevs <= 0):
        raise errors.invalid(
            "Invalid parameters: minvals must lie below maxvals, stddevs be positive "
            "[Op:StatelessParameterizedTruncatedNormal]"
        )


# --- other distributions --------------------------------------------------------------------------
def stateless_categorical(
    logits: Any, num_samples: Any, seed: Any, dtype: Any = dtypes.int64, name: str | None = None
) -> Any:
    """Classes drawn with the probabilities softmax(logits), `num_samples` for each row."""
    label, wanted = "StatelessMultinomial", whole_dtype(dtypes.int64 if dtype is None else dtype)
    num_samples = convert.to_tensor(num_samples, np.dtype(np.int32))
    logits, count = logits_of(logits, num_samples, label)
    stream = stream_of(seed, label=label)
    return drawn(chance.stateless_categorical, stream, logits, count=count, dtype=wanted)


def _together(values: list, label: str) -> tuple[int, ...]:
    """The shape that the parameters broadcast to."""
    try:
        return np.broadcast_shapes(*(v._value.shape for v in values))
    except ValueError:
        texts = " vs. ".join(str(list(v._value.shape)) for v in values)
        raise errors.at_run(
            f"the parameters must have compatible batch dimensions: {texts} [Op:{label}]"
        ) from None


def _trailing(sizes: tuple[int, ...], each: tuple[int, ...], label: str) -> tuple[int, ...]:
    """The axes before those of the parameters, with which the whole shape must end."""
    if len(each) > len(sizes) or sizes[len(sizes) - len(each) :] != each:
        raise errors.at_run(
            f"Shape passed in must end with broadcasted shape: {list(sizes)} does not end with "
            f"{list(each)} [Op:{label}]"
        )
    return sizes[: len(sizes) - len(each)]


def stateless_gamma(
    shape: Any,
    seed: Any,
    alpha: Any,
    beta: Any = None,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Any:
    """Gamma deviates with shape `alpha` and inverse scale `beta`, which end the whole `shape`."""
    label, wanted = "StatelessRandomGammaV3", numpy_dtype(dtype)
    alpha, beta = rates_of(alpha, beta, wanted, label)
    each = elementwise.add.apply(alpha, tensor(np.zeros(beta._value.shape, wanted)[()]))
    times = _trailing(shape_of(shape, label), each._value.shape, label)
    deviates = gamma_deviates(stream_of(seed), each, times)
    return at_least_tiny(elementwise.div.apply(deviates, beta))


def stateless_poisson(
    shape: Any, seed: Any, lam: Any, dtype: Any = dtypes.int32, name: str | None = None
) -> Any:
    """Counts of events that come at a mean rate `lam`, which ends the whole `shape`."""
    label = "StatelessRandomPoisson"
    rates = convert.to_tensor(lam)
    wanted = counts_dtype(dtype, label, rates)
    times = _trailing(shape_of(shape, label), rates._value.shape, label)
    stream = stream_of(seed, label=label)
    return drawn(chance.stateless_poisson, stream, rates, times=times, dtype=wanted)


def stateless_binomial(
    shape: Any,
    seed: Any,
    counts: Any,
    probs: Any,
    output_dtype: Any = dtypes.int32,
    name: str | None = None,
) -> Any:
    """How many of `counts` trials succeed, each with the probability `probs`.

    Differs from TensorFlow: the distribution is the same, the numbers are not.
    """
    op = chance.stateless_binomial
    return binomial_of(op, stream_of(seed, label=op.label), shape, counts, probs, output_dtype)


def binomial_of(op: Op, stream: Stream, shape: Any, counts: Any, probs: Any, dtype: Any) -> Any:
    """Binomial counts from a stream."""
    label = op.label
    wanted = counts_dtype(dtypes.int64 if dtype is None else dtype, label)
    chances = convert.to_tensor(probs)
    trials = convert.to_tensor(counts, hint=chances._value.dtype)
    counts_dtype(trials.dtype, label)
    if probs.__class__ is int or isinstance(probs, np.ndarray):
        chances = convert.to_tensor(probs, trials._value.dtype)
    if trials.dtype != chances.dtype:
        raise errors.wrong_dtype(
            f"cannot compute {label} as input #3(zero-based) was expected to be a "
            f"{trials.dtype.name} tensor but is a {chances.dtype.name} tensor [Op:{label}]"
        )
    sizes = shape_of(shape, label)
    _trailing(sizes, _together([trials, chances], label), label)
    return drawn(op, stream, trials, chances, shape=sizes, dtype=wanted)


# --- seeds from seeds -----------------------------------------------------------------------------
def split(seed: Any, num: Any = 2, alg: Any = "auto_select") -> Any:
    """`num` new seeds from one, as rows."""
    seed = convert.to_tensor(seed)
    if isinstance(num, (list, tuple)) and not num:
        raise errors.invalid("num must be a single whole number, got [] [Op:Reshape]")
    return stateless_uniform([num, 2], seed, None, None, seed.dtype, alg=alg)


def fold_in(seed: Any, data: Any, alg: Any = "auto_select") -> Any:
    """A new seed from a seed and a number, such as the count of a step."""
    data = convert.to_tensor(data)
    if data._value.dtype.kind not in "iu":
        raise convert.unsupported(None)
    return stack.apply(stateless_uniform([], seed, None, None, data.dtype, alg=alg), data, axis=-1)


def stateless_shuffle(
    value: Any, seed: Any, alg: Any = "auto_select", name: str | None = None
) -> Any:
    """The rows of a tensor in the order that a seed gives."""
    value = convert.to_tensor(value)
    return drawn(chance.stateless_shuffle, stream_of(seed, alg), value)
