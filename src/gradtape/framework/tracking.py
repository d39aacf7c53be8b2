"""Objects that checkpoints follow: what they hold by name, and values that wait for it to come.

What is saved of an object are the tensors of `_serialize_to_tensors`, and what it holds
(`_trackable_children`) follows. Values that a checkpoint has for a name that is not there yet wait
in `_deferred_dependencies`, and are handed out when something of the name arrives.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeVar

from .lifetimes import Beside

_Method = TypeVar("_Method", bound=Callable[..., Any])
# Where an object keeps these: TensorFlow's names, which Keras passes by when it saves a model.
_HELD = "_self_unconditional_dependency_names"
WAITING = "_self_unconditional_deferred_dependencies"
# Restorations that have values for places in lists and dictionaries. These cannot tell when they
# are filled, so that restorations look again whenever an attribute is set anywhere.
LOOKING: Beside[Any, None] = Beside()
_PLAIN = (list, dict, OrderedDict)  # not defaultdict: so says TensorFlow


class Trackable:
    """The base of whatever may be part of a checkpoint."""

    __slots__ = ()

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        """What it holds, by name."""
        return dict(getattr(self, "__dict__", {}).get(_HELD, ()))

    def _serialize_to_tensors(self) -> dict[str, Any]:
        """What it saves of itself, by name."""
        raise NotImplementedError

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> Any:
        """Take back what was saved."""
        raise NotImplementedError

    def _track_trackable(self, trackable: Any, name: str, overwrite: bool = False) -> Any:
        """Hold an object by a name, and give it what waits for it."""
        held = self.__dict__.setdefault(_HELD, {})
        if not overwrite and held.get(name, trackable) is not trackable:
            raise ValueError(
                "Called Trackable._track_trackable() with name="
                f"'{name}', but a Trackable with this name is already declared as a dependency. "
                "Names must be unique (or overwrite=True)."
            )
        held[name] = trackable
        self._handle_deferred_dependencies(name, trackable)
        return trackable

    def _lookup_dependency(self, name: str, cached_dependencies: Any = None) -> Any:
        """What it holds by a name, or None."""
        held = self._trackable_children() if cached_dependencies is None else cached_dependencies
        return held.get(name)

    def _maybe_initialize_trackable(self) -> None:
        """There is nothing to prepare."""

    @property
    def _setattr_tracking(self) -> bool:
        """Whether attributes that are set become part of checkpoints."""
        return self.__dict__.get("_self_setattr_tracking", True)

    @_setattr_tracking.setter
    def _setattr_tracking(self, value: bool) -> None:
        self.__dict__["_self_setattr_tracking"] = value

    @property
    def _deferred_dependencies(self) -> dict[str, Callable[[Any], None]]:
        """By name, what to do with the object that comes."""
        return self.__dict__.setdefault(WAITING, {})

    def _handle_deferred_dependencies(self, name: str, trackable: Any) -> None:
        """Give an object that has come under a name what waits for it."""
        waiting = self.__dict__.get(WAITING)
        if waiting and name in waiting and is_followed(trackable):
            waiting.pop(name)(trackable)


class AutoTrackable(Trackable):
    """An object of which all attributes that can be saved are part of a checkpoint."""

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if not self._setattr_tracking:
            return
        if is_followed(value):
            self._track_trackable(value, name, overwrite=True)
            look_again()
        elif name in self.__dict__.get(_HELD, ()):
            del self.__dict__[_HELD][name]

    def __delattr__(self, name: str) -> None:
        super().__delattr__(name)
        self.__dict__.get(_HELD, {}).pop(name, None)


def look_again() -> None:
    """Something was set: lists and dictionaries may have been filled before it."""
    for restoration in LOOKING if LOOKING else ():
        restoration.settle()


def is_followed(value: Any) -> bool:
    """Whether a checkpoint looks into a value: lists, tuples and dictionaries are looked into."""
    if isinstance(value, Trackable) or callable(getattr(value, "_trackable_children", None)):
        return not isinstance(value, type)
    # Subclasses of lists and dictionaries are somebody's own, such as those of Keras.
    return type(value) in _PLAIN or isinstance(value, tuple)


def children(value: Any) -> dict[str, Any]:
    """What a value holds that a checkpoint looks into, by name."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        value = dict(zip(value._fields, value, strict=True))
    if isinstance(value, (list, tuple)):
        return {str(at): item for at, item in enumerate(value) if is_followed(item)}
    if isinstance(value, Mapping):
        held = {key: item for key, item in value.items() if is_followed(item)}
        if not all(isinstance(key, str) for key in held):
            raise ValueError(
                f"Unable to save the object {value} (a dictionary). The dictionary contains a "
                "non-string key which maps to a trackable object or mutable data structure."
            )
        return held
    return dict(value._trackable_children())


def no_automatic_dependency_tracking(method: _Method) -> _Method:
    """A decorator: attributes that the method sets are not part of checkpoints."""

    @wraps(method)
    def unfollowed(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = getattr(self, "_self_setattr_tracking", True)
        self.__dict__["_self_setattr_tracking"] = False
        try:
            return method(self, *args, **kwargs)
        finally:
            self.__dict__["_self_setattr_tracking"] = before

    return unfollowed  # type: ignore[return-value]
