"""Object code on disk, so that a program that ran before starts without compiling.

A file is found by a digest of everything that its code depends on: the program's structure, the
processor, the versions, and our own source. It is written whole or not at all, belongs to the user
alone, and is signed with a secret of the user's that is kept in the home directory: code that came
from elsewhere (an archive, a shared folder) is never run. What cannot be read or written is
compiled as if there were no shelf, and without a home directory there is none. `GRADTAPE_CACHE=0`
turns it off; a path is taken for the folder.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
import stat
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

import llvmlite

from ...version import __version__
from .machine import host

MOST = 256 << 20  # bytes in all; the files that were not used for longest go first
MARK = b"gradtape object 2\n"
SECRET = "secret"  # the name of the file with the user's secret
SECRET_BYTES = 32
OWN = re.compile(r"[0-9a-f]{64}\.o|tmp\w+\.part")  # names of files in the folder that are ours
DIGEST = hashlib.sha256
# Not to wait for a writer, as a pipe does; and of a link, not what it leads to.
READING = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)


# --- folders and the secret -----------------------------------------------------------------------
def _home() -> Path | None:
    """The folder for what is kept for this user, if there is a home directory."""
    told = os.environ.get("XDG_CACHE_HOME", "")
    if told and os.path.isabs(told):
        return Path(told, "gradtape")
    if os.environ.get("HOME") == "":  # which would be taken for the root directory
        return None
    home = os.path.expanduser("~")  # which stays as it is if the user has no home
    return Path(home, ".cache", "gradtape") if os.path.isabs(home) else None


@cache
def _folder() -> Path | None:
    """Where code is kept."""
    told, home = os.environ.get("GRADTAPE_CACHE", ""), _home()
    if told == "0" or home is None:
        return None
    return _safe(Path(told).absolute() if told else home / "native")


@cache
def _secret() -> bytes | None:
    """What this user signs code with: made when it is first asked for."""
    home = _home()
    if home is None or _safe(home) is None:
        return None
    found = _read(home / SECRET, private=True)
    if found is None or len(found) != SECRET_BYTES:
        _write(home / SECRET, secrets.token_bytes(SECRET_BYTES))
        found = _read(home / SECRET, private=True)
    return found if found is not None and len(found) == SECRET_BYTES else None


def _safe(folder: Path) -> Path | None:
    """The folder, made if need be, if nobody else can write to it."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder if _own(os.stat(folder)) else None
    except OSError:
        return None


def _own(found: os.stat_result, private: bool = False) -> bool:
    """Can nobody else have written it, nor (of what is private) have read it?"""
    if not hasattr(os, "getuid"):
        return True
    others = stat.S_IRWXG | stat.S_IRWXO if private else stat.S_IWGRP | stat.S_IWOTH
    return found.st_uid == os.getuid() and not found.st_mode & others


def _read(path: Path, private: bool = False) -> bytes | None:
    """What a file of the user's own holds; nothing if it is anything else."""
    try:
        handle = os.open(path, READING | getattr(os, "O_BINARY", 0))
        with os.fdopen(handle, "rb") as file:
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode) or not _own(found, private) or found.st_size > MOST:
                return None
            return file.read()
    except OSError:
        return None


def _write(path: Path, data: bytes) -> None:
    """Write a file that nobody else may read or write, whole or not at all."""
    with suppress(OSError):
        handle, part = tempfile.mkstemp(".part", "tmp", path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.replace(part, path)
        except BaseException:
            os.unlink(part)
            raise


# --- code -----------------------------------------------------------------------------------------
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


def _signed(secret: bytes, name: str, code: bytes) -> bytes:
    """The signature of code under a name."""
    return hmac.digest(secret, name.encode() + code, "sha256")


def find(name: str) -> bytes | None:
    """The code of this name, if it was put there by this user and is whole."""
    folder, secret = _folder(), _secret()
    if folder is None or secret is None:
        return None
    path = folder / f"{name}.o"
    data = _read(path)
    if data is None or not data.startswith(MARK):
        return None
    head = len(MARK) + DIGEST().digest_size
    code = data[head:]
    if not hmac.compare_digest(data[len(MARK) : head], _signed(secret, name, code)):
        return None
    with suppress(OSError):
        os.utime(path)
    return code


def put(name: str, code: bytes) -> None:
    """Keep code under a name."""
    folder, secret = _folder(), _secret()
    if folder is None or secret is None:
        return
    _write(folder / f"{name}.o", MARK + _signed(secret, name, code) + code)
    with suppress(OSError):
        _tidy(folder)


def _tidy(folder: Path) -> None:
    """Keep all of our files in the folder below their bound."""
    with os.scandir(folder) as entries:
        own = [e for e in entries if OWN.fullmatch(e.name) and e.is_file(follow_symlinks=False)]
        files = [(e.stat().st_mtime, e.stat().st_size, e.path) for e in own]
    total = sum(size for _, size, _ in files)
    for _, size, path in sorted(files):
        if total <= MOST:
            return
        os.unlink(path)
        total -= size
