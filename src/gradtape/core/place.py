"""Where in the user's code an op was called: (code, offset), for `code.co_positions()` later."""

from __future__ import annotations

from sys import _getframe
from typing import Any

NAME = __name__.partition(".")[0]
LIBRARIES = (f"{NAME}.", "keras.")  # between the user and an op
own: set[str | None] = set()  # packages of theirs, as they are met
users: set[str | None] = set()  # and of others


def is_ours(package: str | None) -> bool:
    """Whether a package is part of gradtape or of Keras, by its name."""
    if package not in own and package not in users:
        (own if f"{package}.".startswith(LIBRARIES) else users).add(package)
    return package in own


stand_ins: set[int] = set()  # ids of code that plays ops again, and knows the `spot` of each


def caller(depth: int = 2) -> Any:
    """The innermost frame outside these; its `f_code` and `f_lasti` are the place."""
    frame: Any = _getframe(depth)
    # Python's own record of the package is the quickest way to tell: 0.1 us a frame.
    while ((p := frame.f_globals.get("__package__")) in own or is_ours(p)) and frame.f_back:
        if id(frame.f_code) in stand_ins:
            return frame.f_locals["spot"]
        frame = frame.f_back
    return frame
