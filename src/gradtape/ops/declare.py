"""Constructors by kind of derivative: the words in which the files of `ops/` are written."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..core import apply
from ..core.op import FLOATS, Op, registry
from ..core.operand import vocabulary
from ..traits import declare
from .infer import broadcast, infer


def elementwise(name: str, forward: Callable[..., Any], pull: Any, **more: Any) -> Op:
    """An op on each element: its Jacobian is diagonal, so the pull is the push as well."""
    more = {"takes": FLOATS, "shape": broadcast, **more}
    made = Op(name, forward, pull, broadcasts=True, batches=True, push="diagonal", **more)
    return _applied(made, apply.quick(made))


def op(name: str, forward: Callable[..., Any], pull: Any, **more: Any) -> Op:
    """Any other op; without a `push`, forward mode transposes the pull."""
    made = Op(name, forward, pull, **more)
    return _applied(made, apply.general(made))


def speaks(*functions: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare how to write a NumPy function with ops, for operands."""

    def as_ops(function: Callable[..., Any]) -> Callable[..., Any]:
        vocabulary.update(dict.fromkeys(functions, function))
        return function

    return as_ops


def _applied(made: Op, plain: Callable[..., Any]) -> Op:
    made.apply, made.infer = plain, partial(infer, made)
    if made.traits is not None:
        declare(made.kind, made.traits)
    for hear in listeners:
        hear(made)
    return made


# A check in `apply` whether somebody listens takes 2.3 % of a chain of scalars: listeners exchange
# `apply` itself.
listeners: list[Callable[[Op], None]] = []


def somebody_listens() -> bool:
    """Whether ops are heard, and so must be applied one by one."""
    return bool(listeners)


def listen(around: Callable[[Op, Any], Any]) -> Callable[[], None]:
    """Put a function of your own around the `apply` of every op, also of those that are declared
    later: `around(op, apply)` gives it. Returns what ends the listening."""
    plain: dict[Op, Any] = {}

    def hear(one: Op) -> None:
        plain[one] = one.apply
        one.apply = around(one, one.apply)

    def end() -> None:
        listeners.remove(hear)
        for one, before in plain.items():
            one.apply = before

    listeners.append(hear)
    for one in list(registry.values()):
        hear(one)
    return end
