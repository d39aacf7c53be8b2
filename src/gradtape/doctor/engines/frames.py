"""Which frames are the user's: those of TensorFlow, Keras and other libraries are not."""

from __future__ import annotations

from types import CodeType, FrameType
from typing import Any

from ..source.users import is_users

REWRITES = "tensorflow.python.autograph"  # calls the user's functions, and others for them
METRICS = "keras.src.metrics"
TRAINERS = "keras.src.backend.tensorflow.trainer"
METRIC = 2
# By the id of the code, which is quick (0.1 us; the code itself takes up to 1.3, all of it is
# hashed): 0 for the user's, 1 for a library's, 2 for a metric of Keras.
_KNOWN: dict[int, int] = {}
_HELD: list[CodeType] = []  # so that no id comes twice

Frames = tuple[tuple[CodeType, int], ...]


def foreign(frame: FrameType) -> int:
    """Does a frame belong to a library, and to a metric of Keras's (`METRIC`)?"""
    known = _KNOWN.get(id(frame.f_code))
    if known is None:
        name = frame.f_globals.get("__name__") or ""
        known = METRIC if name.startswith(METRICS) else int(not is_users(name))
        _KNOWN[id(frame.f_code)] = known
        _HELD.append(frame.f_code)
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
        known = _KNOWN.get(id(frame.f_code))
        if not (foreign(frame) if known is None else known):
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


def inside(frame: FrameType, *libraries: str) -> bool:
    """Is it a library itself that asks, for its own purposes?"""
    name = frame.f_globals.get("__name__") or ""
    return name.partition(".")[0] in (libraries or ("tensorflow", "keras", "gradtape"))


def of_tensorflow(frame: FrameType) -> bool:
    """Is it TensorFlow, and not the user by way of its rewriting of functions?"""
    name = frame.f_globals.get("__name__") or ""
    return name.startswith("tensorflow.") and not name.startswith(REWRITES)


def locate(frame: FrameType, call: CodeType | None) -> tuple[FrameType, FrameType, Any, bool]:
    """The user's innermost frame, the one that it called, the layer in between (the innermost of
    the library's, which calls layers by this code), and whether a metric was updated."""
    layer, measures, door = None, False, frame
    while True:  # nine frames an op: the calls of `foreign` would be a tenth of all
        known = _KNOWN.get(id(frame.f_code))
        if known is None:
            known = foreign(frame)
        if not known or (back := frame.f_back) is None:
            break
        measures = measures or known > 1
        if layer is None and frame.f_code is call:
            layer = frame.f_locals.get("self")
        door, frame = frame, back
    return frame, door, layer, measures


def arguments(door: FrameType) -> frozenset[int]:
    """The ids of what the user gave to the library's function that was called."""
    found: list[Any] = []
    for thing in door.f_locals.values():
        found.append(thing)
        if isinstance(thing, (list, tuple)):
            found += thing
        elif isinstance(thing, dict):
            found += thing.values()
    return frozenset(map(id, found))


def around(frame: FrameType, limit: int = 5) -> list[tuple[CodeType, int]]:
    """The user's frames around one, nearest first."""
    return list(stack(frame.f_back, limit))
