"""`tf.experimental.numpy.random`: random numbers by NumPy's names, TensorFlow's numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import arrays, convert
from .. import random as tf_random
from .types import as_tensor, common, default_float

__all__ = ["poisson", "rand", "randint", "randn", "random", "seed", "standard_normal", "uniform"]


def seed(s: Any) -> None:
    """Make the random numbers from here on the same in every run."""
    try:
        s = int(s)
    except TypeError:
        raise ValueError(
            f"Argument `s` got an invalid value {s}. Only integers are supported."
        ) from None
    tf_random.set_seed(s)


def _sizes(size: Any) -> Any:
    if size is None:
        return ()
    return (size,) if np.ndim(getattr(size, "_value", size)) == 0 else size


def standard_normal(size: Any = None) -> Any:
    """Normal deviates."""
    return tf_random.normal(_sizes(size), dtype=default_float())


def randn(*args: Any) -> Any:
    """Normal deviates in the shape of the arguments."""
    return standard_normal(convert.to_tensor(args) if args else args)


def uniform(low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
    """Numbers in [low, high), all equally likely; gradients flow to the ends."""
    dtype = default_float()
    low, high = as_tensor(low, dtype), as_tensor(high, dtype)
    if size is None:
        shapes = (np.array(x._value.shape, np.int32) for x in (low, high))
        size = arrays.broadcast_dynamic_shape(*shapes)
    return tf_random.uniform(size, low, high, dtype)


def random(size: Any = None) -> Any:
    """Numbers in [0, 1), all equally likely."""
    return uniform(0.0, 1.0, size)


def rand(*size: Any) -> Any:
    """Numbers in [0, 1), all equally likely, in the shape of the arguments."""
    return uniform(0.0, 1.0, size)


def poisson(lam: Any = 1.0, size: Any = None) -> Any:
    """Counts of events that come at a mean rate `lam`."""
    return tf_random.poisson(_sizes(size), lam, dtype=np.int64)


def randint(low: Any, high: Any = None, size: Any = None, dtype: Any = np.int64) -> Any:
    """Whole numbers from low up to high, or from 0 up to low, all equally likely."""
    low, high = (0, int(low)) if high is None else (int(low), high)
    wanted = common(dtype)
    if wanted.name not in ("int32", "int64"):
        raise ValueError(
            f"Argument `dtype` got an invalid value {dtype}. It can be int32 or int64."
        )
    sizes = (size,) if isinstance(size, int) else () if size is None else size
    return tf_random.uniform(sizes, low, high, wanted)
