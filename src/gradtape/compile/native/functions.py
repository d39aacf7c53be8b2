"""Interim table."""

from . import exponential as x
from . import normal as n
from . import trigonometry as t
from .exponential import *
from .values import emitting


def _table(**f):
    return {k: emitting(v) for k, v in f.items() if v}


UNARY = _table(
    exp=getattr(x, "exp", None),
    expm1=getattr(x, "expm1", None),
    log=getattr(x, "log", None),
    log1p=getattr(x, "log1p", None),
    tanh=getattr(x, "tanh", None),
    softplus=getattr(x, "softplus", None),
    log_sigmoid=getattr(x, "log_sigmoid", None),
    sinh=getattr(x, "sinh", None),
    cosh=getattr(x, "cosh", None),
    asinh=getattr(x, "asinh", None),
    acosh=getattr(x, "acosh", None),
    atanh=getattr(x, "atanh", None),
    erf=getattr(n, "erf", None),
    erfc=getattr(n, "erfc", None),
    gelu=getattr(n, "gelu", None),
    gelu_tanh=getattr(n, "gelu_tanh", None),
    sin=getattr(t, "sin", None),
    cos=getattr(t, "cos", None),
)
BINARY = _table(gelu_grad=getattr(n, "gelu_grad", None))
