"""Protocol buffers, as far as TensorFlow's files need them: fields by number, and tensors."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from .. import dtypes, errors


# --- reading --------------------------------------------------------------------------------------
def varint(data: bytes, at: int) -> tuple[int, int]:
    """A number, seven bits a byte, and the place after it."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7


def fields(message: bytes) -> Iterator[tuple[int, Any]]:
    """The fields of a message by their numbers: whole numbers, or bytes."""
    at = 0
    while at < len(message):
        tag, at = varint(message, at)
        kind = tag & 7
        if kind == 0:
            value, at = varint(message, at)
            yield tag >> 3, value
            continue
        if kind not in (1, 2, 5):
            raise ValueError("these bytes are no protocol buffer")
        size = 8 if kind == 1 else 4
        if kind == 2:
            size, at = varint(message, at)
        if at + size > len(message):
            raise ValueError("the protocol buffer is cut off")
        yield tag >> 3, message[at : at + size]
        at += size


def signed(value: int) -> int:
    """A 64-bit number whose highest bit is its sign."""
    return value - (1 << 64) if value >> 63 else value


# --- writing --------------------------------------------------------------------------------------
def number(value: int) -> bytes:
    """Seven bits a byte, the lowest first; negative numbers in 64 bits."""
    value &= (1 << 64) - 1
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    found.append(value)
    return bytes(found)


def message(*given: tuple[int, Any]) -> bytes:
    """A message of pairs of field number and value: whole numbers, floats (double), bytes or text.

    Zeros and empty texts are the defaults, and are left out; an empty message stays.
    """
    parts: list[bytes] = []
    for field, value in given:
        if isinstance(value, (int, np.integer)):
            parts += [number(field << 3), number(int(value))] if value else []
        elif isinstance(value, float):
            parts += [number(field << 3 | 1), struct.pack("<d", value)]
        elif value or isinstance(value, bytes):
            encoded = value.encode() if isinstance(value, str) else value
            parts += [number(field << 3 | 2), number(len(encoded)), encoded]
    return b"".join(parts)


# --- tensors --------------------------------------------------------------------------------------
def shape_proto(shape: Iterable[int]) -> bytes:
    """A TensorShapeProto."""
    return message(*((2, message((1, size))) for size in shape))


def tensor_proto(value: Any) -> bytes:
    """A TensorProto."""
    array = np.asarray(value)
    kind = dtypes.of(array.dtype)
    content: list[tuple[int, Any]] = [(1, kind.as_datatype_enum), (2, shape_proto(array.shape))]
    if kind is dtypes.string:
        texts = array.ravel().tolist()
        content += [(8, t.encode() if isinstance(t, str) else bytes(t)) for t in texts]
    elif array.size:
        content.append((4, array.astype(array.dtype.newbyteorder("<")).tobytes()))
    return message(*content)


# Where numbers stand one by one: the field, how it is packed (None: as varints), and the type.
_LISTS: dict[int, tuple[Any, Any]] = {
    5: ("<f4", None), 6: ("<f8", None), 7: (None, None), 9: ("<f4", np.complex64),
    10: (None, None), 11: (None, None), 12: ("<f8", np.complex128), 13: (None, None),
    16: (None, None), 17: (None, None),
}  # fmt: skip


_MOST = 1 << 34  # elements of a tensor; a few bytes can ask for any number of them


def array_of(proto: bytes) -> Any:
    """The array of a TensorProto."""
    kind: dtypes.DType | None = None
    shape: list[int] = []
    content: Any = None
    texts: list[bytes] = []
    numbers: list[Any] = []
    for field, value in fields(proto):
        if field == 1:
            kind = dtypes.DType(value)
        elif field == 2:
            dims = [dict(fields(dim)) for at, dim in fields(value) if at == 2]
            shape = [signed(dim.get(1, 0)) for dim in dims]
        elif field == 4:
            content = value
        elif field == 8:
            texts.append(value)
        elif field in _LISTS:
            numbers += _listed(field, value)
    if kind is None:
        raise ValueError("a TensorProto says its dtype, which these bytes do not")
    count = math.prod(shape)
    if min(shape, default=0) < 0 or max(count, *shape, 0) > _MOST:
        raise ValueError(f"no tensor has the shape {shape}")
    if kind is dtypes.string:
        found = np.empty(count, object)
        found[:] = texts + (texts[-1:] or [b""]) * (count - len(texts))
        return found.reshape(shape)
    dtype = np.dtype(kind.as_numpy_dtype)
    if content is not None:
        if len(content) != count * dtype.itemsize:
            raise errors.invalid(f"{len(content)} bytes do not make a tensor of shape {shape}")
        return np.frombuffer(content, dtype).reshape(shape)
    # Values at the end that are the same as the last one are left out.
    numbers += (numbers[-1:] or [0]) * (count - len(numbers))
    if kind.name in ("float16", "bfloat16"):  # given by their bits
        return np.array(numbers, np.uint16).view(dtype).reshape(shape)
    return np.array(numbers).astype(dtype).reshape(shape)


def _listed(field: int, value: Any) -> list[Any]:
    packed, joined = _LISTS[field]
    if packed is None:
        if isinstance(value, int):
            return [signed(value)]
        found, at = [], 0
        while at < len(value):
            one, at = varint(value, at)
            found.append(signed(one))
        return found
    flat = np.frombuffer(value, packed)
    return (flat if joined is None else flat.view(joined)).tolist()
