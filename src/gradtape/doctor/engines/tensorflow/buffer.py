"""Makes NumPy ask a tensor for `__array__`, where it would take its memory without asking.

NumPy prefers the buffer protocol, which a tensor of TensorFlow offers, to `__array__`, so that
`np.exp(x)` takes the numbers of `x` and no Python code hears of it. While the protocol is hidden,
`__array__` is called instead and can be listened to.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from typing import Any

# Where CPython keeps a type's name and its buffer functions, in machine words from its start.
NAME, BUFFER = 3, 20
_WORD = ctypes.sizeof(ctypes.c_void_p)


def hide(kind: type) -> Callable[[], Any] | None:
    """Take the buffer protocol from a type; gives back what undoes it, None when it cannot be."""
    if not _as_expected():
        return None
    place = _slot(kind)
    old = place.value
    if old is None:
        return None
    place.value = None

    def restore() -> None:
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
