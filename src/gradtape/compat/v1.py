"""`tf.compat.v1`: what libraries for TensorFlow 2 still use of TensorFlow 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..framework.namespaces import lookup

if TYPE_CHECKING:
    from ..framework.shapes import Dimension
    from ..internal.graphs import placeholder, sparse_placeholder
    from ..summary.metadata import SummaryMetadata

_HOMES = {
    "..framework.shapes": "Dimension", "..internal.graphs": "placeholder sparse_placeholder",
    "..summary.metadata": "SummaryMetadata",
}  # fmt: skip
__getattr__ = lookup(__name__, _HOMES)

__all__ = [
    "Dimension", "SummaryMetadata", "executing_eagerly_outside_functions", "placeholder",
    "reset_default_graph", "sparse_placeholder",
]  # fmt: skip


def reset_default_graph() -> None:
    """Forget the default graph: there is none."""


def executing_eagerly_outside_functions() -> bool:
    """Always."""
    return True
