"""A product of matrices added to what is there, in one pass: BLAS can, NumPy has no word for it."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from . import jobs
from .product import ALONE, product

_ROWS, _PLAIN, _TURNED = 101, 111, 112  # CBLAS's words
# Of NumPy's own OpenBLAS: with a second one, SciPy's, the threads of the two wait for each other.
# A product of 784 x 128 and 128 x 256 took 0.2 ms, by SciPy's after NumPy's 7.6.
_NAMES = ("scipy_cblas_{}gemm64_", "cblas_{}gemm64_", "scipy_cblas_{}gemm", "cblas_{}gemm")


@cache
def _gemm(char: str) -> Any:
    """The function of BLAS for float32 or float64, if it is to be found."""
    if not jobs.blas.found():
        return None
    import ctypes

    library = ctypes.CDLL(np._core._multiarray_umath.__file__)  # type: ignore[attr-defined]
    letter, number = ("s", ctypes.c_float) if char == "f" else ("d", ctypes.c_double)
    for name in _NAMES:
        found = getattr(library, name.format(letter), None)
        if found is not None:
            whole = ctypes.c_int64 if "64" in name else ctypes.c_int
            array, flag = ctypes.c_void_p, ctypes.c_int
            found.restype = None
            found.argtypes = [
                flag, flag, flag, whole, whole, whole, number, array, whole, array, whole,
                number, array, whole,
            ]  # fmt: skip
            return found
    return None


def add_product(out: Any, a: Any, b: Any, factor: float) -> None:
    """out += factor a b, for matrices of one dtype, float32 or float64."""
    gemm = _gemm(out.dtype.char)
    left, right = _laid_out(a), _laid_out(b)
    if gemm is None or left is None or right is None or not out.flags.c_contiguous:
        y = product(a, b)
        y *= out.dtype.type(factor)
        out += y
        return
    (rows, inner), columns = a.shape, b.shape[1]
    call = (
        _ROWS, left[0], right[0], rows, columns, inner, factor, *left[1:], *right[1:],
        1.0, out.ctypes.data, columns,
    )  # fmt: skip
    if rows * inner * columns > ALONE:
        with jobs.blas:  # one call, in one thread: an interrupt must not leave half of a sum
            gemm(*call)
    else:
        gemm(*call)


def _laid_out(a: Any) -> tuple[int, int, int] | None:
    """How BLAS reads a matrix: whether it is turned, where it begins, how long its rows are."""
    if a.flags.c_contiguous:
        return _PLAIN, a.ctypes.data, max(a.shape[1], 1)
    if a.flags.f_contiguous:
        return _TURNED, a.ctypes.data, max(a.shape[0], 1)
    return None
