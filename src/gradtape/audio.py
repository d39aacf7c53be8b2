"""`tf.audio`: WAV files with samples of 16 bits, and tensors of floats from -1 to 1."""

from __future__ import annotations

from collections.abc import Iterator
from struct import error as TooShort
from struct import unpack_from
from typing import Any, NamedTuple

import numpy as np

from . import errors
from .framework.arguments import as_input, integer
from .framework.namespaces import lookup
from .io.files import bytes_of, performed, string, text
from .summary import kinds

__all__ = ["decode_wav", "encode_wav"]
__getattr__ = lookup(__name__)

_FORMAT = "<HHIIHH"  # kind, channels, rate, bytes per second, bytes per frame, bits
_PCM, _BITS, _STEPS = 1, 16, 32768.0


class DecodeWav(NamedTuple):
    """What `decode_wav` gives."""

    audio: Any
    sample_rate: Any


def decode_wav(
    contents: Any, desired_channels: int = -1, desired_samples: int = -1, name: str | None = None
) -> DecodeWav:
    """The samples of a WAV file, [samples, channels], and how many there are in a second.

    The last channel is repeated, and silence is added, where more are desired than there are.

    >>> import gradtape as tf
    >>> data = tf.audio.encode_wav([[0.5], [-1.0]], 8000)
    >>> tf.audio.decode_wav(data, desired_samples=3).audio.numpy().ravel().tolist()
    [0.5, -1.0, 0.0]
    """
    desired_channels = integer(desired_channels, "desired_channels")
    desired_samples = integer(desired_samples, "desired_samples")
    given = string(contents, "DecodeWav")
    for label, size in (("samples", desired_samples), ("channels", desired_channels)):
        if not -(1 << 31) <= size < 1 << 31:
            raise errors.invalid(
                f"Attr desired_{label} has value {size} out of range for an int32 [Op:DecodeWav]"
            )

    def samples(data: Any) -> Any:
        found = _read(bytes_of(data))[0]
        channels, count = desired_channels, desired_samples
        if channels >= 0:
            found = found[:, np.minimum(np.arange(channels), found.shape[1] - 1)]
        if count >= 0:
            found = np.pad(found[:count], ((0, max(count - len(found), 0)), (0, 0)))
        return found

    def kind(size: int) -> Any:
        sizes = [n if n >= 0 else size for n in (desired_samples, desired_channels)]
        return np.zeros(sizes, np.float32)

    return DecodeWav(
        performed("decode_wav", samples, given, like=kind, exact=True),
        performed(
            "sample_rate",
            lambda data: _read(bytes_of(data))[1],
            given,
            like=lambda size: np.int32(size),
            exact=True,
        ),
    )


def encode_wav(audio: Any, sample_rate: Any, name: str | None = None) -> Any:
    """A WAV file of samples, [samples, channels]; what is beyond -1 and 1 is cut off."""
    samples = as_input(audio, np.float32, "EncodeWav")._value
    rate = as_input(sample_rate, np.int32, "EncodeWav")._value
    if samples.ndim != 2:
        raise errors.invalid(
            f"audio must be 2-dimensional, not of the shape {list(samples.shape)} [Op:EncodeWav]"
        )
    if rate.ndim:
        raise errors.invalid(
            f"Input sample_rate should be a scalar tensor, got {list(rate.shape)} instead. "
            "[Op:EncodeWav]"
        )
    like = lambda size: text(b"0" * size)
    return performed("encode_wav", _written, samples, rate, like=like, exact=True)


def _written(samples: Any, rate: Any) -> Any:
    made = np.empty((), object)
    made[()] = kinds.wav(samples, int(rate))
    return made


def _read(data: bytes) -> tuple[Any, Any]:
    """The samples as floats, and their rate."""
    for at, word in ((0, b"RIFF"), (8, b"WAVE")):
        found = data[at : at + 4]
        if len(found) < 4:
            raise _short()
        if found != word:
            raise errors.invalid(
                f"Header mismatch: Expected {word.decode()} but found {found!r} [Op:DecodeWav]"
            )
    channels = rate = 0
    for name, start, size in _chunks(data):
        if name == b"fmt ":
            channels, rate = _format(data, start)
        elif name == b"data":
            if not channels:
                raise errors.invalid("The samples come before their format [Op:DecodeWav]")
            values = np.frombuffer(data, "<i2", size // 2, start)
            frames = len(values) // channels
            shaped = values[: frames * channels].reshape(frames, channels)
            return (shaped / _STEPS).astype(np.float32), np.int32(rate)
    raise _short()


def _chunks(data: bytes) -> Iterator[tuple[bytes, int, int]]:
    """The parts of a file: name, first byte, length."""
    at = 12
    while at < len(data):
        try:
            name, size = unpack_from("<4sI", data, at)
        except TooShort:
            raise _short() from None
        at += 8
        if at + size > len(data):
            raise _short()
        yield name, at, size
        at += size + size % 2


def _format(data: bytes, start: int) -> tuple[int, int]:
    """The channels and the rate, of a format that is read here."""
    kind, channels, rate, _, _, bits = unpack_from(_FORMAT, data, start)
    if bits != _BITS:
        raise errors.invalid(f"Can only read 16-bit WAV files, but received {bits} [Op:DecodeWav]")
    if kind != _PCM or not channels:
        raise errors.invalid(
            f"Bad audio format for WAV: Expected 1 (PCM), but got {kind} [Op:DecodeWav]"
        )
    return channels, rate


def _short() -> Exception:
    return errors.invalid("Data too short when trying to read string [Op:DecodeWav]")
