"""Summaries by kind, in the forms that TensorBoard's plugins read."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from .. import errors
from ..framework import convert
from ..framework.name_scopes import get_name_scope
from ..io.png import png
from ..io.protos import message, tensor_proto
from .writers import emit


def scalar(name: str, data: Any, step: Any = None, description: str | None = None) -> Any:
    """Write a number."""

    def make(value: Any) -> Any:
        if value.shape:
            raise ValueError(f"Expected scalar shape, saw shape: {value.shape}.")
        if value.dtype.kind == "O":
            raise errors.UnimplementedError(None, None, "Cast string to float is not supported")
        return value.astype(np.float32)

    return _summary(name, make, data, step, "scalars", description)


def histogram(
    name: str, data: Any, step: Any = None, buckets: int | None = None, description: Any = None
) -> Any:
    """Write how often numbers fall into each of some ranges of the same width (30)."""

    def make(value: Any) -> Any:
        if value.dtype.kind == "O":
            raise errors.UnimplementedError(None, None, "Cast string to double is not supported")
        return _counted(value.ravel().astype(np.float64), 30 if buckets is None else int(buckets))

    return _summary(name, make, data, step, "histograms", description)


def _counted(values: Any, buckets: int) -> Any:
    """Rows of left edge, right edge and count."""
    if not values.size or buckets <= 0:
        return np.zeros((max(buckets, 0), 3))
    low, high = values.min(), values.max()
    if low == high:
        counts = np.zeros(buckets)
        counts[-1] = values.size
        return np.stack([np.full(buckets, low), np.full(buckets, low), counts], 1)
    at = np.minimum((values - low) / ((high - low) / buckets), buckets - 1).astype(np.int64)
    edges = np.linspace(low, high, buckets + 1)
    return np.stack([edges[:-1], edges[1:], np.bincount(at, minlength=buckets)], 1)


def text(name: str, data: Any, step: Any = None, description: str | None = None) -> Any:
    """Write text, in Markdown, or a table of texts."""

    def make(value: Any) -> Any:
        if value.dtype.kind != "O":
            kind = convert.to_tensor(value).dtype.name
            raise TypeError(f"tensor must be of type tf.string; got tf.{kind}")
        return value

    return _summary(name, make, data, step, "text", description)


def image(
    name: str, data: Any, step: Any = None, max_outputs: Any = 3, description: str | None = None
) -> Any:
    """Write images [k, height, width, channels], of floats in [0, 1] or of uint8."""

    def make(value: Any) -> Any:
        if int(max_outputs) < 0:
            raise errors.invalid("max_outputs must be >= 0")
        if value.ndim != 4:
            raise ValueError(
                f"Tensor  must have rank 4.  Received rank {value.ndim}, shape {value.shape}"
            )
        pictures = [png(_bytes_of(one)) for one in value[: int(max_outputs)]]
        height, width = value.shape[1:3]
        return _strings([str(width).encode(), str(height).encode(), *pictures])

    return _summary(name, make, data, step, "images", description)


def audio(
    name: str,
    data: Any,
    sample_rate: Any,
    step: Any = None,
    max_outputs: Any = 3,
    encoding: Any = None,
    description: str | None = None,
) -> Any:
    """Write sound [k, frames, channels] of floats in [-1, 1], as WAV."""
    if encoding not in (None, "wav"):
        raise ValueError(f"Unknown encoding: {encoding!r}")
    rate = int(sample_rate)

    def make(value: Any) -> Any:
        if value.ndim != 3:
            raise ValueError(
                f"Tensor  must have rank 3.  Received rank {value.ndim}, shape {value.shape}"
            )
        sounds = [wav(one, rate) for one in value[: int(max_outputs)]]
        return _strings([part for sound in sounds for part in (sound, b"")]).reshape(-1, 2)

    return _summary(name, make, data, step, "audio", description, content=message((2, 11)))


def write(
    tag: str, tensor: Any, step: Any = None, metadata: Any = None, name: str | None = None
) -> Any:
    """Write a tensor for some plugin; `metadata` is a SummaryMetadata, or its bytes."""
    data = tensor() if callable(tensor) and not hasattr(tensor, "_value") else tensor
    if metadata is not None and not isinstance(metadata, bytes):
        metadata = metadata.SerializeToString()
    return emit(lambda value: _value(tag, value, metadata), data, step)


def _summary(
    name: str, make: Any, data: Any, step: Any, plugin: str, description: Any, content: bytes = b""
) -> Any:
    if not isinstance(name, (str, bytes)):
        raise TypeError(f"expected string or bytes-like object, got {type(name).__name__!r}")
    scope = get_name_scope()
    tag = f"{scope}/{name}" if scope else name
    kind = [(1, plugin), *([(2, content)] if content else [])]
    metadata = message((1, message(*kind)), (3, description or ""))
    return emit(lambda value: _value(tag, make(value), metadata), data, step)


def encoded(plugin: str, tag: str, value: Any, buckets: int = 30) -> bytes:
    """The summary of a number, of an array as a histogram, or of a text, for `writers.Aside`."""
    if plugin == "text":
        value = _strings([value.encode()]).reshape(())
    elif plugin == "histograms":
        value = _counted(np.asarray(value).ravel().astype(np.float64), buckets)
    else:
        value = np.asarray(value, np.float32)
    return _value(tag, value, message((1, message((1, plugin)))))


def _value(tag: str, value: Any, metadata: bytes | None) -> bytes:
    parts = [(1, tag), (8, tensor_proto(value)), *([] if metadata is None else [(9, metadata)])]
    return message((1, message(*parts)))


def _strings(texts: list[bytes]) -> Any:
    found = np.empty(len(texts), object)
    found[:] = texts
    return found


# --- formats --------------------------------------------------------------------------------------
def _bytes_of(picture: Any) -> Any:
    if picture.dtype == np.uint8:
        return picture
    from ..image.colour import convert_image_dtype

    return convert_image_dtype(picture, "uint8", saturate=True).numpy()


def wav(frames: Any, rate: int) -> bytes:
    """Frames [frames, channels] in [-1, 1] as a WAV file of 16 bits."""
    channels = frames.shape[1]
    scaled = frames * 32768.0
    rounded = np.trunc(scaled + np.copysign(0.5, scaled))  # halves away from 0, as TensorFlow
    samples = np.clip(rounded, -32768, 32767).astype("<i2").tobytes()
    kind = struct.pack("<HHIIHH", 1, channels, rate, rate * channels * 2, channels * 2, 16)
    body = b"WAVEfmt " + struct.pack("<I", 16) + kind + b"data" + struct.pack("<I", len(samples))
    return b"RIFF" + struct.pack("<I", len(body) + len(samples)) + body + samples
