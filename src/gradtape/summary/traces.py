"""Graphs and profiles of a run: accepted, as there is no graph of TensorFlow's to show."""

from __future__ import annotations

from typing import Any

from .writers import should_record_summaries

_traced: set[str] = set()  # holds something between `trace_on` and the export


def trace_on(graph: bool = True, profiler: bool = False, profiler_outdir: Any = None) -> None:
    """Accepted: nothing is traced."""
    _traced.add("on")


def trace_off() -> None:
    """Accepted: nothing is traced."""
    _traced.clear()


def trace_export(name: str, step: Any = None, profiler_outdir: Any = None) -> None:
    """Accepted once there was a `trace_on`: there is nothing to be written."""
    if not _traced:
        raise ValueError("Must enable trace before export through tf.summary.trace_on.")
    _traced.clear()


def graph(graph_data: Any) -> Any:
    """Accepted: no graph is written."""
    return should_record_summaries()
