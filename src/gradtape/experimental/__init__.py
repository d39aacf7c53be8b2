"""`tf.experimental`: small parts of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..api.graph import nothing as async_scope
from . import dlpack

if TYPE_CHECKING:
    from .. import numpy

__all__ = ["async_clear_error", "async_scope", "dlpack", "enable_strict_mode", "numpy"]


def __getattr__(name: str) -> Any:
    if name == "numpy":  # found when it is first asked for
        import gradtape

        globals()[name] = found = gradtape.numpy
        return found
    if name.startswith("_"):  # asked for by tools, which nothing should be imported for
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    from ..api.alias import missing

    raise AttributeError(missing(__name__, name), name=name)


def async_clear_error() -> None:
    """Nothing runs behind the program's back, so no error waits there."""


def enable_strict_mode() -> None:
    """Accepted: deprecated names are not here to warn of."""
