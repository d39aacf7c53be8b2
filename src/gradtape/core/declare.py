"""Constructors by kind of derivative: the words in which the files of `ops/` are written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import apply
from .op import FLOATS, Op, Reason, Rule, broadcast_shape


def elementwise(
    name: str,
    forward: Callable[..., Any],
    pull: Rule | Reason | tuple[Rule | Reason, ...],
    *,
    sample: Any = None,
    takes: str = FLOATS,
    **more: Any,
) -> Op:
    """An op on each element: its Jacobian is diagonal, so the pull is the push as well."""
    op = Op(
        name, forward, pull, shape=broadcast_shape, sample=sample,
        broadcasts=True, batches=True, push="diagonal", takes=takes, **more,
    )  # fmt: skip
    op.apply = apply.unary(op) if len(op.rules) == 1 else apply.binary(op)
    return op


def op(
    name: str,
    forward: Callable[..., Any],
    pull: Rule | Reason | tuple[Rule | Reason | None, ...],
    *,
    shape: Callable[..., Any],
    sample: Callable[..., Any] | None = None,
    **more: Any,
) -> Op:
    """Any other op; without a `push`, forward mode transposes the pull."""
    made = Op(name, forward, pull, shape=shape, sample=sample, **more)
    made.apply = apply.general(made)
    return made
