"""`tf.summary.experimental`: the step for all summaries, and summaries that are bytes already."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..framework.name_scopes import get_name_scope, name_scope
from ..framework.namespaces import lookup
from .writers import emit, state

__getattr__ = lookup(__name__)

__all__ = ["get_step", "set_step", "summary_scope", "write_raw_pb"]


def set_step(step: Any) -> None:
    """The step of summaries that are given none: a number, or a variable that counts."""
    state.step = step


def get_step() -> Any:
    """What `set_step` was given, or None."""
    return state.step


@contextmanager
def summary_scope(
    name: str, default_name: str = "summary", values: Any = None
) -> Iterator[tuple[str, str]]:
    """The tag that a summary of a name has here, and a scope of names for what it computes."""
    name = name or default_name
    scope = get_name_scope()
    with name_scope(name) as inner:
        yield f"{scope}/{name}" if scope else name, inner


def write_raw_pb(tensor: Any, step: Any = None, name: str | None = None) -> Any:
    """Write a Summary protocol buffer that is a string already."""
    return emit(lambda value: bytes(value.item()), tensor, step)
