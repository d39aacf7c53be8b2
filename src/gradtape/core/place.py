"""Where in the user's code an op was called: (code, offset), for `code.co_positions()` later."""

from __future__ import annotations

from sys import _getframe
from typing import Any

NAME = __name__.partition(".")[0]
LIBRARIES = (f"{NAME}.", "keras.", "optree.", "tree.", "numpy.", "scipy.", "concurrent.", "absl.")
skipped, users = set[Any](), set[Any]()  # packages of these, and others, as they are met
stand_ins: set[int] = set()  # ids of code that plays ops again, and knows the `spot` of each


def _skips(package: str | None) -> bool:
    if package not in skipped and package not in users:
        (skipped if f"{package}.".startswith(LIBRARIES) else users).add(package)
    return package in skipped


def is_ours(package: str | None) -> bool:
    """Whether a package is part of gradtape or of Keras, by its name."""
    return _skips(package) and f"{package}.".startswith(LIBRARIES[:2])


def caller(depth: int = 2) -> Any:
    """The innermost frame outside of libraries, by its package: 0.1 us a frame."""
    frame: Any = _getframe(depth)
    while ((p := frame.f_globals.get("__package__")) in skipped or _skips(p)) and frame.f_back:
        if id(frame.f_code) in stand_ins:
            return frame.f_locals["spot"]
        frame = frame.f_back
    return frame
