"""Histograms: how many values fall into the equal parts of a range."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from .. import dtypes, errors
from ..arrays.values import cast
from ..core.apply import tensor
from ..framework import convert
from ..framework.arguments import listed_dtype, number
from ..math.clipping import clip_by_value
from ..math.elementwise import floor, truediv
from ..ops import elementwise, shape


def histogram_fixed_width(
    values: Any, value_range: Any, nbins: Any = 100, dtype: Any = dtypes.int32,
    name: str | None = None,
) -> Any:  # fmt: skip
    """How many values fall into each of `nbins` equal parts of a range; the ends take the rest.

    >>> import gradtape as tf
    >>> tf.histogram_fixed_width([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0], nbins=5)
    <tf.Tensor: shape=(5,), dtype=int32, numpy=array([2, 1, 1, 0, 2], dtype=int32)>
    """
    label = "HistogramFixedWidth"
    kind = listed_dtype(dtype, "dtype", ("int32", "int64"), label, "int32")
    x, ends = (t._value for t in convert.pair(elementwise.sub, values, value_range))
    return tensor(convert.computed(partial(_histogram, number(nbins), kind, label), x, ends))


def _histogram(count: int, kind: np.dtype, label: str, x: Any, ends: Any) -> Any:
    low, high = _ends(ends, count, label)
    if x.dtype.kind in "fV" and np.isnan(x).any():
        raise errors.invalid(f"Histogram values must not contain NaN [Op:{label}] name: ")
    # In float64, as TensorFlow divides.
    places = np.floor((x.astype(np.float64) - low) / ((high - low) / count))
    places = np.clip(np.nan_to_num(places), 0, count - 1).astype(np.int64)
    return np.bincount(places.reshape(-1), minlength=count).astype(kind)


def _ends(ends: np.ndarray, count: int, label: str) -> tuple[float, float]:
    if ends.ndim != 1:
        raise errors.invalid(f"value_range should be a vector. [Op:{label}] name: ")
    if ends.size != 2:
        raise errors.invalid(f"value_range should be a vector of 2 elements. [Op:{label}] name: ")
    low, high = ends.tolist()
    if not low < high:
        raise errors.invalid(
            "value_range should satisfy value_range[0] < value_range[1], but got "
            f"'[{low}, {high}]' [Op:{label}] name: "
        )
    if count <= 0:
        raise errors.invalid(
            f"nbins should be a positive number, but got '{count}' [Op:{label}] name: "
        )
    return low, high


def histogram_fixed_width_bins(
    values: Any, value_range: Any, nbins: Any = 100, dtype: Any = dtypes.int32,
    name: str | None = None,
) -> Any:  # fmt: skip
    """The number of the part of a range, out of `nbins` equal ones, that each value falls into."""
    x, ends = convert.to_tensor(values), convert.to_tensor(value_range)
    plain = not convert.is_tensor_like(nbins)
    count = number(convert.to_tensor(nbins, np.dtype(np.int32)) if plain else nbins)
    if count <= 0:
        raise errors.invalid(f"nbins {count} must > 0 [Op:Assert] name: ")
    parts = cast(count, x.dtype)
    flat = shape.reshape.apply(x, shape=(-1,))
    scaled = truediv(flat - ends[0], ends[1] - ends[0])
    places = clip_by_value(floor(parts * scaled), 0, parts - 1)
    # int32 whatever the dtype, as TensorFlow.
    return shape.reshape.apply(cast(places, np.int32), shape=x._value.shape)
