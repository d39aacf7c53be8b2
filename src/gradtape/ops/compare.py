"""Comparisons, logic and tests of numbers: their results are truth values, with no derivative."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.op import ANYTHING, REALS, Op
from .declare import elementwise
from .infer import BOOL
from .reasons import Discrete, Missing

TRUTH = Discrete("the result is true or false: nothing lies between")
# TensorFlow gives None for the derivative of a comparison, but an error for that of a test.
TEST = Missing("the result is true or false: nothing lies between")


def _truth(name: str, ufunc: Any, takes: str, **more: Any) -> Op:
    return elementwise(name, ufunc, (TRUTH,) * ufunc.nin, takes=takes, dtype=BOOL, **more)


def _test(name: str, ufunc: Any, label: str) -> Op:
    return elementwise(name, ufunc, TEST, takes="fV", dtype=BOOL, label=label)


equal = _truth("equal", np.equal, ANYTHING)
not_equal = _truth("not_equal", np.not_equal, ANYTHING)
greater = _truth("greater", np.greater, REALS)
greater_equal = _truth("greater_equal", np.greater_equal, REALS)
less = _truth("less", np.less, REALS)
less_equal = _truth("less_equal", np.less_equal, REALS)
logical_and = _truth("logical_and", np.logical_and, "b")
logical_or = _truth("logical_or", np.logical_or, "b")
# TensorFlow makes it of the others, beginning with this one.
logical_xor = _truth("logical_xor", np.logical_xor, "b", label="LogicalOr")
logical_not = _truth("logical_not", np.logical_not, "b")
is_nan = _test("is_nan", np.isnan, "IsNan")
is_inf = _test("is_inf", np.isinf, "IsInf")
is_finite = _test("is_finite", np.isfinite, "IsFinite")
