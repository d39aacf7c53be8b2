"""float32 logarithm, sine and cosine, rounded as the GNU C library rounds them.

TensorFlow's normal deviates go through these three, and NumPy's own differ from them in the last
bit of one number in eight. The scheme (a table of 16 logarithms, polynomials in float64) and its
coefficients are those of Arm's Optimized Routines (MIT), which that library uses.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_hex = float.fromhex
_INVERSES = np.array(list(map(_hex, (
    "0x1.661ec79f8f3bep+0", "0x1.571ed4aaf883dp+0", "0x1.49539f0f010bp+0", "0x1.3c995b0b80385p+0",
    "0x1.30d190c8864a5p+0", "0x1.25e227b0b8eap+0", "0x1.1bb4a4a1a343fp+0", "0x1.12358f08ae5bap+0",
    "0x1.0953f419900a7p+0", "0x1p+0", "0x1.e608cfd9a47acp-1", "0x1.ca4b31f026aap-1",
    "0x1.b2036576afce6p-1", "0x1.9c2d163a1aa2dp-1", "0x1.886e6037841edp-1", "0x1.767dcf5534862p-1",
))))  # fmt: skip
_LOGARITHMS = np.array(list(map(_hex, (
    "-0x1.57bf7808caadep-2", "-0x1.2bef0a7c06ddbp-2", "-0x1.01eae7f513a67p-2",
    "-0x1.b31d8a68224e9p-3", "-0x1.6574f0ac07758p-3", "-0x1.1aa2bc79c81p-3",
    "-0x1.a4e76ce8c0e5ep-4", "-0x1.1973c5a611cccp-4", "-0x1.252f438e10c1ep-5", "0x0p+0",
    "0x1.aa5aa5df25984p-5", "0x1.c5e53aa362eb4p-4", "0x1.526e57720db08p-3", "0x1.bc2860d22477p-3",
    "0x1.1058bc8a07ee1p-2", "0x1.4043057b6ee09p-2",
))))  # fmt: skip
_LN2 = _hex("0x1.62e42fefa39efp-1")
_L1, _L2, _L3 = map(
    _hex, ("-0x1.ffffef20a4123p-2", "0x1.5575b0be00b6ap-2", "-0x1.00ea348b88334p-2")
)
_S3, _S5, _S7 = map(
    _hex, ("-0x1.555545995a603p-3", "0x1.1107605230bc4p-7", "-0x1.994eb3774cf24p-13")
)
_C2, _C4, _C6, _C8 = map(
    _hex,
    (
        "-0x1.ffffffd0c621cp-2", "0x1.55553e1068f19p-5", "-0x1.6c087e89a359dp-10",
        "0x1.99343027bf8c3p-16",
    ),
)  # fmt: skip
_QUARTER = _hex("0x1.921fb54442d18p0")
_QUARTERS = _hex("0x1.45f306dc9c883p+23")  # in an angle of 1, times 2**24


def log(x: Any) -> Any:
    """The natural logarithm of positive, normal float32 numbers."""
    bits = x.view(np.int32)
    # x = 2**k * z with z in [0.7, 1.4): log x = k log 2 - log(1 / c) + log(z / c), c near z.
    shifted = bits - np.int32(0x3F330000)
    at = (shifted >> 19) & 15
    z = (bits - (shifted & np.int32(-0x800000))).view(np.float32).astype(np.float64)
    r = z * _INVERSES[at] - 1.0
    r2 = r * r
    whole = _LOGARITHMS[at] + (shifted >> 23) * _LN2
    return (((_L2 * r + _L1) + _L3 * r2) * r2 + (whole + r)).astype(np.float32)


def sin_cos(angle: Any) -> tuple[Any, Any]:
    """The sine and the cosine of float32 numbers between 0 and 100."""
    wide = angle.astype(np.float64)
    turns = ((wide * _QUARTERS).astype(np.int32) + np.int32(0x800000)) >> 24
    x = wide - turns * _QUARTER
    x2 = x * x
    x3, x4 = x * x2, x2 * x2
    sine = ((x + x3 * _S3) + x3 * x2 * (_S5 + x2 * _S7)).astype(np.float32)
    cosine = ((1.0 + x2 * _C2 + x4 * _C4) + x4 * x2 * (_C6 + x2 * _C8)).astype(np.float32)
    odd = (turns & 1).astype(bool)
    sines, cosines = np.where(odd, cosine, sine), np.where(odd, sine, cosine)
    np.negative(sines, out=sines, where=(turns & 2).astype(bool))
    np.negative(cosines, out=cosines, where=((turns + 1) & 2).astype(bool))
    return sines, cosines
