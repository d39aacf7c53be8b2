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
from .files import INDEX, Node, split

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
            table = dict(entries(file.read()))
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
        with open(path, "rb") as file:
            file.seek(entry.offset)
            data = file.read(entry.size)
        if len(data) != entry.size:
            raise errors.DataLossError(None, None, f"{path} ends before {key} does")
        dtype = dtypes.DType(entry.dtype)
        if dtype is not dtypes.string:
            return np.frombuffer(data, np.dtype(dtype.as_numpy_dtype)).reshape(entry.shape)
        lengths, at = [], 0
        for _ in range(math.prod(entry.shape)):
            length, at = varint(data, at)
            lengths.append(length)
        return split(data[at + 4 :], lengths, entry.shape)  # after the sum that checks the lengths

    def nodes(self) -> list[Node]:
        """The objects, the root first."""
        if OBJECT_GRAPH not in self._entries:
            raise ValueError(
                f"{self._prefix} has names of variables and no objects, as TensorFlow 1 writes it. "
                "Read it with tf.train.load_checkpoint(path).get_tensor(name) and assign the values"
            )
        return [
            _node(node) for number, node in fields(self.get(OBJECT_GRAPH).item()) if number == 1
        ]


class _Entry:
    """Where a tensor lies, and what it is (BundleEntryProto)."""

    def __init__(self, message: bytes) -> None:
        self.dtype = self.shard = self.offset = self.size = 0
        self.shape: list[int] = []
        self.sliced = False
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
            elif number == 7:
                self.sliced = True


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
    if table[offset + size]:
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
