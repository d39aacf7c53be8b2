"""The files of checkpoints: safetensors, with the objects that hold the tensors as JSON in front.

A checkpoint is the one file `<prefix>.safetensors`. It is written beside its place, flushed to the
disk and renamed, so that at every moment there is the old one, the new one or none, never a part of
one. `<prefix>.index` holds the JSON again, for people and for scripts that look whether a file of
that name exists. Nothing is read of it, but a damaged one is an error, as it is in TensorFlow.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from .. import dtypes, errors

SUFFIX = ".safetensors"
INDEX = ".index"
_FORMAT = "gradtape.checkpoint"
_VERSION = 1
# What safetensors has on NumPy in all versions; other types are kept as bytes.
_NATIVE = frozenset((
    "bool", "uint8", "int8", "uint16", "int16", "float16", "uint32", "int32", "float32", "uint64",
    "int64", "float64",
))  # fmt: skip


class Node(NamedTuple):
    """An object of a checkpoint: what it holds (numbers of nodes) and its tensors (their keys)."""

    children: dict[str, int]
    values: dict[str, str]


# --- writing --------------------------------------------------------------------------------------
def write(prefix: str, nodes: list[Node], arrays: dict[str, Any]) -> None:
    """Write a checkpoint: after this, it is complete on the disk."""
    from safetensors.numpy import save_file

    stored: dict[str, np.ndarray] = {}
    kinds = {}
    for key, array in arrays.items():
        array = np.asarray(array)
        name = dtypes.of(array.dtype).name
        kinds[key] = [name, list(array.shape)]
        stored[key] = np.ascontiguousarray(array).reshape(array.shape)
        if name not in _NATIVE:
            stored[key] = np.frombuffer(_bytes(array), np.uint8)
    objects = [{"children": node.children, "values": node.values} for node in nodes]
    head = {"version": _VERSION, "objects": objects, "tensors": kinds}
    folder = os.path.dirname(prefix)
    if folder:
        os.makedirs(folder, exist_ok=True)
    with replaced(prefix + SUFFIX) as temporary:
        save_file(stored, temporary, {_FORMAT: json.dumps(head)})
    with replaced(prefix + INDEX) as temporary, open(temporary, "w", encoding="utf-8") as file:
        json.dump(head, file, indent=1)


@contextmanager
def replaced(path: str) -> Iterator[str]:
    """A file to be written that takes the place of `path` at the end, at once and for good."""
    temporary = path + ".temp"
    # Whatever writes it, and however: it has the rights that the user's files have.
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    mode = stat.S_IMODE(os.fstat(descriptor).st_mode)
    os.close(descriptor)
    yield temporary
    os.chmod(temporary, mode)
    with open(temporary, "rb+") as file:
        os.fsync(file.fileno())
    os.replace(temporary, path)
    if os.name == "posix":  # the folder has the name of the file, and is to be kept, too
        folder = os.open(os.path.dirname(path) or ".", os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def remove(prefix: str) -> None:
    """Delete the files of a checkpoint, also of one that TensorFlow wrote."""
    import glob

    for pattern in (INDEX, SUFFIX, ".data-?????-of-?????"):
        for path in glob.glob(glob.escape(prefix) + pattern):
            os.remove(path)


def _bytes(array: Any) -> bytes:
    if array.dtype.kind != "O":
        return array.tobytes()
    texts = [_encoded(text) for text in array.ravel()]
    return np.array([len(text) for text in texts], np.int64).tobytes() + b"".join(texts)


def _encoded(text: Any) -> bytes:
    return text.encode() if isinstance(text, str) else bytes(text)


# --- reading --------------------------------------------------------------------------------------
class Safetensors:
    """Reads a checkpoint that gradtape wrote. It stays readable when the file is deleted."""

    def __init__(self, path: str) -> None:
        from safetensors import SafetensorError, safe_open

        try:
            self._file = safe_open(path, framework="np")
        except SafetensorError as cause:
            raise errors.DataLossError(None, None, f"{path} is no checkpoint: {cause}") from cause
        text = (self._file.metadata() or {}).get(_FORMAT)
        if text is None:
            raise errors.DataLossError(
                None, None, f"{path} is a safetensors file, but not a checkpoint of gradtape's."
            )
        head = json.loads(text)
        if head["version"] > _VERSION:
            raise errors.UnimplementedError(
                None, None, f"{path} was written by a newer gradtape: update gradtape to read it."
            )
        self._objects = head["objects"]
        self.tensors: dict[str, tuple[str, list[int]]] = {
            key: (name, shape) for key, (name, shape) in head["tensors"].items()
        }

    def get(self, key: str) -> Any:
        """An array."""
        name, shape = self.tensors[key]
        array = self._file.get_tensor(key)
        if name in _NATIVE:
            return array
        if name != "string":
            return array.view(np.dtype(dtypes.as_dtype(name).as_numpy_dtype)).reshape(shape)
        count = int(np.prod(shape))
        return split(array[8 * count :].tobytes(), array[: 8 * count].view(np.int64), shape)

    def nodes(self) -> list[Node]:
        """The objects, the root first."""
        return [Node(one["children"], one["values"]) for one in self._objects]


def check_index(prefix: str) -> None:
    """Raise an error if there is an index that is damaged. A process that was killed may have left
    none, or that of the checkpoint before."""
    try:
        with open(prefix + INDEX, "rb") as file:
            text = file.read()
    except FileNotFoundError:
        return
    try:
        head = json.loads(text)
    except ValueError:
        head = None
    if not isinstance(head, dict) or not head.keys() >= {"version", "objects", "tensors"}:
        why = "file is too short to be an sstable" if len(text) < 48 else "not an sstable"
        raise errors.OpError(
            None, None,
            f"{why}: {prefix}{INDEX} is damaged; write the checkpoint anew, or delete this file if "
            f"{prefix}{SUFFIX} is sound", errors.DATA_LOSS,
        )  # fmt: skip


def split(text: bytes, lengths: Any, shape: Any) -> Any:
    """An array of strings from all of them in a row."""
    ends = np.cumsum(lengths).tolist()
    found = np.empty(len(ends), object)
    found[:] = [text[end - int(size) : end] for end, size in zip(ends, lengths, strict=True)]
    return found.reshape(shape)
