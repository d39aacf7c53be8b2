"""`tf.io.gfile`: files and folders of this machine, with TensorFlow's errors."""

from __future__ import annotations

import builtins
import os
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, TypeVar

from .. import errors
from ..framework.lifetimes import at_death
from ..framework.namespaces import lookup

__getattr__ = lookup(__name__)

__all__ = [
    "GFile", "copy", "exists", "get_registered_schemes", "glob", "isdir", "join", "listdir",
    "makedirs", "mkdir", "remove", "rename", "rmtree", "stat", "walk",
]  # fmt: skip

_FOLDER = 0o755  # the rights of a folder, of which the umask takes away
_Function = TypeVar("_Function", bound=Callable[..., Any])
_KINDS: tuple[tuple[type[OSError], Any], ...] = (
    (FileNotFoundError, errors.NotFoundError),
    (FileExistsError, errors.AlreadyExistsError),
    (PermissionError, errors.PermissionDeniedError),
    (IsADirectoryError, errors.FailedPreconditionError),
    (NotADirectoryError, errors.FailedPreconditionError),
    (OSError, errors.UnknownError),
)


def path_of(path: Any) -> str:
    """A path as text; only those of this machine are known."""
    if hasattr(path, "numpy"):
        path = path.numpy()
    found = os.fsdecode(path)
    scheme, separator, rest = found.partition("://")
    if separator and scheme.isalnum():
        if scheme == "file":
            return rest
        raise errors.UnimplementedError(
            None, None, f"File system scheme '{scheme}' not implemented (file: '{found}')"
        )
    return found


def told(function: _Function) -> _Function:
    """A function whose system errors become TensorFlow's."""

    @wraps(function)
    def telling(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except OSError as cause:
            kind = next(kind for system, kind in _KINDS if isinstance(cause, system))
            raise kind(None, None, f"{cause.filename}; {cause.strerror}") from None

    return telling  # type: ignore[return-value]


def exists(path: Any) -> bool:
    """Whether there is a file or a folder."""
    return os.path.exists(path_of(path))


def isdir(path: Any) -> bool:
    """Whether it is a folder."""
    return os.path.isdir(path_of(path))


@told
def listdir(path: Any) -> list[str]:
    """The names in a folder."""
    found = path_of(path)
    if not os.path.isdir(found):
        raise errors.NotFoundError(None, None, f"Could not find directory {found}")
    return os.listdir(found)


def glob(pattern: Any) -> list[str]:
    """The files that match a pattern, or any of several."""
    import glob as python

    patterns = [pattern] if isinstance(pattern, (str, bytes, os.PathLike)) else pattern
    for one in patterns:
        if not isinstance(one, (str, bytes, os.PathLike)):
            raise TypeError(f"Expected binary or unicode string, got {one!r}")
    return sorted(found for one in patterns for found in python.glob(path_of(one)))


@told
def makedirs(path: Any) -> None:
    """Make a folder, and those that it is in; it may be there."""
    make_folders(path_of(path))


def make_folders(path: str) -> None:
    """Make a folder, and those that it is in. Only their owner may write there, whatever the umask
    says of others, as in TensorFlow."""
    if os.path.isdir(path):
        return
    above = os.path.dirname(os.path.abspath(path))
    if not os.path.exists(above):
        make_folders(above)
    try:
        os.mkdir(path, _FOLDER)
    except FileExistsError:
        if not os.path.isdir(path):  # another process may have made it
            raise


@told
def mkdir(path: Any) -> None:
    """Make a folder in one that is there; it may be there, too."""
    found = path_of(path)
    if not os.path.isdir(found):
        os.mkdir(found, _FOLDER)


def join(path: Any, *paths: Any) -> str:
    """Parts of a path as one."""
    return os.path.join(path, *paths)


@told
def copy(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Copy a file."""
    import shutil

    source, target = path_of(src), path_of(dst)
    _check_free(target, overwrite)
    if os.path.exists(target):
        shutil.copyfile(source, target)
        return
    with builtins.open(source, "rb") as read:
        # A new file has the rights of the source, as far as the umask allows.
        rights = os.fstat(read.fileno()).st_mode & 0o777
        written = os.open(target, os.O_WRONLY | os.O_CREAT | getattr(os, "O_BINARY", 0), rights)
        with builtins.open(written, "wb") as file:
            shutil.copyfileobj(read, file)


@told
def rename(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Rename a file or a folder, or move it."""
    source, target = path_of(src), path_of(dst)
    _check_free(target, overwrite)
    os.replace(source, target)


def _check_free(path: str, overwrite: bool) -> None:
    if not overwrite and os.path.exists(path):
        raise errors.AlreadyExistsError(None, None, "file already exists")


@told
def remove(path: Any) -> None:
    """Delete a file."""
    os.remove(path_of(path))


@told
def rmtree(path: Any) -> None:
    """Delete a folder and all that is in it."""
    import shutil

    shutil.rmtree(path_of(path))


class FileStatistics:
    """How long a file is, when it was changed, whether it is a folder."""

    def __init__(self, length: int, mtime_nsec: int, is_directory: bool) -> None:
        self.length, self.mtime_nsec, self.is_directory = length, mtime_nsec, is_directory


@told
def stat(path: Any) -> FileStatistics:
    """How long a file is, when it was changed, whether it is a folder."""
    found = path_of(path)
    told = os.stat(found)
    return FileStatistics(told.st_size, told.st_mtime_ns, os.path.isdir(found))


def walk(top: Any, topdown: bool = True, onerror: Any = None) -> Iterator[tuple[str, list, list]]:
    """Folder, names of folders in it, names of files in it; for all folders below one."""
    yield from os.walk(path_of(top), topdown, onerror)


def get_registered_schemes() -> list[str]:
    """What a path may begin with, before `://`."""
    return ["", "file"]


class GFile:
    """A file, opened when it is first used.

    >>> import tempfile
    >>> import gradtape as tf
    >>> path = tempfile.mkdtemp() + "/text"
    >>> with tf.io.gfile.GFile(path, "w") as file:
    ...     file.write("two lines\\nof text")
    >>> tf.io.gfile.GFile(path).readlines()
    ['two lines\\n', 'of text']
    """

    def __init__(self, name: Any, mode: str = "r") -> None:
        self._name, self._mode = name, mode
        self._reads, self._writes = mode[0] == "r" or "+" in mode, mode[0] != "r" or "+" in mode
        self._file: Any = None
        if mode not in ("r", "w", "a", "rb", "wb", "ab", "r+", "w+", "a+", "rb+", "wb+", "ab+"):
            raise errors.invalid(f"mode is not 'r' or 'w' or 'a': {mode}")

    @property
    def name(self) -> Any:
        """The path that it was given."""
        return self._name

    @property
    def mode(self) -> str:
        """What it is opened for."""
        return self._mode

    @told
    def _opened(self) -> Any:
        if self._file is None:
            binary = "b" if "b" in self._mode else ""
            plain = self._mode.replace("b", "") + binary
            options = {} if binary else {"encoding": "utf-8", "newline": "\n"}
            self._file = builtins.open(path_of(self._name), plain, **options)  # type: ignore  # noqa: SIM115
            self._death = at_death(self, [self._file.close])
        return self._file

    def _reading(self) -> Any:
        if not self._reads:
            raise errors.PermissionDeniedError(None, None, "File isn't open for reading")
        return self._opened()

    def read(self, n: int = -1) -> Any:
        """What is left, or so many letters or bytes of it."""
        return self._reading().read(n)

    def readline(self) -> Any:
        """The next line, with its end; nothing at the end of the file."""
        return self._reading().readline()

    def readlines(self) -> list:
        """All lines that are left."""
        return self._reading().readlines()

    def write(self, file_content: Any) -> None:
        """Write text or bytes."""
        if not self._writes:
            raise errors.PermissionDeniedError(None, None, "File isn't open for writing")
        file = self._opened()
        if "b" in self._mode:
            file.write(file_content.encode() if isinstance(file_content, str) else file_content)
        else:
            file.write(file_content if isinstance(file_content, str) else os.fsdecode(file_content))

    def seek(self, offset: Any = None, whence: int = 0, position: Any = None) -> None:
        """Go to a place: from the start (0), from here (1) or from the end (2)."""
        if offset is None and position is None:
            raise TypeError("seek(): offset argument required")
        self._reading().seek(position if offset is None else offset, whence)

    def seekable(self) -> bool:
        """Yes."""
        return True

    def tell(self) -> int:
        """The place it is at."""
        return self._opened().tell()

    def size(self) -> int:
        """How many bytes it has."""
        return stat(self._name).length

    def flush(self) -> None:
        """Write what waits."""
        if self._file is not None:
            self._file.flush()

    def close(self) -> None:
        """Write what waits, and end; a file to be written is there then."""
        if self._file is None and self._mode[0] != "r":
            self._opened()
        if self._file is not None:
            self._file.close()
            self._file = None
            self._mode = self._mode.replace("w", "a")  # it may be used again, and goes on

    def __enter__(self) -> GFile:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    def __iter__(self) -> GFile:
        return self

    def __next__(self) -> Any:
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    next = __next__
