"""`tf.__internal__.tf2`: whether TensorFlow 2's behaviour is on."""

from ..framework.namespaces import lookup

__getattr__ = lookup(__name__)

__all__ = ["enabled"]


def enabled() -> bool:
    """Always."""
    return True
