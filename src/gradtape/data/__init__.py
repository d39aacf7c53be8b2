"""`tf.data`: pipelines that make the elements of a training loop: read, map, shuffle, batch."""

from __future__ import annotations

from ..framework.namespaces import namespace

_HOMES = {
    "dataset": "Dataset",
    "files": "FixedLengthRecordDataset TFRecordDataset TextLineDataset",
    "iterators": "Iterator IteratorSpec NumpyIterator",
    "node": "AUTOTUNE INFINITE_CARDINALITY UNKNOWN_CARDINALITY",
    "options": "Options ThreadingOptions",
    "specs": "DatasetSpec",
    "": "experimental",
}
__getattr__, __dir__, __all__ = namespace(__name__, _HOMES)
