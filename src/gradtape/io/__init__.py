"""`tf.io`: files, records and images as bytes."""

from ..framework.namespaces import namespace

_HOMES = {
    "records": "TFRecordOptions TFRecordWriter",
}
__getattr__, __dir__, __all__ = namespace(__name__, _HOMES)
