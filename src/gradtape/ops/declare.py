"""Constructors by kind of derivative: the words in which the files of `ops/` are written."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..core import apply
from ..core.op import FLOATS, Op
from .infer import broadcast, infer


def elementwise(name: str, forward: Callable[..., Any], pull: Any, **more: Any) -> Op:
    """An op on each element: its Jacobian is diagonal, so the pull is the push as well."""
    more = {"takes": FLOATS, "shape": broadcast, **more}
    made = Op(name, forward, pull, broadcasts=True, batches=True, push="diagonal", **more)
    made.apply, made.infer = apply.quick(made), partial(infer, made)
    return made


def op(name: str, forward: Callable[..., Any], pull: Any, **more: Any) -> Op:
    """Any other op; without a `push`, forward mode transposes the pull."""
    made = Op(name, forward, pull, **more)
    made.apply, made.infer = apply.general(made), partial(infer, made)
    return made
