"""Comparisons, logic and tests of numbers: their results are truth values and have no slope."""

from __future__ import annotations

import numpy as np

from ..core.op import ANYTHING, REALS
from .declare import elementwise
from .reasons import Discrete, Missing

TRUTH = Discrete("the result is true or false: nothing lies between")
# TensorFlow gives None for the derivative of a comparison, but an error for that of a test.
TEST = Missing("the result is true or false: nothing lies between")

equal = elementwise("equal", np.equal, (TRUTH, TRUTH), takes=ANYTHING)
not_equal = elementwise("not_equal", np.not_equal, (TRUTH, TRUTH), takes=ANYTHING)
greater = elementwise("greater", np.greater, (TRUTH, TRUTH), takes=REALS)
greater_equal = elementwise("greater_equal", np.greater_equal, (TRUTH, TRUTH), takes=REALS)
less = elementwise("less", np.less, (TRUTH, TRUTH), takes=REALS)
less_equal = elementwise("less_equal", np.less_equal, (TRUTH, TRUTH), takes=REALS)
logical_and = elementwise("logical_and", np.logical_and, (TRUTH, TRUTH), takes="b")
logical_or = elementwise("logical_or", np.logical_or, (TRUTH, TRUTH), takes="b")
logical_xor = elementwise("logical_xor", np.logical_xor, (TRUTH, TRUTH), takes="b")
logical_not = elementwise("logical_not", np.logical_not, TRUTH, takes="b")
is_nan = elementwise("is_nan", np.isnan, TEST, label="IsNan", takes="fV")
is_inf = elementwise("is_inf", np.isinf, TEST, label="IsInf", takes="fV")
is_finite = elementwise("is_finite", np.isfinite, TEST, label="IsFinite", takes="fV")
