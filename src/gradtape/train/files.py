"""The files of checkpoints: safetensors, with the objects that hold the tensors as JSON in front.

The tensors are in `<prefix>.safetensors`. It is written beside its place, flushed to the disk and
renamed, so that at every moment there is the old one, the new one or none, never a part of one.
`<prefix>.index` holds the JSON again and is written last: without it there is no checkpoint, as in
TensorFlow, and it tells what there should be where the tensors are damaged. Sums over the JSON and
over each tensor find out about damage that leaves the form of the files as it is.
"""

from __future__ import annotations

import json
import os
import stat
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from .. import dtypes, errors
from ..io.gfile import make_folders

SUFFIX = ".safetensors"
INDEX = ".index"
_FORMAT = "gradtape.checkpoint"
_SUM = "gradtape.checkpoint.sum"
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
    sums = {key: _sum(array) for key, array in stored.items()}
    head = {"version": _VERSION, "objects": objects, "tensors": kinds, "sums": sums}
    text = json.dumps(head)
    folder = os.path.dirname(prefix)
    if folder:
        make_folders(folder)
    with replaced(prefix + SUFFIX) as temporary:
        save_file(stored, temporary, {_FORMAT: text, _SUM: str(zlib.crc32(text.encode()))})
        size = os.path.getsize(temporary)
    index = {**head, "size": size}
    index["sum"] = zlib.crc32(json.dumps(index).encode())
    with replaced(prefix + INDEX) as temporary, open(temporary, "w", encoding="utf-8") as file:
        json.dump(index, file, indent=1)


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


def _sum(array: np.ndarray) -> int:
    return zlib.crc32(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)


def _bytes(array: Any) -> bytes:
    if array.dtype.kind != "O":
        return array.tobytes()
    texts = [_encoded(text) for text in array.ravel()]
    return np.array([len(text) for text in texts], np.int64).tobytes() + b"".join(texts)


def _encoded(text: Any) -> bytes:
    return text.encode() if isinstance(text, str) else bytes(text)


# --- reading --------------------------------------------------------------------------------------
class Safetensors:
    """Reads a checkpoint that gradtape wrote. It stays readable when the file is deleted.

    A file that is damaged, or is not there, still has the keys that the index tells of: the error
    comes when something is read of it.
    """

    def __init__(self, prefix: str) -> None:
        self._path = prefix + SUFFIX
        self._file: Any = None
        self._damage: Callable[[], Exception] | None = None
        index = _index(prefix)
        head = self._opened(index.get("size", 0)) or index
        if head["version"] > _VERSION:
            raise errors.UnimplementedError(
                None, None,
                f"{self._path} was written by a newer gradtape: update gradtape to read it.",
            )  # fmt: skip
        self._objects = head["objects"]
        self._sums: dict[str, int] = head.get("sums", {})
        self.tensors: dict[str, tuple[str, list[int]]] = {
            key: (name, shape) for key, (name, shape) in head["tensors"].items()
        }

    def _opened(self, size: int) -> dict[str, Any] | None:
        """What the file says of itself, or None if it is no sound file of this size."""
        from safetensors import SafetensorError, safe_open

        path = self._path
        if not os.path.isfile(path):
            self._damage = lambda: unreadable(f"{path}; No such file or directory")
            return None
        try:
            self._file = safe_open(path, framework="np")
        except SafetensorError as cause:
            said = f"{path} is no checkpoint: {cause}"
            short = os.path.getsize(path) < size
            self._damage = lambda: cut_off(path) if short else unreadable(said)
            return None
        held = self._file.metadata() or {}
        text = held.get(_FORMAT)
        if text is None:
            said = f"{path} is a safetensors file, but not a checkpoint of gradtape's."
            self._damage = lambda: unreadable(said)
            return None
        if held.get(_SUM, str(zlib.crc32(text.encode()))) != str(zlib.crc32(text.encode())):
            self._damage = lambda: unreadable(f"{path}: the checksum of its head does not match")
            return None
        head: dict[str, Any] = json.loads(text)
        return head

    def get(self, key: str) -> Any:
        """An array."""
        from safetensors import SafetensorError

        if self._damage is not None:
            raise self._damage()
        name, shape = self.tensors[key]
        try:
            array = self._file.get_tensor(key)
        except SafetensorError as cause:
            raise errors.DataLossError(None, None, f"{self._path}: {key}: {cause}") from cause
        if name in _NATIVE and (array.dtype.name, list(array.shape)) != (name, shape):
            raise errors.DataLossError(
                None, None,
                f"{self._path}: {key} is {array.dtype.name} {list(array.shape)}, and was written "
                f"as {name} {shape}",
            )  # fmt: skip
        stored = self._sums.get(key)
        if stored is not None and stored != (calculated := _sum(array)):
            raise mismatched(self._path, array.nbytes, stored, calculated)
        if name in _NATIVE:
            return array
        if name != "string":
            return array.view(np.dtype(dtypes.as_dtype(name).as_numpy_dtype)).reshape(shape)
        count = int(np.prod(shape))
        return split(array[8 * count :].tobytes(), array[: 8 * count].view(np.int64), shape)

    def nodes(self) -> list[Node]:
        """The objects, the root first."""
        if self._damage is not None:
            raise self._damage()
        return [Node(one["children"], one["values"]) for one in self._objects]


def _index(prefix: str) -> dict[str, Any]:
    """What the index says; without it there is no checkpoint."""
    try:
        with open(prefix + INDEX, "rb") as file:
            text = file.read()
    except FileNotFoundError:
        beside = f": {prefix}{SUFFIX} is there, {prefix}{INDEX} is not"
        raise errors.NotFoundError(
            None, None,
            "Unsuccessful TensorSliceReader constructor: Failed to find any matching files for "
            f"{prefix}{beside if os.path.exists(prefix + SUFFIX) else ''}",
        ) from None  # fmt: skip
    try:
        head = json.loads(text)
    except ValueError:
        head = None
    if not isinstance(head, dict) or not head.keys() >= {"version", "objects", "tensors"}:
        why = "file is too short to be an sstable" if len(text) < 48 else "not an sstable"
        raise unreadable(f"{why}: {prefix}{INDEX} is damaged; write the checkpoint anew")
    stored = head.pop("sum", None)
    if stored is not None and stored != zlib.crc32(json.dumps(head).encode()):
        raise unreadable(f"Unable to read file ({prefix}{INDEX}): block checksum mismatch")
    return head


# --- what is said of damage, with TensorFlow's types ----------------------------------------------
def unreadable(message: str) -> Exception:
    """The error about a file that cannot be read, or not as a checkpoint."""
    return errors.OpError(None, None, message, errors.UNKNOWN)


def cut_off(path: str) -> Exception:
    """The error about a file that ends too early."""
    return IndexError(f"Read less bytes than requested: {path} is cut off")


def mismatched(path: str, size: int, stored: int, calculated: int) -> Exception:
    """The error about bytes that are not those that were written."""
    return errors.DataLossError(
        None, None,
        f"{path} ({size} bytes): Checksum does not match: stored {stored} vs. calculated on the "
        f"restored bytes {calculated}",
    )  # fmt: skip


def split(text: bytes, lengths: Any, shape: Any) -> Any:
    """An array of strings from all of them in a row."""
    ends = np.cumsum(lengths).tolist()
    found = np.empty(len(ends), object)
    found[:] = [text[end - int(size) : end] for end, size in zip(ends, lengths, strict=True)]
    return found.reshape(shape)
