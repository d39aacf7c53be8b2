"""`tf.print`, and the text that TensorFlow's kernels make of tensors."""

from __future__ import annotations

import builtins
import logging
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import nest
from ..core.apply import tensor
from ..core.record import Value, threads
from . import convert
from .shapes import TensorShape

_HOLE = "{}"
_ESCAPES = {9: "\\t", 10: "\\n", 13: "\\r", 34: '\\"', 39: "\\'", 92: "\\\\"}


# --- elements -------------------------------------------------------------------------------------
def number_text(value: Any) -> str:
    """A number with as few of 6 or 9 digits (15 or 17 in float64) as give the same number back."""
    kind = value.dtype.kind
    if kind == "b":
        return "1" if value else "0"
    if kind in "iu":
        return str(value)
    if kind == "c":
        return "?"  # TensorFlow's kernel knows no better
    if value.dtype.itemsize == 8:
        plain = float(value)
        short = f"{plain:.15g}"
        return short if float(short) == plain or plain != plain else f"{plain:.17g}"
    single = np.float32(value)
    short = f"{single:.6g}"
    return short if np.float32(short) == single or single != single else f"{single:.9g}"


def _quoted(value: bytes) -> str:
    """A string between quotes, with C's escapes."""
    inside = [
        _ESCAPES.get(byte) or (chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}") for byte in value
    ]
    return f'"{"".join(inside)}"'


def tensor_text(value: Any, summarize: int) -> str:
    """An array as TensorFlow prints it, `summarize` elements from both ends of each axis."""
    value = np.asarray(value)
    element = _quoted if value.dtype.kind == "O" else number_text
    ends = value.size if summarize < 0 else min(summarize, value.size)
    return "".join(_parts(value, element, ends, 0))


def _parts(value: Any, element: Any, ends: int, depth: int) -> Iterator[str]:
    if not value.ndim:
        yield element(value[()] if value.dtype.kind != "O" else value.item())
        return
    space = " " if value.ndim == 1 else "\n" * (value.ndim - 1) + " " * (depth + 1)
    count = len(value)
    yield "["
    for k in range(min(ends, count)):
        if k:
            yield space
        yield from _parts(_at(value, k), element, ends, depth + 1)
    if count > 2 * ends:
        yield space + "..."
    for k in range(max(ends, count - ends), count):
        yield space
        yield from _parts(_at(value, k), element, ends, depth + 1)
    yield "]"


def _at(value: Any, k: int) -> Any:
    return value[k, ...]  # an array also where one element is left


# --- tf.print -------------------------------------------------------------------------------------
def print(*inputs: Any, **kwargs: Any) -> None:
    """Print tensors, strings and nested structures, to the standard error unless told otherwise.

    Options: `output_stream` (sys.stderr, sys.stdout, a level of `logging`, "file://path"), `end`,
    `sep`, `summarize` (elements from each end of each axis: 3; -1 for all), `name`.

    >>> import sys
    >>> import gradtape as tf
    >>> tf.print("loss:", tf.constant([0.25, 1 / 3]), output_stream=sys.stdout)
    loss: [0.25 0.333333343]
    """
    stream = kwargs.pop("output_stream", None)
    end, sep = kwargs.pop("end", "\n"), kwargs.pop("sep", " ")
    summarize = kwargs.pop("summarize", 3)
    kwargs.pop("name", None)
    if kwargs:
        raise ValueError(f"Unrecognized keyword arguments for tf.print: {kwargs}")
    if not isinstance(summarize, int):
        raise TypeError(f"Expected int for argument 'summarize' not {summarize!r}.")
    write = _writer(sys.stderr if stream is None else stream)

    def show(inputs: Any) -> None:
        write(sep.join(_texts(inputs, summarize)), end)

    if threads.recording is None:
        show(inputs)
    else:
        _print_when_played(show, inputs)


def _print_when_played(show: Any, inputs: Any) -> None:
    """At every call of the function that is being recorded."""
    leaves = [
        leaf._read() if hasattr(leaf, "_read") else leaf
        for leaf in nest.flatten(list(inputs), expand_composites=True)
    ]
    tensors = [isinstance(leaf, Value) for leaf in leaves]
    values = [leaf._value for leaf in leaves if isinstance(leaf, Value)]
    others = [None if there else leaf for leaf, there in zip(leaves, tensors, strict=True)]

    def again(*arrays: Any) -> None:
        rest = iter(arrays)
        found = [
            tensor(next(rest)) if there else leaf
            for leaf, there in zip(others, tensors, strict=True)
        ]
        show(nest.pack_sequence_as(list(inputs), found, expand_composites=True))

    threads.recording.effect("print", again, values, arrays=False)


def timestamp(name: str | None = None) -> Any:
    """The seconds since 1970 as a float64 tensor, to time a step with."""
    if threads.recording is not None:
        clock = threads.recording.effect("timestamp", lambda: [np.float64(time.time())], [], True)
        return tensor(clock[0])
    return convert.to_tensor(time.time(), np.dtype(np.float64))


def _texts(inputs: Any, summarize: int) -> list[str]:
    if len(inputs) == 1 and _is_tensor(inputs[0]):
        value = convert.to_tensor(inputs[0])._value
        if value.dtype.kind == "O" and not value.ndim:
            return [_decoded(value.item())]
    return [one if isinstance(one, str) else structure_text(one, summarize) for one in inputs]


def _decoded(text: bytes) -> str:
    return text.decode("utf-8", "surrogateescape")


class _Hole:
    """Stands for a tensor while Python lays out the structure around it."""

    def __repr__(self) -> str:
        return _HOLE


def structure_text(structure: Any, summarize: int) -> str:
    """Python's own text of a structure, with the tensors in it as TensorFlow prints them."""
    if not nest.is_nested(structure):
        return _leaf(structure, summarize)
    from pprint import pformat

    tensors: list[str] = []

    def hole(leaf: Any) -> Any:
        if not _is_tensor(leaf):
            return leaf
        tensors.append(_leaf(leaf, summarize))
        return _Hole()

    parts = pformat(nest.map_structure(hole, structure)).split(_HOLE)
    if len(parts) != len(tensors) + 1:  # braces of the user's own: then place by place, unwrapped
        return repr(nest.map_structure(lambda leaf: _Text(_leaf(leaf, summarize)), structure))
    return "".join(a + b for a, b in zip(parts, [*tensors, ""], strict=True))


class _Text(str):
    """Text whose repr is itself."""

    def __repr__(self) -> str:
        return str(self)


def _leaf(leaf: Any, summarize: int) -> str:
    if _is_tensor(leaf):
        return tensor_text(convert.to_tensor(leaf)._value, summarize)
    from pprint import pformat

    return pformat(leaf)


def _is_tensor(value: Any) -> bool:
    if isinstance(value, TensorShape):  # it can become a tensor, and is printed as what it is
        return False
    return isinstance(value, Value) or hasattr(value, "_read") or hasattr(value, "__tf_tensor__")


_LEVELS = {
    "log(info)": logging.INFO, "log(warning)": logging.WARNING, "log(error)": logging.ERROR,
}  # fmt: skip


def _writer(stream: Any) -> Any:
    if stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        return lambda text, end: builtins.print(text, end=end, file=stream, flush=True)
    level = _LEVELS.get(stream) if isinstance(stream, str) else _level(stream)
    if level is not None:
        return lambda text, end: logging.getLogger("gradtape").log(level, "%s", text)
    if isinstance(stream, str) and stream.startswith("file://"):
        return lambda text, end: _append(stream.removeprefix("file://"), text + end)
    raise ValueError(
        f"Unsupported output stream, logging level, or file.{stream}. Supported streams are "
        "sys.stdout, sys.stderr, tf.logging.info, tf.logging.warning, tf.logging.error. File needs "
        "to be in the form of 'file://<filepath>'."
    )


def _level(stream: Any) -> int | None:
    """The level that a logging function, such as `logging.info`, writes at."""
    name = getattr(stream, "__name__", None)
    if callable(stream) and name in ("info", "warning", "error"):
        return getattr(logging, name.upper())
    return None


def _append(path: str, text: str) -> None:
    with open(path, "ab") as file:
        file.write(text.encode("utf-8", "surrogateescape"))
