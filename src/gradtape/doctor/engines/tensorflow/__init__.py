"""The adapter for the real TensorFlow: `Engine` listens to it; nothing of it is imported here."""

from .engine import Engine

__all__ = ["Engine"]
