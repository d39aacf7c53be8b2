"""Lowering: ops of several steps as the steps that their forwards take, so that other passes see
them. The numbers stay the same to the last bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...ops import compare, complex, elementwise, neural, reduce, shape
from ...ops.elementwise import add, div, exp, maximum, mul, neg, reciprocal, sqrt, square, sub
from ..kernels import unless_zero
from ..program import Assign, Equation, Program, Var
from .rewriting import Rewriter


def lower(program: Program) -> Program:
    return _Lowering(program).run()


class _Lowering(Rewriter):
    def rewrite(self, equation: Equation) -> Any:
        if isinstance(equation.op, Assign):
            return equation.inputs[0]
        rule = _RULES.get(equation.op)
        if rule is None:
            return None
        if equation.op not in _ANY and any(v.dtype.char not in "fd" for v in equation.inputs):
            return None
        return rule(self, *equation.inputs, **equation.params)

    def number(self, value: float, like: Var) -> Var:
        return self.constant(like.dtype.type(value))


Rule = Callable[..., Any]
_RULES: dict[Any, Rule] = {}
_ANY = {shape.identity, shape.identity_n, shape.stop_gradient, shape.add_n}  # of all dtypes


def _of(op: Any) -> Callable[[Rule], Rule]:
    def declare(rule: Rule) -> Rule:
        _RULES[op] = rule
        return rule

    return declare


@_of(shape.identity)
@_of(shape.stop_gradient)
def _itself(p: _Lowering, a: Var) -> Var:
    return a


@_of(shape.identity_n)
def _themselves(p: _Lowering, *values: Var) -> tuple[Var, ...]:
    return values


@_of(shape.add_n)
def _sum(p: _Lowering, *values: Var) -> Var:
    total = values[0]
    for value in values[1:]:
        total = p.emit(add, total, value)
    return total


@_of(elementwise.sigmoid)
def _sigmoid(p: _Lowering, a: Var) -> Var:
    return p.emit(reciprocal, p.emit(add, p.emit(exp, p.emit(neg, a)), p.number(1, a)))


@_of(neural.silu)
def _silu(p: _Lowering, a: Var) -> Var:
    return p.emit(mul, a, p.emit(elementwise.sigmoid, a))


@_of(elementwise.sigmoid_grad)
def _sigmoid_grad(p: _Lowering, a: Var, b: Var) -> Var:
    return p.emit(mul, p.emit(mul, p.emit(sub, p.number(1, b), b), b), a)


@_of(elementwise.tanh_grad)
def _tanh_grad(p: _Lowering, a: Var, b: Var) -> Var:
    return p.emit(mul, p.emit(sub, p.number(1, b), p.emit(square, b)), a)


@_of(elementwise.rsqrt)
def _rsqrt(p: _Lowering, a: Var) -> Var:
    return p.emit(reciprocal, p.emit(sqrt, a))


@_of(elementwise.sqrt_grad)
def _sqrt_grad(p: _Lowering, a: Var, b: Var) -> Var | None:
    return _hiding(p, a, b, lambda: p.emit(div, a, p.emit(add, b, b)))


@_of(elementwise.rsqrt_grad)
def _rsqrt_grad(p: _Lowering, a: Var, b: Var) -> Var | None:
    return _hiding(
        p, a, b,
        lambda: p.emit(
            div, p.emit(mul, p.emit(mul, a, b), p.emit(square, b)), p.number(-2, b)
        ),
    )  # fmt: skip


@_of(elementwise.reciprocal_grad)
def _reciprocal_grad(p: _Lowering, a: Var, b: Var) -> Var | None:
    return _hiding(p, a, b, lambda: p.emit(mul, p.emit(mul, p.emit(neg, a), b), b))


def _hiding(p: _Lowering, a: Var, b: Var, quotient: Callable[[], Var]) -> Var | None:
    """Of ops that give 0 for a cotangent of 0, whatever the derivative."""
    y_shape = np.broadcast_shapes(a.shape, b.shape)
    if a.shape != y_shape or not y_shape:
        return None
    return p.emit(unless_zero, a, quotient())


@_of(elementwise.squared_difference)
def _squared_difference(p: _Lowering, a: Var, b: Var) -> Var:
    return p.emit(square, p.emit(sub, a, b))


@_of(elementwise.softsign)
def _softsign(p: _Lowering, a: Var) -> Var:
    return p.emit(div, a, p.emit(add, p.number(1, a), p.emit(complex.absolute, a)))


@_of(elementwise.power)
def _power(p: _Lowering, a: Var, b: Var) -> Var | None:
    exponent = p.constants.get(b)
    if exponent is None or b.shape:
        return None
    if exponent == 1:
        return a
    if exponent == 2:
        return p.emit(square, a)
    return p.emit(mul, p.emit(square, a), a) if exponent == 3 else None


@_of(neural.relu)
def _relu(p: _Lowering, a: Var) -> Var:
    return p.emit(maximum, a, p.number(0, a))


@_of(neural.relu_gate)
def _relu_gate(p: _Lowering, a: Var, b: Var) -> Var:
    return p.emit(mul, a, p.emit(compare.greater, b, p.number(0, b)))


@_of(neural.bias_add)
def _bias_add(p: _Lowering, a: Var, b: Var) -> Var:
    return p.emit(add, a, b)


@_of(reduce.mean)
def _mean(p: _Lowering, a: Var, axis: Any = None, keepdims: bool = False) -> Var:
    total = p.emit(reduce.sum, a, axis=axis, keepdims=keepdims)
    return p.emit(div, total, p.number(reduce.count(a.shape, axis), a))
