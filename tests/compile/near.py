"""How near the numbers of a function must be to the eager ones: the same on NumPy, and as near as
roundings are in machine code."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.compile.backends import choice

ULPS = 4  # of element-wise ops
FAR = {"f": 1e-5, "d": 1e-12}  # of what has products and sums, relative to the largest number


def near(found: Any, expected: Any, elementwise: bool = False, name: str = "") -> None:
    """Assert it; NaN and infinities must be in the same places."""
    y, wanted = np.asarray(found), np.asarray(expected)
    assert (y.dtype, y.shape) == (wanted.dtype, wanted.shape)
    if choice.NAME != "llvm" or y.dtype.char not in FAR:
        np.testing.assert_array_equal(y, wanted, name)
        return
    finite = np.isfinite(wanted)
    np.testing.assert_array_equal(y[~finite], wanted[~finite], name)
    y, wanted = y[finite], wanted[finite]
    if elementwise:
        steps = np.abs(y - wanted) / np.spacing(np.abs(wanted))
        assert np.all(steps <= ULPS), f"{name} {steps.max()} ulps: {y} for {wanted}"
    else:
        far = FAR[y.dtype.char]
        most = np.abs(wanted).max(initial=0.0)
        np.testing.assert_allclose(y, wanted, rtol=far, atol=far * most, err_msg=name)
