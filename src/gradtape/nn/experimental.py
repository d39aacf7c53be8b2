"""`tf.nn.experimental`: dropout with a seed or a source of random numbers of one's own."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

from .. import errors
from ..core.apply import tensor
from ..framework import convert
from ..framework.arguments import numbers
from ..framework.namespaces import lookup
from ..ops.index import select

__getattr__ = lookup(__name__)

__all__ = ["general_dropout", "stateless_dropout"]


def stateless_dropout(
    x: Any, rate: Any, seed: Any, rng_alg: Any = None, noise_shape: Any = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Dropout that is the same for the same seed, two whole numbers."""
    from ..random import stateless_uniform

    alg = "auto_select" if rng_alg is None else rng_alg

    def sample(shape: Any, dtype: Any) -> Any:
        return stateless_uniform(shape, seed, dtype=dtype, alg=alg)

    return dropped(x, rate, sample, noise_shape)


def general_dropout(
    x: Any, rate: Any, uniform_sampler: Callable[..., Any], noise_shape: Any = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Dropout with the numbers in [0, 1) that `uniform_sampler(shape=…, dtype=…)` gives."""
    return dropped(x, rate, uniform_sampler, noise_shape)


def dropped(x: Any, rate: Any, sample: Any, noise_shape: Any, skip: Any = None) -> Any:
    """0 where the sample lies below the rate, elsewhere x / (1 - rate); `skip` is called where
    nothing is to be drawn."""
    number = isinstance(rate, Real)
    if number and not 0 <= rate < 1:
        raise ValueError(
            f"`rate` must be a scalar tensor or a float in the range [0, 1). Received: rate={rate}"
        )
    x = convert.to_tensor(x)
    if x._value.dtype.kind not in "fV":
        raise ValueError(
            "`x.dtype` must be a floating point tensor as `x` will be scaled. "
            f"Received: x_dtype={x.dtype!r}"
        )
    if number and rate == 0:
        if skip is not None:
            skip()
        return x
    if number:
        scaled = x * (1 / (1 - rate))
    elif convert.is_tensor_like(rate):
        rate = convert.to_tensor(rate)
        if rate._value.dtype != x._value.dtype:
            raise ValueError(
                "`x.dtype` must be compatible with `rate.dtype`. Received: x.dtype="
                f"{x.dtype!r} and rate.dtype={rate.dtype!r}"
            )
        scaled = x / (1 - rate)
    else:
        raise ValueError(f"`rate` must be a scalar or scalar tensor. Received: rate={rate}")
    draws = sample(shape=_noise_shape(x, noise_shape), dtype=x.dtype)
    return select.apply(draws >= rate, scaled, tensor(x._value.dtype.type(0)))


def _noise_shape(x: Any, given: Any) -> Any:
    if given is None:
        return x._value.shape
    if convert.is_tensor_like(given):
        return given
    if not isinstance(given, (list, tuple)) or any(isinstance(n, (list, tuple)) for n in given):
        return _vector(given)
    sizes = list(given)
    if len(sizes) == x._value.ndim:
        pairs = zip(sizes, x._value.shape, strict=True)
        return [n if size is None else int(size) for size, n in pairs]
    return sizes


def _vector(given: Any) -> Any:
    if not convert.to_tensor(given)._value.ndim:
        raise errors.invalid(
            f"noise_shape must be a vector of whole numbers, got {given!r} [Op:RandomUniform]"
        )
    return numbers(given, "RandomUniform", "T")
