"""Whose code it is: the user's own, or that of a library."""

from __future__ import annotations

from functools import cache

LIBRARIES = frozenset({
    "gradtape", "tensorflow", "keras", "tf_keras", "tensorflow_probability", "numpy", "scipy",
    "contextlib", "functools", "runpy", "importlib", "threading", "optree", "tree", "wrapt", "absl",
    "concurrent", "IPython", "ipykernel", "pytest", "_pytest", "pluggy",
})  # fmt: skip


@cache
def is_users(module: str | None) -> bool:
    """Is a module of this name the user's own?"""
    return (module or "").partition(".")[0] not in LIBRARIES
