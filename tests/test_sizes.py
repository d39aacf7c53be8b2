"""A few bytes may ask for any size: of an image, a tensor, a sound. TensorFlow's error each."""

from __future__ import annotations

import struct
import zlib

import pytest

import gradtape as tf

pytest.importorskip("PIL")


def png(width: int, height: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")


def bmp(width: int, height: int) -> bytes:
    head = struct.pack("<IHHI", 54, 0, 0, 54)
    return b"BM" + head + struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, 0, 0, 0, 0, 0)


def proto(*sizes: int) -> bytes:
    def number(value: int) -> bytes:
        found = b""
        while value > 127:
            found, value = found + bytes([value & 127 | 128]), value >> 7
        return found + bytes([value])

    dims = [b"\x08" + number(size % (1 << 64)) for size in sizes]
    shape = b"".join(b"\x12" + number(len(dim)) + dim for dim in dims)
    return b"\x08\x01\x12" + number(len(shape)) + shape


@pytest.mark.parametrize("size", [(1 << 20, 1 << 20), (1 << 27, 4), (1 << 14, 1 << 15)])
def test_images(size: tuple[int, int]) -> None:
    for decode, data in (
        (tf.io.decode_png, png(*size)), (tf.io.decode_image, png(*size)),
        (tf.io.decode_bmp, bmp(*size)),
    ):  # fmt: skip
        with pytest.raises(tf.errors.InvalidArgumentError):
            decode(data)


@pytest.mark.parametrize(
    "sizes", [(1 << 62,), (1 << 40, 1 << 40), (1 << 40,), (-1,), (-5,), (1 << 20,) * 4]
)
def test_tensors(sizes: tuple[int, ...]) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="parse"):
        tf.io.parse_tensor(proto(*sizes), tf.float32)


def test_bytes_and_sounds() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="fixed_length"):
        tf.io.decode_raw([b"abcd"], tf.uint8, fixed_length=1 << 50)
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of range for an int32"):
        tf.audio.decode_wav(b"", desired_samples=1 << 40)
