"""`tf.__internal__.tracking`: objects whose parts a checkpoint saves, each by a name."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..framework.namespaces import lookup

__getattr__ = lookup(__name__)

__all__ = ["AutoTrackable", "Trackable", "no_automatic_dependency_tracking"]

_CHILDREN = "_self_tracked_children"


class Trackable:
    """An object that a checkpoint can save; it knows its parts by name."""

    def _track_trackable(self, trackable: Any, name: str, overwrite: bool = False) -> Any:
        """Take an object as a part."""
        if not isinstance(trackable, Trackable) and not hasattr(trackable, "_read"):
            raise TypeError(
                "Trackable._track_trackable() can only be used to track objects of type "
                f"Trackable. Got type {type(trackable)}."
            )
        children = vars(self).setdefault(_CHILDREN, {})
        if children.get(name, trackable) is not trackable and not overwrite:
            raise ValueError(
                f"Called Trackable._track_trackable() with name='{name}', but a Trackable with "
                "this name is already declared as a dependency. Names must be unique (or "
                "overwrite=True)."
            )
        children[name] = trackable
        return trackable

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        """The parts, by name."""
        return dict(vars(self).get(_CHILDREN, {}))

    def _lookup_dependency(self, name: str, cached_dependencies: Any = None) -> Any:
        return vars(self).get(_CHILDREN, {}).get(name)

    def _maybe_initialize_trackable(self) -> None:
        """There is nothing to prepare."""

    @property
    def _setattr_tracking(self) -> bool:
        return vars(self).get("_self_setattr_tracking", True)

    @_setattr_tracking.setter
    def _setattr_tracking(self, value: bool) -> None:
        vars(self)["_self_setattr_tracking"] = value


class AutoTrackable(Trackable):
    """One whose attributes are its parts."""

    def __setattr__(self, name: str, value: Any) -> None:
        if self._setattr_tracking and (isinstance(value, Trackable) or _is_variable(value)):
            self._track_trackable(value, name, overwrite=True)
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        vars(self).get(_CHILDREN, {}).pop(name, None)
        super().__delattr__(name)


def _is_variable(value: Any) -> bool:
    return hasattr(type(value), "assign_add") and hasattr(value, "_read")


def no_automatic_dependency_tracking(method: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a method that sets attributes which are not to be saved."""

    @functools.wraps(method)
    def untracked(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = getattr(self, "_self_setattr_tracking", True)
        vars(self)["_self_setattr_tracking"] = False
        try:
            return method(self, *args, **kwargs)
        finally:
            vars(self)["_self_setattr_tracking"] = before

    return untracked
