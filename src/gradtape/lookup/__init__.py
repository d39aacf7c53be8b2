"""`tf.lookup`: tables from keys to values."""

from ..framework.namespaces import namespace

_HOMES = {
    "initializers": "KeyValueTensorInitializer TextFileIndex TextFileInitializer",
    "tables": "StaticHashTable StaticVocabularyTable",
    "": "experimental",  # modules
}
__getattr__, __dir__, __all__ = namespace(__name__, _HOMES)
