"""Hears NumPy take the memory of a tensor, which it does without asking any Python code.

NumPy prefers the buffer protocol, which a tensor of TensorFlow offers, to `__array__`, so that
`np.exp(x)` takes the numbers of `x` and nobody is called. While we listen, the type's table of
buffer functions is another one: what gives the buffer is TensorFlow's own function, and then we are
told. The memory, its flags and its owner are the same as without us.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

# Where CPython keeps a type's name and its buffer functions, in machine words from its start.
NAME, BUFFER = 3, 20
_WORD = ctypes.sizeof(ctypes.c_void_p)
_Give = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p, ctypes.c_int)
_kept: list[Any] = []  # a table that another thread may just be reading


class _Table(ctypes.Structure):
    """A type's buffer functions."""

    _fields_ = (("give", ctypes.c_void_p), ("release", ctypes.c_void_p))


def listen(kind: type, exported: Callable[[Any], None]) -> Callable[[], Any] | None:
    """Tell of everything of this type whose memory is taken; gives back what undoes it, None when
    it cannot be done."""
    if not _as_expected():
        return None
    place = _slot(kind)
    old = place.value
    if old is None:
        return None
    table = _Table.from_address(old)
    original = _Give(table.give or 0)

    def give(thing: Any, view: int, flags: int) -> int:
        try:
            found = original(thing, view, flags)
        except BaseException:  # it has no memory to give; NumPy then asks for `__array__`
            return -1
        with suppress(Exception):  # whatever happens to us, the memory is there
            exported(thing)
        return found

    own = _Table(ctypes.cast(heard := _Give(give), ctypes.c_void_p), table.release)
    _kept.append((own, heard))
    place.value = ctypes.addressof(own)

    def restore() -> None:
        if place.value == ctypes.addressof(own):
            place.value = old

    return restore


def _slot(kind: type) -> ctypes.c_void_p:
    return ctypes.c_void_p.from_address(id(kind) + BUFFER * _WORD)


def _as_expected() -> bool:
    """Is the layout of types the one that is known?"""
    if sys.implementation.name != "cpython" or not getattr(sys, "_is_gil_enabled", lambda: True)():
        return False
    for kind, offers in ((bytes, True), (bytearray, True), (int, False), (dict, False)):
        name = ctypes.c_char_p.from_address(id(kind) + NAME * _WORD).value
        if name != kind.__name__.encode() or (_slot(kind).value is not None) != offers:
            return False
    return True
