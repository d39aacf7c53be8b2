"""Ops of several steps as simpler ones, so that they share loops with what is around them.

Beyond those of `passes/lower`, whose numbers stay the same to the last bit, these may differ in the
last digits. What can raise leaves a check behind.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core import apply
from ...core.op import Op
from ...ops import compare, complex, elementwise, index, neural, reduce, shape, softmax
from ...ops.elementwise import add, exp, log, maximum, minimum, mul, neg, sub
from ..kernels import Kernel
from ..passes.rewriting import Rewriter
from ..program import Check, Equation, Program, Var

FLOATS = "fd"


@dataclass(eq=False, frozen=True)
class InRange(Check):
    """Whole numbers from 0 up to a size; otherwise the function raises."""

    size: int = 0


def raising(op: Op, operands: Callable[[Any], list]) -> Callable[[Any], None]:
    """What raises the exception of an op that is given whole numbers out of range."""

    def forward(places: Any) -> None:
        given = operands(places)
        try:
            op.forward(*given)
        except (TypeError, ValueError, IndexError) as error:
            raise apply.complain(op, error, given, {}) from None

    return forward


def expand(program: Program) -> Program:
    return _Expanding(program).run()


class _Expanding(Rewriter):
    def rewrite(self, equation: Equation) -> Any:
        rule = _RULES.get(equation.op)
        if rule is None or self.bits:
            return None
        if any(v.dtype is None or v.dtype.kind not in "fiub" for v in equation.inputs):
            return None
        floats = {v.dtype for v in equation.inputs if v.dtype.kind == "f"}
        if equation.op not in _ANY and (len(floats) != 1 or min(floats).char not in FLOATS):
            return None
        return rule(self, *equation.inputs, **equation.params)

    def number(self, value: float, like: Var) -> Var:
        return self.constant(like.dtype.type(value))

    def check(self, name: str, forward: Callable[[Any], Any], size: int, value: Var) -> None:
        self.equations.append(Equation(InRange(name, forward, size), (value,), {}, (), self.place))


_RULES: dict[Any, Callable[..., Any]] = {}
_ANY = {index.gather}  # of all dtypes
# Rows of a table at places that are known to be in range.
picked = Kernel(
    "picked", lambda a, b: a.take(b, 0, mode="clip"), lambda a, b: (b[0] + a[0][1:], a[1])
)


def _of(*ops: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def declare(rule: Callable[..., Any]) -> Callable[..., Any]:
        _RULES.update(dict.fromkeys(ops, rule))
        return rule

    return declare


# --- softmax --------------------------------------------------------------------------------------
def _shifted(p: _Expanding, a: Var, axis: int) -> Var:
    return p.emit(sub, a, p.emit(reduce.max, a, axis=(axis,), keepdims=True))


def _parts(p: _Expanding, a: Var, axis: int = -1) -> tuple[Var, Var, Var]:
    z = _shifted(p, a, axis)
    e = p.emit(exp, z)
    return z, e, p.emit(reduce.sum, e, axis=(axis,), keepdims=True)


@_of(softmax.softmax)
def _softmax(p: _Expanding, a: Var, axis: int) -> Var:
    _, e, total = _parts(p, a, axis)
    return p.emit(mul, e, p.emit(elementwise.reciprocal, total))


@_of(softmax.log_softmax)
def _log_softmax(p: _Expanding, a: Var, axis: int) -> Var:
    z, _, total = _parts(p, a, axis)
    return p.emit(sub, z, p.emit(log, total))


@_of(softmax.cross_entropy)
def _cross_entropy(p: _Expanding, a: Var, b: Var) -> tuple[Var, Var]:
    if a.shape != b.shape or a.dtype != b.dtype:
        return None  # type: ignore[return-value]
    z, e, total = _parts(p, b)
    term = p.emit(mul, a, p.emit(sub, p.emit(log, total), z))
    loss = p.emit(reduce.sum, term, axis=(-1,), keepdims=False)
    shares = p.emit(mul, e, p.emit(elementwise.reciprocal, total))
    return loss, p.emit(sub, shares, a)


@_of(softmax.sparse_cross_entropy)
def _sparse_cross_entropy(p: _Expanding, a: Var, b: Var) -> tuple[Var, Var]:
    classes, like = a.shape[-1], np.zeros((), a.dtype)
    logits_like = lambda labels: [np.broadcast_to(like, (*labels.shape, classes)), labels]
    p.check("labels", raising(softmax.sparse_cross_entropy, logits_like), classes, b)
    own = p.emit(
        compare.equal, p.emit(shape.reshape, b, shape=(*b.shape, 1)),
        p.constant(np.arange(classes, dtype=b.dtype)),
    )  # fmt: skip
    z, e, total = _parts(p, a)
    picked = p.emit(index.select, own, z, p.number(0, a))
    logits = p.emit(reduce.sum, picked, axis=(-1,), keepdims=False)
    total_of = p.emit(shape.reshape, p.emit(log, total), shape=b.shape)
    shares = p.emit(mul, e, p.emit(elementwise.reciprocal, total))
    return p.emit(sub, total_of, logits), p.emit(
        sub, shares, p.emit(shape.cast, own, dtype=a.dtype)
    )


# --- activations ----------------------------------------------------------------------------------
@_of(neural.leaky_relu)
def _leaky_relu(p: _Expanding, a: Var, alpha: float) -> Var:
    slow = p.emit(mul, a, p.number(alpha, a))
    return p.emit(maximum if alpha <= 1 else minimum, a, slow)


@_of(neural.leaky_gate)
def _leaky_gate(p: _Expanding, a: Var, b: Var, alpha: float) -> Var:
    open = p.emit(compare.greater, b, p.number(0, b))
    return p.emit(mul, a, p.emit(index.select, open, p.number(1, a), p.number(alpha, a)))


@_of(neural.relu6)
def _relu6(p: _Expanding, a: Var) -> Var:
    return p.emit(minimum, p.emit(maximum, a, p.number(0, a)), p.number(6, a))


@_of(neural.relu6_gate)
def _relu6_gate(p: _Expanding, a: Var, b: Var) -> Var:
    low = p.emit(compare.greater, b, p.number(0, b))
    high = p.emit(compare.less, b, p.number(6, b))
    return p.emit(mul, a, p.emit(shape.cast, p.emit(compare.logical_and, low, high), dtype=a.dtype))


@_of(neural.l2_loss)
def _l2_loss(p: _Expanding, a: Var) -> Var:
    total = p.emit(reduce.sum, p.emit(elementwise.square, a), axis=None, keepdims=False)
    return p.emit(mul, total, p.number(0.5, a))


@_of(neural.sigmoid_cross_entropy)
def _sigmoid_cross_entropy(p: _Expanding, a: Var, b: Var) -> Var | None:
    if a.dtype != b.dtype:
        return None
    above = p.emit(maximum, b, p.number(0, b))
    tail = p.emit(exp, p.emit(neg, p.emit(complex.absolute, b)))
    soft = p.emit(elementwise.log1p, tail)
    return p.emit(add, p.emit(sub, above, p.emit(mul, b, a)), soft)


# --- positions ------------------------------------------------------------------------------------
@_of(index.gather)
def _gather(p: _Expanding, a: Var, b: Var) -> Any:
    if b.dtype.kind not in "iu" or not a.shape:
        return None
    table = np.broadcast_to(np.zeros((), a.dtype), a.shape)
    p.check("indices", raising(index.gather, lambda places: [table, places]), a.shape[0], b)
    return p.emit(picked, a, b)
