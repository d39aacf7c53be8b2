"""Which frames are the user's: those of TensorFlow, Keras and other libraries are not."""

from __future__ import annotations

from types import CodeType, FrameType
from typing import Any

LIBRARIES = frozenset({
    "tensorflow", "keras", "tf_keras", "tensorflow_probability", "numpy", "scipy", "gradtape",
    "contextlib", "functools", "runpy", "importlib", "threading", "optree", "tree", "wrapt", "absl",
    "concurrent", "IPython", "ipykernel", "pytest", "_pytest", "pluggy",
})  # fmt: skip
REWRITES = "tensorflow.python.autograph"  # calls the user's functions, and others for them
METRICS = "keras.src.metrics"
# By code, because that is quick: 0 for the user's, 1 for a library's, 2 for a metric of Keras.
_KNOWN: dict[CodeType, int] = {}

Frames = tuple[tuple[CodeType, int], ...]


def foreign(frame: FrameType) -> int:
    """Does a frame belong to a library, and (2) to a metric?"""
    known = _KNOWN.get(frame.f_code)
    if known is None:
        name = frame.f_globals.get("__name__") or ""
        known = 2 if name.startswith(METRICS) else int(name.partition(".")[0] in LIBRARIES)
        _KNOWN[frame.f_code] = known
    return known


def user(frame: FrameType) -> FrameType:
    """The user's innermost frame; the outermost of all when none is the user's."""
    while foreign(frame) and (back := frame.f_back):
        frame = back
    return frame


def stack(frame: FrameType | None, limit: int = 12) -> Frames:
    """The user's frames, innermost first."""
    found: list[tuple[CodeType, int]] = []
    while frame is not None and len(found) < limit:
        if not foreign(frame):
            found.append((frame.f_code, frame.f_lasti))
        frame = frame.f_back
    return tuple(found)


def local(frame: FrameType | None, code: CodeType, name: str) -> Any:
    """A variable of the innermost call of a function of a library's, None when it does not run."""
    while frame is not None and foreign(frame):
        if frame.f_code is code:
            return frame.f_locals.get(name)
        frame = frame.f_back
    return None


def inside(frame: FrameType) -> bool:
    """Is it a library itself that asks, for its own purposes?"""
    name = frame.f_globals.get("__name__") or ""
    return name.partition(".")[0] in ("tensorflow", "keras", "gradtape")


def of_tensorflow(frame: FrameType) -> bool:
    """Is it TensorFlow, and not the user by way of its rewriting of functions?"""
    name = frame.f_globals.get("__name__") or ""
    return name.startswith("tensorflow.") and not name.startswith(REWRITES)
