"""What an op tells of its results before it computes them, and the words to declare it in.

A size is None where only the numbers tell it, and so is what depends on it; ranks are known. A
shape rule takes the operands' shapes and the parameters, and gives a list of shapes for several
results. A `dtype` is the number of the operand that has the same one, or a dtype, or a function of
the operands' dtypes and the parameters; a tuple of these where several results differ, or a
function that gives a list.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

Size = int | None
Shape = tuple[Size, ...]

BOOL, INT32, INT64 = np.dtype("bool"), np.dtype("int32"), np.dtype("int64")


def infer(op: Any, *operands: tuple[Shape, np.dtype], **params: Any) -> Any:
    """The result's shape and dtype from those of the operands: a pair, a list of pairs for several
    results, None if it is not known how many. Behind `Op.infer`.

    >>> from gradtape.ops.linear import matmul
    >>> matmul.infer(((None, 3), INT32), ((3, 4), INT32))
    ((None, 4), dtype('int32'))
    """
    shapes, dtypes = zip(*operands, strict=True) if operands else ((), ())
    told, rules = op.shape(*shapes, **params), op.dtype
    kinds = [
        dtypes[k] if isinstance(k, int) else k(*dtypes, **params) if callable(k) else k
        for k in (rules if isinstance(rules, tuple) else (rules,))
    ]
    if isinstance(kinds[0], list):
        kinds = kinds[0]
    if isinstance(told, list):
        return list(zip(told, kinds if len(kinds) > 1 else kinds * len(told), strict=True))
    return None if told is None else (told, kinds[0])


# --- dtypes ---------------------------------------------------------------------------------------
def asked(*_: np.dtype, dtype: Any, **__: Any) -> np.dtype:
    """The dtype that is a parameter."""
    return np.dtype(dtype)


def as_real(a: np.dtype, *_: np.dtype, **__: Any) -> np.dtype:
    """That of a part of a complex number; real numbers keep theirs."""
    return np.dtype(f"f{a.itemsize // 2}") if a.kind == "c" else a


def as_complex(a: np.dtype, *_: np.dtype, **__: Any) -> np.dtype:
    """That of complex numbers with such parts."""
    return np.result_type(a, np.complex64)


# --- sizes ----------------------------------------------------------------------------------------
def plus(*sizes: Size) -> Size:
    return None if None in sizes else sum(sizes)  # type: ignore[arg-type]


def times(*sizes: Size) -> Size:
    if 0 in sizes:
        return 0
    return None if None in sizes else prod(sizes)  # type: ignore[arg-type]


def least(*sizes: Size) -> Size:
    if 0 in sizes:
        return 0
    return None if None in sizes else min(sizes)  # type: ignore[type-var]


# --- shapes ---------------------------------------------------------------------------------------
def same(a: Shape, *_: Any, **__: Any) -> Shape:
    """The first operand's."""
    return a


def alike(*shapes: Shape, **_: Any) -> Shape:
    """That of all operands: each size from one who knows it."""
    columns = zip(*shapes, strict=True)
    return tuple([next((n for n in sizes if n is not None), None) for sizes in columns])


def broadcast(*shapes: Shape, **_: Any) -> Shape:
    """An unknown size stretches or is stretched: with n > 1 it gives n, with 1 it stays unknown."""
    rank = max(map(len, shapes))
    columns = zip(*[(1,) * (rank - len(shape)) + tuple(shape) for shape in shapes], strict=True)
    sizes = []
    for column in columns:
        wide = {n for n in column if n is not None and n != 1}
        if len(wide) > 1:
            raise ValueError(f"shapes {' and '.join(map(str, shapes))} do not broadcast")
        sizes.append(wide.pop() if wide else None if None in column else 1)
    return tuple(sizes)


def stacked(a: Shape, b: Shape, rows: Size, columns: Size) -> Shape:
    """Matrices of this size, as many as the stacks of two operands make."""
    return (*broadcast(a[:-2], b[:-2]), rows, columns)


def exchanged(a: Shape, axis: int, *sizes: Size) -> Shape:
    """With these sizes in the place of an axis."""
    axis %= len(a)
    return (*a[:axis], *sizes, *a[axis + 1 :])


def inserted(a: Shape, axis: int, size: Size) -> Shape:
    """With a new axis, counted as the result has them."""
    axis %= len(a) + 1
    return (*a[:axis], size, *a[axis:])


def reshaped(a: Shape, shape: tuple[int, ...]) -> Shape:
    """As asked for; -1 is what is left."""
    total, rest = times(*a), prod([n for n in shape if n != -1])
    left = total // rest if total is not None and rest else None
    return tuple([left if n == -1 else n for n in shape])


def sliced(a: Shape, key: Any) -> Shape:
    """By numbers, slices, new axes and an ellipsis."""
    key = key if isinstance(key, tuple) else (key,)
    if Ellipsis not in key:
        key = (*key, Ellipsis)
    at, named = key.index(Ellipsis), len([k for k in key if k is not None]) - 1
    sizes = iter(a)
    found: list[Size] = []
    for k in (*key[:at], *[slice(None)] * (len(a) - named), *key[at + 1 :]):
        if k is None:
            found.append(1)
            continue
        n = next(sizes)
        if isinstance(k, slice):
            found.append(None if n is None else len(range(*k.indices(n))))
    return tuple(found)
