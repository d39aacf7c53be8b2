"""Constructors by kind of derivative: the words in which the files of `ops/` are written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import apply
from ..core.op import FLOATS, Op


def elementwise(name: str, forward: Callable[..., Any], pull: Any, **more: Any) -> Op:
    """An op on each element: its Jacobian is diagonal, so the pull is the push as well."""
    more = {"takes": FLOATS, "shape": np.broadcast_shapes, **more}
    made = Op(name, forward, pull, broadcasts=True, batches=True, push="diagonal", **more)
    made.apply = apply.quick(made)
    return made


def op(name: str, forward: Callable[..., Any], pull: Any, **more: Any) -> Op:
    """Any other op; without a `push`, forward mode transposes the pull."""
    made = Op(name, forward, pull, **more)
    made.apply = apply.general(made)
    return made
