"""`tf.__internal__.tf2`: whether TensorFlow 2's behaviour is on."""

__all__ = ["enabled"]


def enabled() -> bool:
    """Always."""
    return True
