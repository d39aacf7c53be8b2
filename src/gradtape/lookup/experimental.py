"""`tf.lookup.experimental`: tables that change."""

from ..framework.namespaces import lookup
from .mutable import DenseHashTable, MutableHashTable

__getattr__ = lookup(__name__)

__all__ = ["DenseHashTable", "MutableHashTable"]
