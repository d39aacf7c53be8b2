"""Object code on disk, so that a program that ran before starts without compiling.

A file is found by a digest of everything that its code depends on: the program's structure, the
processor, the versions, and our own source. It is written whole or not at all, belongs to the user
alone, and is checked against its own digest before a byte of it is used. What cannot be read or
written is compiled as if there were no shelf. `GRADTAPE_CACHE=0` turns it off; a path is taken for
the folder.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

import llvmlite

from ...version import __version__
from .machine import host

MOST = 256 << 20  # bytes in all; the files that were not used for longest go first
MARK = b"gradtape object 1\n"
DIGEST = hashlib.sha256


@cache
def _folder() -> Path | None:
    told = os.environ.get("GRADTAPE_CACHE", "")
    if told == "0":
        return None
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = Path(told) if told else Path(home, "gradtape", "native")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder if _own(os.stat(folder)) else None
    except OSError:
        return None


def _own(found: os.stat_result) -> bool:
    """Can nobody else have written it?"""
    if not hasattr(os, "getuid"):
        return True
    return found.st_uid == os.getuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


@cache
def _maker() -> bytes:
    """What makes code: the processor, the versions, and the text of this folder."""
    machine = host()
    told = (__version__, llvmlite.__version__, machine.triple, machine.cpu, machine.features)
    digest = DIGEST(repr(told).encode())
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.read_bytes())
    return digest.digest()


def name_of(structure: str) -> str:
    """The name of the code of a structure."""
    return DIGEST(_maker() + structure.encode()).hexdigest()


def find(name: str) -> bytes | None:
    """The code of this name, if it is there and whole."""
    folder = _folder()
    if folder is None:
        return None
    path = folder / f"{name}.o"
    try:
        with open(path, "rb") as file:
            if not _own(os.fstat(file.fileno())):
                return None
            data = file.read()
    except OSError:
        return None
    head = len(MARK) + DIGEST().digest_size
    code = data[head:]
    if not data.startswith(MARK) or data[len(MARK) : head] != DIGEST(name.encode() + code).digest():
        return None
    with suppress(OSError):
        os.utime(path)
    return code


def put(name: str, code: bytes) -> None:
    """Keep code under a name."""
    folder = _folder()
    if folder is None:
        return
    with suppress(OSError):
        handle, path = tempfile.mkstemp(dir=folder)  # which nobody else may read or write
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(MARK + DIGEST(name.encode() + code).digest() + code)
            os.replace(path, folder / f"{name}.o")
        except BaseException:
            os.unlink(path)
            raise
        _tidy(folder)


def _tidy(folder: Path) -> None:
    """Keep the whole below its bound."""
    with os.scandir(folder) as entries:
        files = [(e.stat().st_mtime, e.stat().st_size, e.path) for e in entries if e.is_file()]
    total = sum(size for _, size, _ in files)
    for _, size, path in sorted(files):
        if total <= MOST:
            return
        os.unlink(path)
        total -= size
