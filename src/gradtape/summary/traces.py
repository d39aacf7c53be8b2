"""Graphs and profiles of a run: accepted, as there is no graph of TensorFlow's to show."""

from __future__ import annotations

from typing import Any

from .writers import should_record_summaries


def trace_on(graph: bool = True, profiler: bool = False, profiler_outdir: Any = None) -> None:
    """Accepted: nothing is traced."""


def trace_off() -> None:
    """Accepted: nothing is traced."""


def trace_export(name: str, step: Any = None, profiler_outdir: Any = None) -> None:
    """Accepted: there is nothing to be written."""


def graph(graph_data: Any) -> Any:
    """Accepted: no graph is written."""
    return should_record_summaries()
