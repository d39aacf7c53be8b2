"""Elements in a file: for caches and saved datasets. Reading one never runs code.

A file is a sequence of records: a length of eight bytes, a line of JSON that tells dtype and shape
of every tensor, and their bytes; texts are their lengths and then the texts themselves.
"""

from __future__ import annotations

import contextlib
import json
import os
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import dtypes, errors, nest
from ..core.apply import tensor
from ..framework.shapes import NoneTensorSpec, TensorSpec, TypeSpec
from .node import Element

MAGIC = b"gradtape elements 1\n"


def _packed(array: Any) -> tuple[dict[str, Any], bytes]:
    about = {"dtype": dtypes.of(array.dtype).name, "shape": list(array.shape)}
    if array.dtype.kind != "O":
        return about, np.asarray(array).tobytes()
    texts = [t if isinstance(t, bytes) else str(t).encode() for t in np.asarray(array).ravel()]
    return {**about, "lengths": list(map(len, texts))}, b"".join(texts)


def _unpacked(about: dict[str, Any], body: memoryview) -> tuple[Any, int]:
    dtype = np.dtype(dtypes.as_dtype(about["dtype"]).as_numpy_dtype)
    shape = tuple(about["shape"])
    if dtype.kind != "O":
        count = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        array = np.frombuffer(body[:count], dtype).reshape(shape)
        return (array if shape else array[()]), count
    texts, at = np.empty(len(about["lengths"]), object), 0
    for k, length in enumerate(about["lengths"]):
        texts[k] = bytes(body[at : at + length])
        at += length
    return texts.reshape(shape), at


def _tensors(leaf: Any) -> list[Any]:
    return nest.flatten([] if leaf is None else leaf, expand_composites=True)


def encode(element: Element) -> bytes:
    """The record of an element."""
    parts = [_packed(t._value) for leaf in element for t in _tensors(leaf)]
    head = json.dumps([about for about, _ in parts]).encode() + b"\n"
    return head + b"".join(body for _, body in parts)


def decode(record: bytes, specs: list[TypeSpec]) -> Element:
    """The element of a record."""
    head, _, _ = record.partition(b"\n")
    body, arrays = memoryview(record)[len(head) + 1 :], []
    for about in json.loads(head):
        array, count = _unpacked(about, body)
        arrays.append(tensor(array))
        body = body[count:]
    left = iter(arrays)
    return [_leaf(spec, left) for spec in specs]


def _leaf(spec: TypeSpec, left: Iterator[Any]) -> Any:
    if isinstance(spec, NoneTensorSpec):
        return None
    if isinstance(spec, TensorSpec):
        return next(left)
    parts = spec._component_specs
    return spec._from_components(nest.map_structure(lambda _: next(left), parts))


class Writer:
    """A file that is there when it is complete, and not before."""

    def __init__(self, path: str) -> None:
        self._path, self._made = path, f"{path}.{os.getpid()}.tmp"
        self._complete = False

    def __enter__(self) -> Writer:
        self._file = open(self._made, "wb")
        self._file.write(MAGIC)
        return self

    def write(self, element: Element) -> None:
        record = encode(element)
        self._file.write(struct.pack("<Q", len(record)) + record)

    def finish(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())
        self._complete = True

    def __exit__(self, *error: Any) -> None:
        self._file.close()
        if self._complete:
            os.replace(self._made, self._path)
        else:
            with contextlib.suppress(OSError):
                os.unlink(self._made)


def read(path: str, specs: list[TypeSpec]) -> Iterator[Element]:
    """The elements of a file."""
    with open(path, "rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise errors.DataLossError(None, None, f"{path} holds no elements of a dataset.")
        while head := file.read(8):
            (length,) = struct.unpack("<Q", head)
            record = file.read(length)
            if len(record) < length:
                raise errors.DataLossError(None, None, f"{path} is truncated.")
            yield decode(record, specs)
