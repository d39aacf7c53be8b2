"""`tf.*_initializer`: objects that make the first value of a variable from its shape."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import arrays, dtypes, random

_PARTITION = ("partition_shape", "partition_offset")


class Initializer:
    """What the initializers share: a configuration that another one can be made from."""

    def __call__(self, shape: Any, dtype: Any = dtypes.float32, **kwargs: Any) -> Any:
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        """The arguments that make the same initializer again."""
        return {}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """The initializer of a configuration."""
        return cls(**{k: v for k, v in config.items() if k != "dtype"})


def _own_shape(shape: Any, kwargs: dict[str, Any]) -> Any:
    """The shape to fill, which of a variable in parts is that of the part."""
    for name in kwargs:
        if name not in _PARTITION:
            raise TypeError(
                f"Keyword argument should be one of {list(_PARTITION)}. Received: {name}"
            )
    return kwargs.get("partition_shape", shape)


def _numeric(dtype: Any) -> Any:
    found = dtypes.as_dtype(dtype)
    if not (found.is_floating or found.is_integer or found.is_complex or found.is_bool):
        raise ValueError(f"Argument `dtype` expected to be numeric or boolean. Received {found!r}.")
    return found


def _fraction(dtype: Any) -> Any:
    found = dtypes.as_dtype(dtype)
    if not found.is_floating:
        raise ValueError(f"Argument `dtype` is expected to be floating point. Received: {found!r}.")
    return found


class Zeros(Initializer):
    """Zeros."""

    def __call__(self, shape: Any, dtype: Any = dtypes.float32, **kwargs: Any) -> Any:
        found = _numeric(dtype)
        return arrays.zeros(_own_shape(shape, kwargs), found)


class Ones(Initializer):
    """Ones."""

    def __call__(self, shape: Any, dtype: Any = dtypes.float32, **kwargs: Any) -> Any:
        found = _numeric(dtype)
        return arrays.ones(_own_shape(shape, kwargs), found)


class Constant(Initializer):
    """One value everywhere, or a list of as many values as the shape has places."""

    def __init__(self, value: Any = 0, support_partition: bool = False) -> None:
        if not (np.isscalar(value) or isinstance(value, (list, tuple, np.ndarray))):
            raise TypeError(
                f"Invalid type for initial value: {type(value).__name__}. Expected Python scalar, "
                "list or tuple of values, or numpy.ndarray."
            )
        self.value = value

    def __call__(self, shape: Any, dtype: Any = None, **kwargs: Any) -> Any:
        return arrays.constant(self.value, dtype=dtype, shape=_own_shape(shape, kwargs))

    def get_config(self) -> dict[str, Any]:
        return {"value": self.value}


class RandomNormal(Initializer):
    """Normal deviates; with a seed, the same at every call.

    >>> import gradtape as tf
    >>> tf.random_normal_initializer(stddev=0.1, seed=3)([2, 3]).shape
    TensorShape([2, 3])
    """

    def __init__(self, mean: float = 0.0, stddev: float = 0.05, seed: Any = None) -> None:
        self.mean, self.stddev, self.seed = mean, stddev, seed

    def __call__(self, shape: Any, dtype: Any = dtypes.float32, **kwargs: Any) -> Any:
        found = _fraction(dtype)
        shape = _own_shape(shape, kwargs)
        if self.seed is None:
            return random.normal(shape, self.mean, self.stddev, found)
        return random.stateless_normal(shape, [self.seed, 0], self.mean, self.stddev, found)

    def get_config(self) -> dict[str, Any]:
        return {"mean": self.mean, "stddev": self.stddev, "seed": self.seed}


class RandomUniform(Initializer):
    """Numbers in [minval, maxval), all equally likely."""

    def __init__(self, minval: Any = -0.05, maxval: Any = 0.05, seed: Any = None) -> None:
        self.minval, self.maxval, self.seed = minval, maxval, seed

    def __call__(self, shape: Any, dtype: Any = dtypes.float32, **kwargs: Any) -> Any:
        found = dtypes.as_dtype(dtype)
        if not found.is_floating and not found.is_integer:
            raise ValueError(
                f"Argument `dtype` expected to be numeric or boolean. Received {found!r}."
            )
        shape = _own_shape(shape, kwargs)
        if self.seed is None:
            return random.uniform(shape, self.minval, self.maxval, found)
        return random.stateless_uniform(shape, [self.seed, 0], self.minval, self.maxval, found)

    def get_config(self) -> dict[str, Any]:
        return {"minval": self.minval, "maxval": self.maxval, "seed": self.seed}


zeros_initializer = Zeros
ones_initializer = Ones
constant_initializer = Constant
random_normal_initializer = RandomNormal
random_uniform_initializer = RandomUniform
