"""Discrete cosine transforms of the types 1 to 4."""

from __future__ import annotations

from typing import Any

from .. import convert, errors
from ..ops import fourier as ops
from ..ops.pad import pad

_INVERSE = {1: 1, 2: 3, 3: 2, 4: 4}


def dct(
    input: Any, type: Any = 2, n: Any = None, axis: Any = -1, norm: Any = None, name: Any = None
) -> Any:
    """The discrete cosine transform over the last axis, cut or filled up to `n`.

    >>> import gradtape as tf
    >>> tf.signal.dct([1.0, 1.0, 1.0]).numpy().tolist()
    [6.0, 0.0, 0.0]
    """
    return _transform(input, type, n, axis, norm, False)


def idct(
    input: Any, type: Any = 2, n: Any = None, axis: Any = -1, norm: Any = None, name: Any = None
) -> Any:
    """The inverse of `dct` of the same type, but for a factor of 2 n unless `norm="ortho"`."""
    return _transform(input, type, n, axis, norm, True)


def _transform(value: Any, kind: Any, n: Any, axis: Any, norm: Any, inverse: bool) -> Any:
    if axis != -1:
        raise NotImplementedError(f"axis must be -1. Got: {axis}; tf.transpose moves it there.")
    if n is not None and n < 1:
        raise ValueError(f"n should be a positive integer or None, got {n}.")
    if kind not in _INVERSE:
        raise ValueError(f"Types I, II, III and IV (I)DCT are supported, got {kind}.")
    x = convert.to_tensor(value)
    if x._value.dtype.kind not in "fV":
        raise convert.cannot(0.0, x._value.dtype)
    if not x._value.ndim:
        raise IndexError("a cosine transform takes signals: a value without axes has none")
    size = x._value.shape[-1]
    if kind == 1:
        if norm == "ortho":
            raise ValueError("Normalization is not supported for the Type-I DCT.")
        if size < 2:
            raise ValueError("Type-I DCT requires the dimension to be greater than one.")
    if norm not in (None, "ortho"):
        raise ValueError(f"Unknown normalization. Expected None or 'ortho', got: {norm}")
    if x._value.dtype.char not in "fd":
        kinds = "tf.float32 or tf.float64"
        raise (ValueError if kind == 1 else TypeError)(f"DCT requires {kinds} inputs, got: {x!r}")
    if norm and not inverse and not size:
        raise errors.invalid(f"Paddings must be non-negative: 0 {size - 1} [Op:PadV2] name: ")
    if kind > 1 and not x._value.size and size:
        raise errors.invalid(f"DCT of no signals, of shape {list(x._value.shape)} [Op:RFFT] name: ")
    kind = _INVERSE[kind] if inverse else kind
    return ops.dct.apply(x if n is None else _sized(x, int(n)), kind=kind, norm=norm)


def _sized(x: Any, n: int) -> Any:
    given = x._value.shape
    if n <= given[-1]:
        return x[..., :n]
    return pad.apply(x, pads=((0, 0),) * (len(given) - 1) + ((0, n - given[-1]),))
