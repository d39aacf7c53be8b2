"""What the arguments of convolution and pooling say about the window that slides."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from .. import errors
from ..framework import arguments, convert
from ..framework.arguments import integer, listed
from ..framework.shapes import TensorShape
from ..ops import shape
from ..ops.kernels.windows import Geometry, pads_for

_FORMATS = {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}


def channels_first(data_format: Any, n: int) -> bool:
    if data_format is None:
        return False
    if not isinstance(data_format, str) and (n > 1 or convert.is_tensor_like(data_format)):
        raise TypeError(f"Expected string for argument 'data_format' not {data_format!r}.")
    if isinstance(data_format, str) and data_format in _FORMATS[n]:
        return data_format == _FORMATS[n][1]
    message = (
        f"`data_format` must be {_FORMATS[n][0]!r} or {_FORMATS[n][1]!r}. "
        f"Received: data_format={data_format}"
    )
    raise ValueError(message) if n == 1 else errors.invalid(message)


def to_last(x: Any, first: bool) -> Any:
    if not first:
        return x
    ndim = x._value.ndim
    return shape.transpose.apply(x, axes=(-ndim, *range(2 - ndim, 0), 1 - ndim))


def to_first(x: Any, first: bool) -> Any:
    if not first:
        return x
    ndim = x._value.ndim
    return shape.transpose.apply(x, axes=(-ndim, -1, *range(1 - ndim, -1)))


def numbers(value: Any, n: int, name: str, first: bool, label: str) -> tuple[int, ...]:
    """Strides, dilations or sizes of the n inner axes from one number, n of them or n + 2."""
    if value is None:
        return (1,) * n
    if value.__class__ is int and 0 < value < 1 << 31:
        return (value,) * n
    several = lengths(value, n, name)
    if convert.is_tensor_like(value):
        value = np.asarray(convert.to_tensor(value)._value).tolist()
    given = [integer(k, name) for k in (value if several else [value])]
    if len(given) == 1:
        found = tuple(given * n)
    elif len(given) == n:
        found = tuple(given)
    else:
        outer = (given[0], given[1 if first else -1])
        if outer != (1, 1):
            kind = errors.UnimplementedError
            if "BackpropInput" in label:
                kind = errors.InvalidArgumentError
            raise kind(
                None, None,
                f"Current implementation does not yet support {name} in the batch and depth "
                f"dimensions: {given} [Op:{label}] name: ",
            )  # fmt: skip
        found = tuple(given[2:] if first else given[1:-1])
    for k in found:
        arguments.narrow(k, label)
    if min(found) <= 0:
        raise errors.at_run(
            f"{name} of the inner axes should be larger than 0, got {found} [Op:{label}] name: "
        )
    return found


def lengths(value: Any, n: int, name: str) -> bool:
    """Are there several numbers? An error, if they are not as many as there can be."""
    if isinstance(value, TensorShape):
        value = list(value)  # or its error about an unknown rank
    if isinstance(value, np.ndarray) and not value.ndim:
        raise TypeError(f"`{name}` is a number or a list of numbers, not the array {value!r}.")
    if hasattr(value, "_read") and not value.shape:
        value = np.asarray(value)
        several, count = False, 1
    elif convert.is_tensor_like(value) or isinstance(value, dict):
        several, count = True, len(value)
    else:
        several = isinstance(value, Sequence) or (isinstance(value, np.ndarray) and value.ndim > 0)
        count = len(value) if several else 1
    if count not in (1, n, n + 2):
        raise ValueError(
            f"`{name}` should be of length 1, {n} or {n + 2}. "
            f"Received: {name}={value} of length {count}"
        )
    return several


def each_axis(value: Any, n: int, name: str, function: str, default: bool = False) -> Any:
    """A number for each of the n + 2 axes in a list, which alone some of TensorFlow's ops take."""
    if value is None and default:
        return None
    given = [integer(k, name) for k in listed([] if value is None else value, name, function)]
    if len(given) != n + 2:
        raise errors.invalid(
            f"Sliding window {name} field must specify {n + 2} dimensions, got {value!r} "
            f"[Op:{function}] name: "
        )
    return given


def rates(value: Any, n: int, name: str) -> Any:
    """Dilations of the inner axes, which TensorFlow's Python checks before its ops do."""
    if value is None:
        return None
    found = np.asarray(convert.to_tensor(value, np.dtype(np.int32))._value)
    if found.ndim != 1 or (found.size and found.min() <= 0):
        raise ValueError(
            f"`{name}` must be a list of {n} positive whole numbers. Received: {name}={value}"
        )
    return found.tolist()


def geometry_of(
    label: str,
    inner: tuple[int, ...],
    size: tuple[int, ...],
    strides: tuple[int, ...],
    dilations: tuple[int, ...],
    padding: Any,
    first: bool,
) -> Geometry:
    if isinstance(padding, str):
        return _by_name(label, inner, size, strides, dilations, padding)
    pads = _explicit(padding, len(size), first)
    return _checked(label, inner, Geometry(size, strides, dilations, pads))


@lru_cache(maxsize=256)  # a layer has the same one at every step of a training
def _by_name(label: str, inner: Any, size: Any, strides: Any, dilations: Any, name: str) -> Any:
    if name not in ("SAME", "VALID"):
        raise errors.invalid(
            f"Value for attr 'padding' of \"{name}\" is not in the list of allowed values: "
            f'"SAME", "VALID", "EXPLICIT" [Op:{label}]'
        )
    pads = pads_for(name, inner, size, strides, dilations)
    return _checked(label, inner, Geometry(size, strides, dilations, pads))


def _checked(label: str, inner: tuple[int, ...], geometry: Geometry) -> Geometry:
    for n, k, s, d, count in zip(inner, *geometry[:3], geometry.counts(inner), strict=True):
        if count < 0 or (count == 0 and n + 1 < (k - 1) * d + 1):
            raise errors.invalid(
                f"Computed output size would be negative: {count} [input_size: {n}, "
                f"effective_filter_size: {(k - 1) * d + 1}, stride: {s}] [Op:{label}] name: "
            )
    return geometry


def _explicit(padding: Any, n: int, first: bool) -> tuple[tuple[int, int], ...]:
    if isinstance(padding, bytes):
        raise errors.invalid(
            f"Value for attr 'padding' of {padding!r} is not in the list of allowed values: SAME, "
            "VALID, EXPLICIT"
        )
    if not isinstance(padding, (list, tuple, np.ndarray)) or n != 2:
        raise TypeError(f"Expected string for argument 'padding' not {padding!r}.")
    if any(np.ndim(pair) != 1 or len(pair) != 2 for pair in padding):
        raise ValueError(
            "When `padding` is a list, each element of `padding` must be a list/tuple of size 2. "
            f"Received: padding={padding}"
        )
    pairs = tuple((int(low), int(high)) for low, high in padding)
    if len(pairs) != n + 2:
        raise ValueError(
            f"Nontrivial explicit padding has a pair for each axis of the input, {n + 2} in all. "
            f"Received: padding={padding}"
        )
    outer = (pairs[0], pairs[1 if first else -1])
    if outer != ((0, 0), (0, 0)):
        raise errors.invalid(
            "Nonzero explicit padding in the batch or depth dimensions is not supported. "
            f"Received: padding={padding}"
        )
    return pairs[2:] if first else pairs[1:-1]


def inner_axes(input: Any) -> int:
    n = convert.to_tensor(input)._value.ndim - 2
    if n not in _FORMATS:
        raise ValueError(
            f"`input.shape.rank` must be 3, 4 or 5. Received: input.shape.rank={n + 2}"
        )
    return n
