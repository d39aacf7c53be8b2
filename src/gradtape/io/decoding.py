"""Strings that hold numbers: raw bytes, tensors as protocol buffers, compressed data."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from .. import dtypes, errors
from ..core.apply import tensor
from ..framework import convert
from ..framework.arguments import as_input, attribute_dtype, listed_dtype, number, truth
from .files import bytes_of, performed, string, text
from .protos import array_of, tensor_proto

_PADDED = (
    "float16", "float32", "float64", "int32", "uint16", "uint8", "int16", "int8", "int64",
    "bfloat16",
)  # fmt: skip


def serialize_tensor(tensor: Any, name: str | None = None) -> Any:
    """A tensor as a string, which `parse_tensor` reads.

    >>> import gradtape as tf
    >>> tf.io.parse_tensor(tf.io.serialize_tensor([1, 2]), tf.int32).numpy().tolist()
    [1, 2]
    """
    value = convert.to_tensor(tensor)._value
    like = lambda size: text(b"0" * size)
    made = lambda array: text(tensor_proto(array))
    return performed("serialize_tensor", made, value, like=like, exact=True)


def parse_tensor(serialized: Any, out_type: Any, name: str | None = None) -> Any:
    """The tensor that `serialize_tensor` made a string of."""
    wanted = dtypes.of(attribute_dtype(out_type, "out_type", "ParseTensor"))

    def parse(given: Any) -> Any:
        try:
            array = array_of(bytes_of(given))
        except (ValueError, IndexError, TypeError, OverflowError, MemoryError):
            raise errors.at_run(
                "Could not parse `serialized` as TensorProto: it is no string of "
                "serialize_tensor's [Op:ParseTensor]"
            ) from None
        if dtypes.of(array.dtype) is not wanted:
            found = convert.c_name(array.dtype)
            raise errors.at_run(
                f"Type mismatch between parsed tensor ({found}) and dtype "
                f"({convert.c_name(np.dtype(wanted.as_numpy_dtype))}) [Op:ParseTensor]"
            )
        return array if array.ndim or array.dtype == object else array[()]

    return performed("parse_tensor", parse, string(serialized, "ParseTensor"))


def decode_raw(
    input_bytes: Any,
    out_type: Any,
    little_endian: bool = True,
    fixed_length: int | None = None,
    name: str | None = None,
) -> Any:
    """The bytes of strings as numbers, along a new last axis.

    >>> import gradtape as tf
    >>> tf.io.decode_raw(b"\\x01\\x00\\x02\\x00", tf.int16).numpy().tolist()
    [1, 2]
    """
    dtype = attribute_dtype(out_type, "out_type", "DecodeRaw")
    if fixed_length is not None:
        listed_dtype(dtype, "out_type", _PADDED, "DecodePaddedRaw")
        truth(little_endian, "little_endian", True)
        fixed_length = number(fixed_length, "DecodePaddedRaw", only=True)
    if fixed_length is not None and not 0 < fixed_length < 1 << 31:
        raise errors.invalid(
            f"fixed_length ({fixed_length}) must be greater than zero, and below 2**31 "
            "[Op:DecodePaddedRaw]"
        )
    strings = as_input(input_bytes, object, "DecodeRaw")._value

    def decode(strings: Any) -> Any:
        flat = [bytes_of(one) for one in np.asarray(strings, object).ravel()]
        if fixed_length is not None:
            flat = [one[:fixed_length].ljust(fixed_length, b"\0") for one in flat]
        sizes = {len(one) for one in flat} or {0}
        if len(sizes) > 1:
            raise errors.invalid(
                "DecodeRaw requires input strings to all be the same size, but they have the "
                f"sizes {sorted(sizes)} [Op:DecodeRaw]"
            )
        (size,) = sizes
        if size % dtype.itemsize:
            raise errors.invalid(
                f"Input to DecodeRaw has length {size} that is not a multiple of "
                f"{dtype.itemsize}, the size of {dtypes.of(dtype).name} [Op:DecodeRaw]"
            )
        order = dtype if little_endian else dtype.newbyteorder(">")
        numbers = np.frombuffer(b"".join(flat), order).astype(dtype)
        return numbers.reshape(*np.shape(strings), size // dtype.itemsize)

    length = None if fixed_length is None else fixed_length // dtype.itemsize
    like = lambda size: np.zeros((*strings.shape, length or size), dtype)
    return performed("decode_raw", decode, strings, like=like, exact=True)


def decode_compressed(bytes: Any, compression_type: str = "", name: str | None = None) -> Any:
    """Strings without their compression: "ZLIB", "GZIP", or "" for none."""
    if not isinstance(compression_type, (str, builtins.bytes)):
        raise TypeError(
            f"Expected string for argument 'compression_type' not {compression_type!r}."
        )
    if compression_type not in ("", "ZLIB", "GZIP"):
        raise errors.invalid(
            "Only ZLIB, GZIP or NONE are supported compressions [Op:DecodeCompressed]"
        )
    strings = as_input(bytes, object, "DecodeCompressed")._value

    def expand(data: Any) -> Any:
        import zlib

        try:
            return zlib.decompress(data, 47) if compression_type else data
        except zlib.error as cause:
            raise errors.DataLossError(None, None, f"{cause} [Op:DecodeCompressed]") from cause

    return _each(expand, strings)


def encode_base64(input: Any, pad: bool = False, name: str | None = None) -> Any:
    """Strings in letters that are safe in addresses (`-` and `_`), with `=` at the end or not."""
    from base64 import urlsafe_b64encode

    pad = truth(pad, "pad")

    def encode(data: bytes) -> bytes:
        return urlsafe_b64encode(data).rstrip(b"" if pad else b"=")

    return _each(encode, as_input(input, object, "EncodeBase64")._value)


def decode_base64(input: Any, name: str | None = None) -> Any:
    """The strings that `encode_base64` was given."""
    from base64 import urlsafe_b64decode

    def decode(data: bytes) -> bytes:
        plain = data.rstrip(b"=")
        letters = plain.replace(b"-", b"").replace(b"_", b"")
        if (letters and not letters.isalnum()) or len(plain) % 4 == 1:
            raise errors.invalid("Invalid character found in base64. [Op:DecodeBase64]")
        return urlsafe_b64decode(plain + b"=" * (-len(plain) % 4))

    return _each(decode, as_input(input, object, "DecodeBase64")._value)


def _each(function: Any, strings: Any) -> Any:
    def make(strings: Any) -> Any:
        made = np.empty(np.shape(strings), object)
        for at, one in np.ndenumerate(np.asarray(strings, object)):
            made[at] = function(bytes_of(one))
        return made

    return tensor(convert.computed(make, strings))
