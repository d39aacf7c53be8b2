"""Whose code it is: the user's own, or that of a library."""

from __future__ import annotations

import os
import sys
import sysconfig
from functools import cache

LIBRARIES = frozenset({
    "gradtape", "tensorflow", "keras", "tf_keras", "tensorflow_probability", "numpy", "scipy",
    "contextlib", "functools", "runpy", "importlib", "threading", "optree", "tree", "wrapt", "absl",
    "concurrent", "asyncio", "IPython", "ipykernel", "pytest", "_pytest", "pluggy",
})  # fmt: skip


@cache
def is_users(module: str | None) -> bool:
    """Is a module of this name the user's own?"""
    return (module or "").partition(".")[0] not in LIBRARIES


INSTALLED = ("site-packages", "dist-packages")
_OWN = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


@cache
def in_library(file: str) -> bool:
    """Is a file part of Python, of gradtape or of an installed package, and so not of the program?

    A program that is itself installed, and run with `-m`, is still the user's.
    """
    if not os.path.isabs(file):
        return False  # of a cell, of a string
    real = os.path.realpath(file)
    package = _package(real)
    if package is not None:
        main = getattr(sys.modules.get("__main__"), "__file__", None)
        return main is None or _package(os.path.realpath(main)) != package
    paths = (_OWN, *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib")))
    return any(real.startswith(os.path.realpath(path) + os.sep) for path in paths)


def _package(path: str) -> str | None:
    """Where the installed package begins that a file belongs to."""
    parts = path.split(os.sep)
    for k, part in enumerate(parts[:-1]):
        if part in INSTALLED:
            return os.sep.join(parts[: k + 2])
    return None
