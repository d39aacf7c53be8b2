"""The names of this namespace; written by `python -m tests.stubs` from `_HOMES`."""

from . import experimental as experimental
from .dataset import Dataset as Dataset
from .files import (
    FixedLengthRecordDataset as FixedLengthRecordDataset, TFRecordDataset as TFRecordDataset,
    TextLineDataset as TextLineDataset,
)  # fmt: skip
from .iterators import (
    Iterator as Iterator, IteratorSpec as IteratorSpec, NumpyIterator as NumpyIterator,
)  # fmt: skip
from .node import (
    AUTOTUNE as AUTOTUNE, INFINITE_CARDINALITY as INFINITE_CARDINALITY, UNKNOWN_CARDINALITY as
    UNKNOWN_CARDINALITY,
)  # fmt: skip
from .options import Options as Options, ThreadingOptions as ThreadingOptions
from .specs import DatasetSpec as DatasetSpec
