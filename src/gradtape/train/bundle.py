"""Reads the checkpoints that TensorFlow writes, "tensor bundles", without any of TensorFlow.

`<prefix>.index` is a table of LevelDB's form: blocks of sorted keys, each without the letters that
it shares with the one before, and a block that says where the blocks are. Its values are protocol
buffers that say where in `<prefix>.data-00000-of-00001` a tensor lies as plain bytes. One of the
tensors is the graph of the objects.
"""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import dtypes, errors
from ..io.protos import fields, varint
from ..io.records import masked
from .files import INDEX, Node, cut_off, mismatched, split, unreadable

OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
_MAGIC = 0xDB4775248B80FB57
_FOOTER = 48


def is_bundle(path: str) -> bool:
    """Whether a file ends as LevelDB's tables do."""
    if not os.path.exists(path) or os.path.getsize(path) < _FOOTER:
        return False
    with open(path, "rb") as file:
        file.seek(-8, os.SEEK_END)
        return struct.unpack("<Q", file.read(8))[0] == _MAGIC


class Bundle:
    """Reads a checkpoint of TensorFlow's."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        with open(prefix + INDEX, "rb") as file:
            content = file.read()
        try:
            table = dict(entries(content))
        except (IndexError, struct.error):
            raise unreadable(f"Unable to read file ({prefix}{INDEX}): it is cut off") from None
        header = dict(fields(table.pop(b"", b"")))
        self._shards = header.get(1, 1)
        if header.get(2, 0):
            raise errors.UnimplementedError(None, None, f"{prefix}: written with big-endian bytes")
        self._entries = {key.decode(): _Entry(value) for key, value in table.items()}
        self.tensors: dict[str, tuple[str, list[int]]] = {
            key: (dtypes.DType(entry.dtype).name, entry.shape)
            for key, entry in self._entries.items()
        }

    def get(self, key: str) -> Any:
        """An array."""
        entry = self._entries[key]
        if entry.sliced:
            raise errors.UnimplementedError(
                None, None, f"{key} is kept in slices, which only TensorFlow 1 writes."
            )
        path = f"{self._prefix}.data-{entry.shard:05d}-of-{self._shards:05d}"
        try:
            with open(path, "rb") as file:
                file.seek(entry.offset)
                data = file.read(entry.size)
        except (FileNotFoundError, IsADirectoryError):
            raise unreadable(f"{path}; No such file or directory") from None
        if len(data) != entry.size:
            raise cut_off(path)
        dtype = dtypes.DType(entry.dtype)
        if dtype is not dtypes.string:
            entry.check(path, data)
            return np.frombuffer(data, np.dtype(dtype.as_numpy_dtype)).reshape(entry.shape)
        lengths, at = [], 0
        try:
            for _ in range(math.prod(entry.shape)):
                length, at = varint(data, at)
                lengths.append(length)
        except IndexError:
            raise mismatched(path, entry.size, entry.sum or 0, 0) from None
        # Of each length as a number of 32 bits, or of 64 if it needs them.
        sizes = b"".join(struct.pack("<I" if n < 1 << 32 else "<Q", n) for n in lengths)
        stored = struct.unpack("<I", data[at : at + 4].ljust(4, b"\0"))[0]
        if masked(sizes) != stored:
            raise errors.DataLossError(
                None, None,
                f"The length checksum does not match: expected {stored} but actual is "
                f"{masked(sizes)}: {path}",
            )  # fmt: skip
        entry.check(path, sizes + data[at:])
        return split(data[at + 4 :], lengths, entry.shape)  # after the sum that checks the lengths

    def nodes(self) -> list[Node]:
        """The objects, the root first."""
        if OBJECT_GRAPH not in self._entries:
            raise ValueError(
                f"{self._prefix} has names of variables and no objects, as TensorFlow 1 writes it. "
                "Read it with tf.train.load_checkpoint(path).get_tensor(name) and assign the values"
            )
        try:
            graph = self.get(OBJECT_GRAPH).item()
        except errors.DataLossError as cause:
            raise unreadable(cause.message) from None  # as whoever reads a single tensor hears it
        return [_node(node) for number, node in fields(graph) if number == 1]


class _Entry:
    """Where a tensor lies, and what it is (BundleEntryProto)."""

    def __init__(self, message: bytes) -> None:
        self.dtype = self.shard = self.offset = self.size = 0
        self.shape: list[int] = []
        self.sliced = False
        self.sum: int | None = None
        for number, value in fields(message):
            if number == 1:
                self.dtype = value
            elif number == 2:
                dims = [dict(fields(dim)) for at, dim in fields(value) if at == 2]
                self.shape = [dim.get(1, 0) for dim in dims]
            elif number == 3:
                self.shard = value
            elif number == 4:
                self.offset = value
            elif number == 5:
                self.size = value
            elif number == 6:
                self.sum = struct.unpack("<I", value)[0]
            elif number == 7:
                self.sliced = True

    def check(self, path: str, data: bytes) -> None:
        """Raise an error if these are not the bytes that were written."""
        if self.sum is not None and self.sum != (calculated := masked(data)):
            raise mismatched(path, self.size, self.sum, calculated)


def _node(message: bytes) -> Node:
    """An object of the graph (TrackableObjectGraph.TrackableObject)."""
    node = Node({}, {})
    for number, value in fields(message):
        if number == 1:
            child = dict(fields(value))
            node.children[child[2].decode()] = child.get(1, 0)
        elif number == 2:
            attribute = dict(fields(value))
            node.values[attribute[1].decode()] = attribute[3].decode()
    return node


# --- tables ---------------------------------------------------------------------------------------
def entries(table: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Keys and values of a table, in order."""
    footer = table[-_FOOTER:]
    at = varint(footer, varint(footer, 0)[1])[1]  # after the place of what is not the keys
    offset, at = varint(footer, at)
    size, at = varint(footer, at)
    for _, handle in _block(table, offset, size):
        start, at = varint(handle, 0)
        length, _ = varint(handle, at)
        yield from _block(table, start, length)


def _block(table: bytes, offset: int, size: int) -> Iterator[tuple[bytes, bytes]]:
    kind = table[offset + size]
    stored = struct.unpack("<I", table[offset + size + 1 : offset + size + 5])[0]
    if stored != masked(table[offset : offset + size + 1]):
        raise unreadable("Unable to read the index of the checkpoint: block checksum mismatch")
    if kind:
        raise errors.UnimplementedError(None, None, "The index of the checkpoint is compressed.")
    block = table[offset : offset + size]
    end = len(block) - 4 - 4 * struct.unpack("<I", block[-4:])[0]  # before the list of restarts
    at, key = 0, b""
    while at < end:
        shared, at = varint(block, at)
        rest, at = varint(block, at)
        length, at = varint(block, at)
        key = key[:shared] + block[at : at + rest]
        at += rest
        yield key, block[at : at + length]
        at += length
