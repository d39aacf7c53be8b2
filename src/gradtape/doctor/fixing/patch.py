"""A plan as a unified diff, which `git apply` and `patch -p1` read."""

from __future__ import annotations

import difflib
import os

from ..source.sources import folder
from .plan import Plan

NO_END = "\\ No newline at end of file\n"


def patch(made: Plan) -> bytes:
    """The diff, with the bytes of the files; paths are those from the current directory."""
    return b"".join(_diff(path, *texts) for path, texts in sorted(made.contents().items()))


def as_text(data: bytes) -> str:
    """The diff as text; what is no UTF-8 in it comes back with `as_bytes`."""
    return data.decode("utf-8", "surrogateescape")


def as_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _diff(path: str, before: bytes, after: bytes) -> bytes:
    # Lines as other tools know them: a carriage return alone ends none.
    old, new = (_ended(as_text(data).split("\n")) for data in (before, after))
    lines = list(difflib.unified_diff(old, new))[2:]
    lines = [line if line.endswith("\n") else f"{line}\n{NO_END}" for line in lines]
    name = _name(path)
    head = [f"--- {_quoted('a/' + name)}\n", f"+++ {_quoted('b/' + name)}\n"]
    return as_bytes("".join([*head, *lines] if lines else []))


def _ended(lines: list[str]) -> list[str]:
    """Lines with their ends; what follows the last one is a line without, or nothing."""
    return [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _name(path: str) -> str:
    try:
        near = os.path.relpath(path, folder())
    except (OSError, ValueError):  # the directory is gone; another drive
        near = path
    return near.replace(os.sep, "/").lstrip("/")


def _quoted(name: str) -> str:
    """As Git writes names: one with a space ends with a tab, one with worse is in quotes."""
    if any(c in '"\\' or c < " " for c in name):
        words = "".join(f"\\{ord(c):03o}" if c in '"\\' or c < " " else c for c in name)
        return f'"{words}"'
    return f"{name}\t" if " " in name else name
