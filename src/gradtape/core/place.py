"""Where in the user's code an op was called: (code, offset), for `code.co_positions()` later."""

from __future__ import annotations

from sys import _getframe
from types import FrameType

NAME = __name__.partition(".")[0]


class _Ours(dict[str | None, bool]):
    """Whether a package is part of gradtape, by its name; asked once for each."""

    def __missing__(self, package: str | None) -> bool:
        return self.setdefault(package, f"{package}.".startswith(f"{NAME}."))


ours = _Ours()


def caller(depth: int = 2) -> FrameType:
    """The innermost frame outside gradtape; its `f_code` and `f_lasti` are the place."""
    frame = _getframe(depth)
    # Python's own record of the package is the quickest way to tell: 0.1 us a frame.
    while ours[frame.f_globals.get("__package__")] and (back := frame.f_back):
        frame = back
    return frame
