"""Cells of a notebook: the names under which they are compiled, and what people call them."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# IPython's own names; those of a kernel are of files in the folder for temporary ones.
_COMPILED = re.compile(
    r"<ipython-input-(?P<number>\d+)-.*>|.*[\\/](ipykernel_\d+|xpython_\d+)[\\/]-?\w+\.py"
    r"|.*[\\/]ipython-input-.*\.py"
)


def called(file: str) -> str | None:
    """What people call the cell that was compiled under this name: `In [3]`.

    None where it is the name of anything else. A cell that was run again without a change has the
    number of its last run, as the notebook shows it.
    """
    number = _numbers().get(file)
    if number is not None:
        return f"In [{number}]"
    match = _COMPILED.fullmatch(file)
    return None if match is None else f"In [{match['number'] or ' '}]"


def shell() -> Any:
    """IPython's shell in this process, if there is one: nothing is imported to find out."""
    known = sys.modules.get("IPython.core.interactiveshell")
    shells = getattr(known, "InteractiveShell", None)
    return shells.instance() if shells is not None and shells.initialized() else None


def in_notebook() -> bool:
    """Does a kernel run this, whose output is shown as pages are, and not a terminal?"""
    return getattr(shell(), "kernel", None) is not None


@contextmanager
def as_one_cell() -> Iterator[None]:
    """What a magic of a cell runs has that cell's number: IPython counts it as the one after."""
    hook, known = getattr(shell(), "displayhook", None), dict(_numbers())
    try:
        yield
    finally:
        number = getattr(hook, "prompt_count", None)
        ran = {name for name, n in _numbers().items() if known.get(name) != n}
        if number is not None:
            _numbers().update(dict.fromkeys(ran, number))


def _numbers() -> dict[str, int]:
    """The numbers of the cells that ran, by the names under which they were compiled."""
    compiler = getattr(shell(), "compile", None)
    return getattr(compiler, "_filename_map", None) or {}
