"""The names of this namespace; written by `python -m tests.stubs` from `_HOMES`."""

from . import experimental as experimental
from .kinds import (
    audio as audio, histogram as histogram, image as image, scalar as scalar, text as text,
    write as write,
)  # fmt: skip
from .traces import (
    graph as graph, trace_export as trace_export, trace_off as trace_off, trace_on as trace_on,
)  # fmt: skip
from .writers import (
    SummaryWriter as SummaryWriter, create_file_writer as create_file_writer, create_noop_writer
    as create_noop_writer, flush as flush, record_if as record_if, should_record_summaries as
    should_record_summaries,
)  # fmt: skip
