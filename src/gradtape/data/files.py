"""Elements from files: lines of text, records of TensorFlow's, records of one length."""

from __future__ import annotations

import bz2
import glob
import gzip
import os
import zlib
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

import numpy as np

from .. import dtypes, errors
from ..core.apply import tensor
from ..framework import convert
from ..framework.shapes import TensorSpec
from ..io.records import records
from .dataset import Dataset
from .node import UNKNOWN, Element, Node, plain
from .sources import Slices


def _names(given: Any) -> list[str]:
    """File names, of a tensor or of Python's strings."""
    if isinstance(given, os.PathLike):
        given = os.fspath(given)
    if isinstance(given, (list, tuple)):
        given = [os.fspath(one) if isinstance(one, os.PathLike) else one for one in given]
    found = plain(convert.to_tensor(given))._value
    if found.dtype.kind != "O":
        raise TypeError(
            f"The `filenames` argument must contain `tf.string` elements. Got {given!r}."
        )
    return [one.decode() for one in np.asarray(found).ravel().tolist()]


def matching(patterns: Any) -> Any:
    """The files that match one of the patterns, in the order of their names."""
    wanted = _names(patterns)
    found = sorted({name for pattern in wanted for name in glob.glob(pattern)})
    if not found:
        raise errors.invalid(f"No files matched pattern: {', '.join(wanted)}")
    texts = np.empty(len(found), object)
    texts[:] = [name.encode() for name in found]
    return tensor(texts)


def _opened(name: str, compression: str) -> BinaryIO:
    if not os.path.exists(name):
        raise errors.NotFoundError(None, None, f"{name}; No such file or directory")
    if compression == "GZIP":
        return gzip.open(name)  # type: ignore[return-value]
    if compression == "ZLIB":
        import io

        with open(name, "rb") as file:
            return io.BytesIO(zlib.decompress(file.read()))
    if compression == "BZ2":
        return bz2.open(name)  # type: ignore[return-value]
    return open(name, "rb")


class _Texts(Node):
    """What a reader finds in each of some files."""

    def __init__(self, names: Node, label: str, read: Callable[[str], Iterator[bytes]]) -> None:
        self.inputs = (names,)
        self.label, self._read = label, read

    def spec(self) -> Any:
        return TensorSpec([], dtypes.string)

    def cardinality(self) -> int:
        return UNKNOWN

    def elements(self) -> Iterator[Element]:
        for (names,) in self.inputs[0].elements():
            for name in _names(names):
                for text in self._read(name):
                    held = np.empty((), object)
                    held[()] = text
                    yield [tensor(held)]


def _node_of(filenames: Any) -> Node:
    if isinstance(filenames, Dataset):
        return filenames._node
    names = np.empty(len(found := _names(filenames)), object)
    names[:] = [name.encode() for name in found]
    return Slices(tensor(names))


def _compression(given: Any) -> str:
    kind = given or ""
    if kind not in ("", "GZIP", "ZLIB", "BZ2"):
        raise errors.invalid(f"Unsupported compression_type: {kind}.")
    return kind


class TextLineDataset(Dataset):
    """The lines of files, without their ends.

    >>> import gradtape as tf, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "lines.txt")
    >>> with open(path, "w") as file:
    ...     _ = file.write("first\\nsecond\\n")
    >>> [line.numpy() for line in tf.data.TextLineDataset(path)]
    [b'first', b'second']
    """

    def __init__(
        self,
        filenames: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        num_parallel_reads: Any = None,
        name: Any = None,
    ) -> None:
        kind = _compression(compression_type)

        def lines(name: str) -> Iterator[bytes]:
            with _opened(name, kind) as file:
                for line in file:
                    yield line.removesuffix(b"\n").removesuffix(b"\r")

        super().__init__(_Texts(_node_of(filenames), "TextLineDatasetV2", lines))


class TFRecordDataset(Dataset):
    """The records of TFRecord files, as strings."""

    def __init__(
        self,
        filenames: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        num_parallel_reads: Any = None,
        name: Any = None,
    ) -> None:
        kind = _compression(compression_type)

        def read(name: str) -> Iterator[bytes]:
            with _opened(name, kind) as file:
                yield from records(file, name)

        super().__init__(_Texts(_node_of(filenames), "TFRecordDatasetV2", read))


class FixedLengthRecordDataset(Dataset):
    """The parts of files that have one length."""

    def __init__(
        self,
        filenames: Any,
        record_bytes: Any,
        header_bytes: Any = None,
        footer_bytes: Any = None,
        buffer_size: Any = None,
        compression_type: Any = None,
        num_parallel_reads: Any = None,
        name: Any = None,
    ) -> None:
        kind, size = _compression(compression_type), int(record_bytes)
        first, last = int(header_bytes or 0), int(footer_bytes or 0)

        def parts(name: str) -> Iterator[bytes]:
            with _opened(name, kind) as file:
                body = file.read()
            body = body[first : len(body) - last]
            if len(body) % size:
                raise errors.invalid(
                    f"Excess bytes of {len(body) % size} in {name}: its records of {size} bytes, "
                    f"header of {first} and footer of {last} do not fill it."
                )
            for k in range(0, len(body), size):
                yield body[k : k + size]

        super().__init__(_Texts(_node_of(filenames), "FixedLengthRecordDatasetV2", parts))
