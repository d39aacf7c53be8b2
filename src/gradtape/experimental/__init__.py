"""`tf.experimental`: small parts of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..api.graph import nothing as async_scope
from ..framework.namespaces import lookup
from . import dlpack

if TYPE_CHECKING:
    from .. import numpy
    from ..data.optional import Optional
    from ..ragged.partition import RowPartition
    from .floats import float8_e4m3fn, float8_e5m2

__all__ = [
    "Optional", "RowPartition", "async_clear_error", "async_scope", "dlpack", "dtensor",
    "enable_strict_mode", "float8_e4m3fn", "float8_e5m2", "numpy",
]  # fmt: skip


__getattr__ = lookup(
    __name__,
    {
        "..": "numpy",
        "..data.optional": "Optional",
        "..ragged.partition": "RowPartition",
        "": "dtensor",
        ".floats": "float8_e4m3fn float8_e5m2",
    },
)


def async_clear_error() -> None:
    """Nothing runs behind the program's back, so no error waits there."""


def enable_strict_mode() -> None:
    """Accepted: deprecated names are not here to warn of."""
