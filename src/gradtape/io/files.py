"""Whole files as strings, and what depends on more of a string than its shape."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import errors
from ..core.apply import tensor
from ..core.record import threads
from ..framework.arguments import as_input
from . import gfile


def performed(
    name: str,
    function: Callable[..., Any],
    *values: Any,
    like: Callable[[int], Any] | None = None,
    exact: bool = False,
) -> Any:
    """The tensor of the array that a function makes of arrays: in a `tf.function`, at every call,
    also if the shape of the array is another one then. `like` makes one of the kind, with a size
    where its own is open; `exact`: it has the rank of all that come."""
    if threads.recording is None:
        return tensor(function(*values))
    kind: Any = None
    if like is not None:
        kind = lambda size: [like(size)]
        kind.exact = exact
    (made,) = threads.recording.effect(
        name, lambda *given: [function(*given)], values, True, like=kind
    )
    return tensor(made)


def string(value: Any, label: str) -> Any:
    """The array of an argument that is one string."""
    found = as_input(value, object, label)._value
    if found.ndim:
        raise errors.invalid(
            f"{label} takes one string, and not a tensor of the shape {list(found.shape)} "
            f"[Op:{label}]"
        )
    return found


def bytes_of(value: Any) -> bytes:
    """The one string of an array."""
    found = value.item() if hasattr(value, "item") else value
    return found.encode() if isinstance(found, str) else bytes(found)


def text(data: bytes) -> Any:
    """A string as the array of a tensor without axes."""
    found = np.empty((), object)
    found[()] = data
    return found


def read_file(filename: Any, name: str | None = None) -> Any:
    """The content of a file, as a string.

    >>> import tempfile
    >>> import gradtape as tf
    >>> path = tempfile.mkdtemp() + "/file"
    >>> tf.io.write_file(path, "content")
    >>> tf.io.read_file(path).numpy()
    b'content'
    """

    @gfile.told
    def read(path: Any) -> Any:
        with open(gfile.path_of(bytes_of(path)), "rb") as file:
            return text(file.read())

    given = string(filename, "ReadFile")
    return performed("read_file", read, given, like=lambda size: text(b"0,0 0\n0 " * (size - 2)))


def write_file(filename: Any, contents: Any, name: str | None = None) -> None:
    """Write a string to a file, and make its folder if there is none."""

    @gfile.told
    def write(path: Any, contents: Any) -> None:
        place = gfile.path_of(bytes_of(path))
        if folder := os.path.dirname(place):
            gfile.make_folders(folder)
        with open(place, "wb") as file:
            file.write(bytes_of(contents))

    values = [string(filename, "WriteFile"), string(contents, "WriteFile")]
    if threads.recording is None:
        write(*values)
    else:
        threads.recording.effect("write_file", write, values, arrays=False)


def matching_files(pattern: Any, name: str | None = None) -> Any:
    """The files that match a pattern, or any of several, sorted."""

    def match(patterns: Any) -> Any:
        flat = np.asarray(patterns, object).ravel()
        found = [os.fsencode(path) for path in gfile.glob([bytes_of(one) for one in flat])]
        array = np.empty(len(found), object)
        array[:] = found
        return array

    return performed("matching_files", match, as_input(pattern, object, "MatchingFiles")._value)
