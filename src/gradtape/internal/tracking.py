"""`tf.__internal__.tracking`: objects whose parts a checkpoint saves, each by a name."""

from __future__ import annotations

from ..framework.namespaces import lookup
from ..framework.tracking import AutoTrackable, Trackable, no_automatic_dependency_tracking

__getattr__ = lookup(__name__)

__all__ = ["AutoTrackable", "Trackable", "no_automatic_dependency_tracking"]
