"""The names of this namespace; written by `python -m tests.stubs` from `_HOMES`."""

from . import experimental as experimental
from .initializers import (
    KeyValueTensorInitializer as KeyValueTensorInitializer, TextFileIndex as TextFileIndex,
    TextFileInitializer as TextFileInitializer,
)  # fmt: skip
from .tables import (
    StaticHashTable as StaticHashTable, StaticVocabularyTable as StaticVocabularyTable,
)  # fmt: skip
