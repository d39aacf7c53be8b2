"""The functions that processors do not have, by the names of the ops: exp, tanh, erf, sin, …

Each writes instructions at a builder for a float, a double or a vector of these of any width:
`UNARY["exp"](b, x)`. None calls a library, none branches for its caller (see `turns.outlined`).
They are within 2 units in the last place of the true value for every argument, or 4 where their
docstring says so, and agree with NumPy on zeros, infinities, NaN and subnormal numbers. Arithmetic,
steps and square roots are instructions already; ops that are short formulas have none here.
"""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir

from . import exponential, normal, power, trigonometry
from .values import Value, emitting, where


def rsqrt(x: Value) -> Value:
    return 1.0 / x.sqrt()


def xlogy(x: Value, y: Value) -> Value:
    """Within 4 units in the last place, as xlog1py."""
    return where(x.equals(0.0), x(0.0), x * exponential.log(y))


def xlog1py(x: Value, y: Value) -> Value:
    return where(x.equals(0.0), x(0.0), x * exponential.log1p(y))


Emit = Callable[..., ir.Value]

UNARY: dict[str, Emit] = {
    "exp": emitting(exponential.exp),
    "expm1": emitting(exponential.expm1),
    "log": emitting(exponential.log),
    "log1p": emitting(exponential.log1p),
    "tanh": emitting(exponential.tanh),
    "sigmoid": emitting(exponential.sigmoid),
    "softplus": emitting(exponential.softplus),
    "log_sigmoid": emitting(exponential.log_sigmoid),
    "rsqrt": emitting(rsqrt),
    "erf": emitting(normal.erf),
    "erfc": emitting(normal.erfc),
    "gelu": emitting(normal.gelu),
    "sin": emitting(trigonometry.sin),
    "cos": emitting(trigonometry.cos),
    "tan": emitting(trigonometry.tan),
    "asin": emitting(trigonometry.asin),
    "acos": emitting(trigonometry.acos),
    "atan": emitting(trigonometry.atan),
    "sinh": emitting(exponential.sinh),
    "cosh": emitting(exponential.cosh),
    "asinh": emitting(exponential.asinh),
    "acosh": emitting(exponential.acosh),
    "atanh": emitting(exponential.atanh),
}
BINARY: dict[str, Emit] = {
    "power": emitting(power.power),
    "atan2": emitting(trigonometry.atan2),
    "xlogy": emitting(xlogy),
    "xlog1py": emitting(xlog1py),
    "gelu_grad": emitting(normal.gelu_grad),
}
