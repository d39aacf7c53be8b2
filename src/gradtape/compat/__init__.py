"""`tf.compat`: text as bytes and back, and the few names of TensorFlow 1 that are here."""

from __future__ import annotations

import codecs
import os
from typing import Any

from ..framework.namespaces import lookup
from . import v1 as v1

__getattr__ = lookup(__name__)

__all__ = ["as_bytes", "as_str", "as_str_any", "as_text", "path_to_str", "v1"]


def as_text(bytes_or_text: Any, encoding: str = "utf-8") -> str:
    """A string, of bytes too."""
    codecs.lookup(encoding)  # or its error, also where nothing is to be decoded
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_bytes(bytes_or_text: Any, encoding: str = "utf-8") -> bytes:
    """Bytes, of a string too."""
    codecs.lookup(encoding)
    if isinstance(bytes_or_text, (bytes, bytearray)):
        return bytes(bytes_or_text)
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


as_str = as_text


def as_str_any(value: Any, encoding: str = "utf-8") -> str:
    """A string of anything."""
    return value.decode(encoding) if isinstance(value, bytes) else str(value)


def path_to_str(path: Any) -> Any:
    """The text of a path."""
    return as_str_any(os.fspath(path)) if hasattr(path, "__fspath__") else path
