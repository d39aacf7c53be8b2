"""Files that are rewritten while somebody may read them, or the process be killed."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat


def replaceable(path: str) -> bool:
    """Can the file be exchanged for another: is it an ordinary one, or not there yet?"""
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except FileNotFoundError:
        return True
    except OSError:
        return False


def read_only(path: str) -> bool:
    """Is it a file that nobody is meant to write? The superuser could, and must not."""
    try:
        return not os.access(path, os.W_OK) or not os.stat(path).st_mode & 0o222
    except OSError:
        return False


def replace(path: str, data: bytes) -> None:
    """Write a file so that whoever reads it finds the old content or the new one, whole.

    One that has several names, or another owner, is written where it is instead: another file in
    its place would have one name, and be ours.
    """
    path = os.path.realpath(path)  # a link goes on pointing to it
    folder, name = os.path.split(path)
    beside = os.path.join(folder, f".{name}.{os.getpid()}")
    mode = found = None
    with contextlib.suppress(OSError):
        found = os.stat(path)
        mode = stat.S_IMODE(found.st_mode)
    if found is not None and (found.st_nlink > 1 or not _ours(found)):
        _write_over(path, beside, data)
        return
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    try:
        with open(descriptor, "wb") as file:
            if mode is not None and hasattr(os, "fchmod"):
                os.fchmod(descriptor, mode)
            file.write(data)
            file.flush()
            os.fsync(descriptor)  # a power cut after the exchange would leave an empty file
        os.replace(beside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        raise


def _ours(found: os.stat_result) -> bool:
    return not hasattr(os, "geteuid") or found.st_uid == os.geteuid()


def _write_over(path: str, beside: str, data: bytes) -> None:
    """Write into the file itself; meanwhile the old content stands beside it."""
    with open(path, "r+b") as file:
        shutil.copyfile(path, beside)
        file.write(data)
        file.truncate()
        file.flush()
        os.fsync(file.fileno())
    os.unlink(beside)
