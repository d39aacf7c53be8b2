"""The names of this namespace; written by `python -m tests.stubs` from `_HOMES`."""

from .records import TFRecordOptions as TFRecordOptions, TFRecordWriter as TFRecordWriter
