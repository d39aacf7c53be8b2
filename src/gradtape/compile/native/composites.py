"""Ops of several steps as simpler ones, so that they share loops with what is around them.

Beyond those of `passes/lower`, whose numbers stay the same to the last bit, these may differ in the
last digits. What can raise leaves a check behind.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any

import numpy as np

from ...core import apply
from ...core.op import Op
from ...framework.variable import check_rows
from ...ops import chance as draws
from ...ops import compare, complex, convolve, elementwise, index, neural, reduce, shape, softmax
from ...ops.elementwise import add, exp, log, maximum, minimum, mul, neg, sub
from ..kernels import Kernel, unless_zero
from ..passes.rewriting import Rewriter
from ..program import Check, Equation, Program, Var
from . import chance, lanes, rearranging

FLOATS = "fd"


@dataclass(eq=False, frozen=True)
class InRange(Check):
    """Whole numbers from 0 up to a size; otherwise the function raises."""

    size: int = 0


@dataclass(eq=False, frozen=True)
class Finite(Check):
    """Numbers of which none is NaN or infinite; otherwise Python computes, but nothing raises."""


def raising(
    op: Op, operands: Callable[[Any], list], forward: Callable[..., Any] | None = None
) -> Callable[[Any], None]:
    """What raises the exception of an op that is given whole numbers out of range."""
    compute = op.forward if forward is None else forward

    def check(places: Any) -> None:
        given = operands(places)
        try:
            compute(*given)
        except (TypeError, ValueError, IndexError) as error:
            raise apply.complain(op, error, given, {}) from None

    return check


def expand(program: Program) -> Program:
    return _Expanding(program).run()


class _Expanding(Rewriter):
    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.below: dict[Var, int] = {}  # whole numbers that were checked, and against which size
        self.given = {*program.given} - {*program.constants}
        self.finite: set[Var] = set()  # numbers that were checked

    def rewrite(self, equation: Equation) -> Any:
        if isinstance(equation.op, Check):
            return self._checked(equation)
        rule = _RULES.get(equation.op)
        if rule is None or self.bits:
            return None
        if any(v.dtype is None or v.dtype.kind not in "fiub" for v in equation.inputs):
            return None
        if not all(prod(v.shape) for v in equation.inputs):  # nothing to do: NumPy knows how
            return None
        floats = {v.dtype for v in equation.inputs if v.dtype.kind == "f"}
        if equation.op not in _ANY and (len(floats) != 1 or min(floats).char not in FLOATS):
            return None
        return rule(self, *equation.inputs, **equation.params)

    def number(self, value: float, like: Var) -> Var:
        return self.constant(like.dtype.type(value))

    def check(self, name: str, forward: Callable[[Any], Any], size: int, value: Var) -> None:
        """Once is enough: a lookup has checked the places that its way back writes to."""
        known = self.below.get(value)
        if known is None or known > size:
            self.below[value] = size
            made = InRange(name, forward, size)
            self.equations.append(Equation(made, (value,), {}, (), self.place))

    def check_finite(self, value: Var) -> None:
        """Only of what is given: threads begin when all checks are done."""
        if value in self.given and value not in self.finite:
            self.finite.add(value)
            made = Finite("finite", lambda _: None)
            self.equations.append(Equation(made, (value,), {}, (), self.place))

    def _checked(self, equation: Equation) -> tuple[()] | None:
        """The places of rows of a variable."""
        check = equation.op.forward
        if not isinstance(check, partial) or check.func is not check_rows:
            return None
        (size,), (value,) = check.args, equation.inputs
        if value.dtype.kind not in "iu":
            return None
        self.check("rows", check, size, value)
        return ()


_RULES: dict[Any, Callable[..., Any]] = {**rearranging.RULES}
# Of all dtypes.
_ANY = {
    *rearranging.RULES, index.gather, index.gather_rows, index.take, index.gather_batch, reduce.any,
    reduce.all, reduce.argmax, reduce.argmin, draws.uniform, elementwise.mod,
}  # fmt: skip
# Rows of a table at places that are known to be in range.
picked = Kernel(
    "picked", lambda a, b: a.take(b, 0, mode="clip"), lambda a, b: (b[0] + a[0][1:], a[1])
)


def _of(*ops: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def declare(rule: Callable[..., Any]) -> Callable[..., Any]:
        _RULES.update(dict.fromkeys(ops, rule))
        return rule

    return declare


# --- 0 where the second operand is 0 --------------------------------------------------------------
@_of(elementwise.divide_no_nan)
def _divide_no_nan(p: _Expanding, a: Var, b: Var) -> Var | None:
    return _unless_second(p, elementwise.div, a, b)


@_of(elementwise.multiply_no_nan)
def _multiply_no_nan(p: _Expanding, a: Var, b: Var) -> Var | None:
    return _unless_second(p, mul, a, b)


def _unless_second(p: _Expanding, op: Op, a: Var, b: Var) -> Var | None:
    if a.dtype != b.dtype or np.broadcast_shapes(a.shape, b.shape) != b.shape:
        return None
    return p.emit(unless_zero, b, p.emit(op, a, b))


# --- convolution ----------------------------------------------------------------------------------
@_of(convolve.conv_input)
def _conv_input(p: _Expanding, *operands: Var, **_: Any) -> None:
    """Its code multiplies the filter by the zeros around an image, which must come to nothing."""
    p.check_finite(operands[1])


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


# --- sums of exponentials -------------------------------------------------------------------------
def _exponentials(p: _Expanding, a: Var, axis: Any) -> tuple[Var, Var, Var]:
    """As in `ops/reduce`: of infinite ones nothing is taken out."""
    top = p.emit(reduce.max, a, axis=axis, keepdims=True)
    finite = p.emit(compare.less, p.emit(complex.absolute, top), p.number(np.inf, a))
    top = p.emit(index.select, finite, top, p.number(0, a))
    exps = p.emit(exp, p.emit(sub, a, top))
    return exps, p.emit(reduce.sum, exps, axis=axis, keepdims=True), top


@_of(reduce.logsumexp)
def _logsumexp(p: _Expanding, a: Var, axis: Any = None, keepdims: bool = False) -> Var:
    _, total, top = _exponentials(p, a, axis)
    y = p.emit(add, p.emit(log, total), top)
    if keepdims:
        return y
    axes = range(len(a.shape)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    gone = {k % len(a.shape) for k in axes}
    return p.shaped(y, tuple(n for k, n in enumerate(a.shape) if k not in gone))


@_of(reduce.shares)
def _exp_shares(p: _Expanding, a: Var, axis: Any = None) -> Var:
    exps, total, _ = _exponentials(p, a, axis)
    return p.emit(elementwise.div, exps, total)


# --- truth and positions --------------------------------------------------------------------------
WHOLE = np.dtype(np.int32)


@_of(reduce.any)
def _any(p: _Expanding, a: Var, axis: Any = None, keepdims: bool = False) -> Var | None:
    return _extreme(p, reduce.max, a, axis, keepdims)


@_of(reduce.all)
def _all(p: _Expanding, a: Var, axis: Any = None, keepdims: bool = False) -> Var | None:
    return _extreme(p, reduce.min, a, axis, keepdims)


def _extreme(p: _Expanding, op: Op, a: Var, axis: Any, keepdims: bool) -> Var | None:
    if a.dtype != bool:
        return None
    found = p.emit(op, p.emit(shape.cast, a, dtype=WHOLE), axis=axis, keepdims=keepdims)
    return p.emit(shape.cast, found, dtype=np.dtype(bool))


@_of(reduce.argmax)
def _argmax(p: _Expanding, a: Var, axis: int, dtype: Any) -> Var | None:
    return _position(p, reduce.max, -np.inf, a, axis, dtype)


@_of(reduce.argmin)
def _argmin(p: _Expanding, a: Var, axis: int, dtype: Any) -> Var | None:
    return _position(p, reduce.min, np.inf, a, axis, dtype)


def _position(
    p: _Expanding, op: Op, last: float, a: Var, axis: int, dtype: Any
) -> Var | None:  # fmt: skip
    """The first that equals the extreme; NaN is none."""
    if a.dtype.kind == "b" or a.dtype.char == "e" or not a.shape or not all(a.shape):
        return None
    at = axis % len(a.shape)
    size = a.shape[at]
    if a.dtype.kind == "f":
        number = p.emit(compare.equal, a, a)
        a = p.emit(index.select, number, a, p.number(last, a))
    own = p.emit(compare.equal, a, p.emit(op, a, axis=(at,), keepdims=True))
    places = np.arange(size, dtype=WHOLE).reshape(-1, *(1,) * (len(a.shape) - at - 1))
    first = p.emit(index.select, own, p.constant(places), p.constant(WHOLE.type(size)))
    found = p.emit(reduce.min, first, axis=(at,), keepdims=False)
    return p.emit(shape.cast, found, dtype=dtype) if dtype != WHOLE else found


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


@_of(neural.elu)
def _elu(p: _Expanding, a: Var) -> Var:
    zero = p.number(-0.0, a)  # -0.0 stays
    below = p.emit(elementwise.expm1, p.emit(minimum, a, zero))
    return p.emit(add, p.emit(maximum, a, zero), below)


@_of(neural.selu)
def _selu(p: _Expanding, a: Var) -> Var:
    zero, scale = p.number(-0.0, a), p.number(neural.SCALE, a)
    below = p.emit(elementwise.expm1, p.emit(minimum, a, zero))
    below = p.emit(mul, p.number(neural.SCALE * neural.ALPHA, a), below)
    return p.emit(add, p.emit(mul, scale, p.emit(maximum, a, zero)), below)


@_of(neural.elu_grad)
def _elu_grad(p: _Expanding, a: Var, b: Var) -> Var:
    less = p.emit(compare.less, b, p.number(0, b))
    down = p.emit(index.select, less, b, p.number(0, b))
    return p.emit(mul, a, p.emit(add, down, p.number(1, b)))


@_of(neural.selu_grad)
def _selu_grad(p: _Expanding, a: Var, b: Var) -> Var:
    less = p.emit(compare.less, b, p.number(0, b))
    scale = p.number(neural.SCALE, b)
    below = p.emit(add, b, p.number(neural.SCALE * neural.ALPHA, b))
    return p.emit(mul, a, p.emit(index.select, less, below, scale))


@_of(elementwise.softsign_grad)
def _softsign_grad(p: _Expanding, a: Var, b: Var) -> Var:
    one = p.emit(add, p.number(1, b), p.emit(complex.absolute, b))
    return p.emit(elementwise.div, a, p.emit(elementwise.square, one))


@_of(elementwise.sqrt_grad)
def _sqrt_grad(p: _Expanding, a: Var, b: Var) -> Var:
    none = p.emit(compare.equal, a, p.number(0, a))
    quotient = p.emit(elementwise.div, a, p.emit(add, b, b))
    return p.emit(index.select, none, p.number(0, a), quotient)


# --- positions ------------------------------------------------------------------------------------
@_of(index.gather, index.gather_rows)
def _gather(p: _Expanding, a: Var, b: Var) -> Any:
    if b.dtype.kind not in "iu" or not a.shape:
        return None
    table = np.broadcast_to(np.zeros((), a.dtype), a.shape)
    p.check("indices", raising(index.gather, lambda places: [table, places]), a.shape[0], b)
    return p.emit(picked, a, b)


@_of(index.take)
def _take(p: _Expanding, a: Var, b: Var, axis: int) -> Any:
    if b.dtype.kind not in "iu" or not a.shape:
        return None
    at = axis % len(a.shape)
    others = [k for k in range(len(a.shape)) if k != at]
    table = np.broadcast_to(np.zeros((), a.dtype), a.shape)
    forward = partial(index.take.forward, axis=at)
    p.check("indices", raising(index.take, lambda b: [table, b], forward), a.shape[at], b)
    if at:
        a = p.emit(shape.transpose, a, axes=(at, *others))
    y = p.emit(picked, a, b)
    places, behind = range(len(b.shape)), range(len(b.shape), len(y.shape))
    axes = (*behind[:at], *places, *behind[at:])
    return p.emit(shape.transpose, y, axes=axes) if at and places else y


@_of(index.gather_batch)
def _gather_batch(p: _Expanding, a: Var, b: Var, axis: int, batch: int) -> Any:
    """Rows of all the tables, one behind the other."""
    if b.dtype.kind not in "iu" or axis != batch:
        return None
    count, size = prod(a.shape[:batch]), a.shape[axis]
    if count * size > np.iinfo(b.dtype).max or not prod(b.shape):
        return None
    table = np.broadcast_to(np.zeros((), a.dtype), a.shape)
    forward = partial(index.gather_batch.forward, axis=axis, batch=batch)
    p.check("indices", raising(index.gather_batch, lambda b: [table, b], forward), size, b)
    starts = np.arange(count, dtype=b.dtype)[:, None] * b.dtype.type(size)
    places = p.emit(add, p.shaped(b, (count, prod(b.shape) // count)), p.constant(starts))
    rest = a.shape[batch + 1 :]
    rows = p.emit(picked, p.shaped(a, (count * size, *rest)), places)
    return p.shaped(rows, b.shape + rest)


# --- whole numbers --------------------------------------------------------------------------------
@_of(elementwise.mod)
def _mod(p: _Expanding, a: Var, b: Var) -> Var | None:
    divisor = p.constants.get(b)
    if a.dtype != b.dtype or a.dtype.kind not in "iu" or b.shape or divisor is None:
        return None
    return p.emit(lanes.remainder, a, b) if divisor > 0 else None


# --- random draws ---------------------------------------------------------------------------------
@_of(draws.uniform)
def _uniform(p: _Expanding, key: Any, counter: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    if dtype.char not in FLOATS or not prod(shape):
        return None
    words = p.program.new(*chance.place.infer(key, counter))
    params = {"key": key, "counter": counter}
    p.take(Equation(chance.place, (), params, (words,), p.place))
    return p.emit(chance.uniform, words, shape=shape, dtype=dtype)
