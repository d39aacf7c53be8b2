"""The source of the user's code, when it is known to be what runs; otherwise there is none.

A script may delete or rewrite itself while it runs, a module may be edited meanwhile, and what
`exec` was given may carry the name of something else. Text that is not what was compiled would make
every word about a line a lie, so it is compiled once more and compared.
"""

from __future__ import annotations

import linecache
import os
import re
import tokenize
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import lru_cache
from types import CodeType
from typing import Any

from .cells import called

READS = "<gradtape reads it>"
QUIET = ("ignore", None, Warning, re.compile(re.escape(READS)), 0)
_folder: ContextVar[str | None] = ContextVar("folder", default=None)  # see `named_from`
_kept: dict[str, list[str]] = {}  # texts as they were when they were first needed
_files: dict[int, str] = {}  # of codes, by their ids
_held: list[CodeType] = []  # so that no id comes twice


def keep(file: str, text: str | None = None) -> None:
    """Remember the text of a file as it is now: it is about to run."""
    if text is not None:
        _kept[file] = text.splitlines(keepends=True)
    else:
        lines(file)


def lines(file: str) -> list[str]:
    """The lines of a file; none when there is no source."""
    known = _kept.get(file)
    if known is None:
        known = _read(file)
        if not file.startswith("<"):  # cells and the like come and go
            _kept[file] = known
    return known


def line(file: str, number: int) -> str:
    """One line, from 1 on."""
    known = lines(file)
    return known[number - 1] if 1 <= number <= len(known) else ""


def file_of(code: CodeType) -> str:
    """The name of a code's file, and another where the text of that name is not its source."""
    known = _files.get(id(code))
    if known is None:
        file = code.co_filename
        known = file if _fits(code, file) else _without(file)
        _files[id(code)] = known
        _held.append(code)
    return known


@contextmanager
def named_from(folder: str) -> Iterator[None]:
    """Files are named from where the command was given, wherever the program went."""
    before = _folder.set(folder)
    try:
        yield
    finally:
        _folder.reset(before)


def folder() -> str:
    """The folder from which files are named."""
    return _folder.get() or os.getcwd()


def shown(file: str) -> str:
    """A file as the reader knows it: from the current directory, else by its name alone; a cell of
    a notebook by its number."""
    cell = called(file)
    if cell is not None or not os.path.isabs(file):
        return cell or file
    return _below(file) or os.path.basename(file)


def reached(file: str) -> str:
    """A file as the reader can open it: from the current directory, else by its whole path."""
    return _below(file) or file


def _below(file: str) -> str | None:
    """The way to a file from the current directory, if it is in there."""
    try:
        shorter = os.path.relpath(file, _folder.get())
    except (OSError, ValueError):  # the directory is gone; another drive
        return None
    return None if shorter.startswith(os.pardir) else shorter


def _read(file: str) -> list[str]:
    if file in linecache.cache or not os.path.isfile(file):
        return linecache.getlines(file)
    try:
        with tokenize.open(file) as opened:
            return opened.readlines()
    except (OSError, SyntaxError, UnicodeDecodeError):
        return []


def _without(file: str) -> str:
    return f"{file[:-1]}, no source>" if file.startswith("<") else f"{file} (changed since)"


# --- is it what runs? -----------------------------------------------------------------------------
def _fits(code: CodeType, file: str) -> bool:
    text = "".join(lines(file))
    if not text:
        return True  # nothing that could be wrong
    codes = _codes(file, text)
    if codes is None:  # a cell may be written in more than Python
        return not os.path.isfile(file)
    name = code.co_name
    near = [c for c in codes if c.co_name == name and c.co_firstlineno == code.co_firstlineno]
    near = near or [c for c in codes if name == c.co_name == "<module>"]
    return any(_alike(c, code) for c in near)


def _alike(written: CodeType, running: CodeType) -> bool:
    """Does one hold the other? pytest adds to what it runs, and a notebook runs it in parts."""
    a, b = _words(written), _words(running)
    return a <= b or b <= a


def _words(code: CodeType) -> frozenset[str]:
    plain = [repr(c) for c in code.co_consts if not isinstance(c, (CodeType, tuple, frozenset))]
    return frozenset([*code.co_names, *code.co_varnames, *plain]) - {"None"}


@lru_cache(maxsize=64)
def _codes(file: str, text: str) -> list[CodeType] | None:
    found = read(text)
    return None if found is None else list(_inner(found))


def read(text: str | bytes, flags: int = 0) -> Any:
    """The code of a text, or with `ast.PyCF_ONLY_AST` its syntax tree; None when it has none.

    Python has warned of it already. The filter is for us alone: `warnings.catch_warnings` would
    make Python forget which warnings the program has shown.
    """
    warnings.filters.insert(0, QUIET)  # type: ignore[attr-defined]
    try:
        return compile(text, READS, "exec", flags, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError):
        return None
    finally:
        with suppress(ValueError):
            warnings.filters.remove(QUIET)  # type: ignore[attr-defined]


def _inner(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _inner(constant)
