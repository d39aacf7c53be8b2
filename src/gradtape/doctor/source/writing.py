"""Files that are rewritten while somebody may read them, or the process be killed."""

from __future__ import annotations

import contextlib
import os
import stat


def replaceable(path: str) -> bool:
    """Can the file be exchanged for another: is it an ordinary one, or not there yet?"""
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except FileNotFoundError:
        return True
    except OSError:
        return False


def replace(path: str, data: bytes) -> None:
    """Write a file so that whoever reads it finds the old content or the new one, whole."""
    path = os.path.realpath(path)  # a link goes on pointing to it
    folder, name = os.path.split(path)
    beside = os.path.join(folder, f".{name}.{os.getpid()}")
    mode = None
    with contextlib.suppress(OSError):
        mode = stat.S_IMODE(os.stat(path).st_mode)
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
