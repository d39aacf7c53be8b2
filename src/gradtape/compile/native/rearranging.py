"""Ops that lay numbers beside each other, as looks and joins: rules for `composites`.

Numbers of any dtype; `p` is the pass that emits equations.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from ...ops import diagonal, index, linear, make, pad, shape
from ...ops.elementwise import mul
from ..kernels import is_basic
from ..program import Var

Rule = Callable[..., Any]
RULES: dict[Any, Rule] = {}


def _of(*ops: Any) -> Callable[[Rule], Rule]:
    def declare(rule: Rule) -> Rule:
        RULES.update(dict.fromkeys(ops, rule))
        return rule

    return declare


def _cut(p: Any, a: Var, axis: int, start: int, stop: int) -> Var:
    if (start, stop) == (0, a.shape[axis]):
        return a
    return p.emit(index.getitem, a, key=(slice(None),) * axis + (slice(start, stop),))


def _join(p: Any, parts: list[Var], axis: int) -> Var:
    parts = [part for part in parts if part.shape[axis]]
    return parts[0] if len(parts) == 1 else p.emit(shape.concat, *parts, axis=axis)


def _full(p: Any, number: Any, dtype: np.dtype, wanted: tuple[int, ...]) -> Var:
    one = p.constant(dtype.type(number))
    return p.emit(shape.broadcast_to, one, shape=wanted) if wanted else one


# --- copies ---------------------------------------------------------------------------------------
@_of(make.ones_like)
def _ones_like(p: Any, a: Var) -> Var:
    return _full(p, 1, a.dtype, a.shape)


@_of(make.zeros_like)
def _zeros_like(p: Any, a: Var) -> Var:
    return _full(p, 0, a.dtype, a.shape)


@_of(pad.tile)
def _tile(p: Any, a: Var, counts: tuple[int, ...]) -> Var | None:
    if len(counts) != len(a.shape) or not prod(counts):
        return None
    apart = tuple(n for size in a.shape for n in (1, size))
    stretched = tuple(n for pair in zip(counts, a.shape, strict=True) for n in pair)
    wide = p.emit(shape.broadcast_to, p.shaped(a, apart), shape=stretched)
    return p.shaped(wide, tuple(n * c for n, c in zip(a.shape, counts, strict=True)))


@_of(pad.repeat)
def _repeat(p: Any, a: Var, *others: Var, count: int, axis: int) -> Var | None:
    if others or not count or not a.shape:
        return None
    at = axis % len(a.shape)
    before, after = a.shape[: at + 1], a.shape[at + 1 :]
    wide = p.emit(
        shape.broadcast_to, p.shaped(a, (*before, 1, *after)), shape=(*before, count, *after)
    )
    return p.shaped(wide, (*before[:-1], before[-1] * count, *after))


@_of(pad.roll)
def _roll(p: Any, a: Var, shift: Any, axis: Any) -> Var | None:
    shifts = shift if isinstance(shift, tuple) else (shift,)
    axes = axis if isinstance(axis, tuple) else (axis,)
    if axis is None or len(shifts) != len(axes) or not prod(a.shape):
        return None
    for by, along in zip(shifts, axes, strict=True):
        at = along % len(a.shape)
        n = a.shape[at]
        middle = -by % n
        if middle:
            a = _join(p, [_cut(p, a, at, middle, n), _cut(p, a, at, 0, middle)], at)
    return a


# --- borders --------------------------------------------------------------------------------------
@_of(pad.pad)
def _pad(p: Any, a: Var, pads: Any, number: Any = 0) -> Var:
    for at, (low, high) in enumerate(pads):
        if low or high:
            fill = [
                _full(p, number, a.dtype, (*a.shape[:at], n, *a.shape[at + 1 :]))
                for n in (low, high)
                if n
            ]
            parts = [*fill[: bool(low)], a, *fill[bool(low) :]]
            a = _join(p, parts, at)
    return a


@_of(pad.pad_with)
def _pad_with(p: Any, a: Var, b: Var, pads: Any) -> Var | None:
    number = p.constants.get(b)
    return None if number is None or b.shape else _pad(p, a, pads, number)


@_of(pad.mirror_pad)
def _mirror_pad(p: Any, a: Var, pads: Any, skip: int) -> Var:
    for at, (low, high) in enumerate(pads):
        n = a.shape[at]
        ends = [(skip, skip + low), (n - skip - high, n - skip)]
        before, after = (_cut(p, a, at, *end) for end in ends)
        flipped = [
            p.emit(pad.reverse, part, axis=(at,)) if part.shape[at] > 1 else part
            for part in (before, after)
        ]
        a = _join(p, [flipped[0], a, flipped[1]], at)
    return a


@_of(index.put)
def _put(p: Any, a: Var, key: Any, shape: tuple[int, ...]) -> Var | None:
    """Zeros around what a slice took; between its numbers too, if it took steps."""
    key = key if isinstance(key, tuple) else (key,)
    if not is_basic(key) or not shape or not prod(a.shape):
        return None
    if Ellipsis in key:
        k = key.index(Ellipsis)
        there = sum(part is not None for part in key) - 1
        key = (*key[:k], *(slice(None),) * (len(shape) - there), *key[k + 1 :])
    key = tuple(part for part in key if part is not None)
    key = (*key, *(slice(None),) * (len(shape) - len(key)))
    ranges = [
        range(n)[part] if isinstance(part, slice) else range(part % n, part % n + 1)
        for part, n in zip(key, shape, strict=True)
    ]
    a = p.shaped(a, tuple(map(len, ranges)))
    pads = []
    for at, (places, n) in enumerate(zip(ranges, shape, strict=True)):
        if places.step < 0:
            if len(places) > 1:
                a = p.emit(pad.reverse, a, axis=(at,))
            places = places[::-1]
        if len(places) > 1 and places.step > 1:
            before, after = a.shape[: at + 1], a.shape[at + 1 :]
            zeros = _full(p, 0, a.dtype, (*before, places.step - 1, *after))
            a = _join(p, [p.shaped(a, (*before, 1, *after)), zeros], at + 1)
            a = p.shaped(a, (*before[:-1], before[-1] * places.step, *after))
            a = _cut(p, a, at, 0, places[-1] - places[0] + 1)
        pads.append((places[0], n - 1 - places[-1]))
    return _pad(p, a, pads)


@_of(diagonal.band_part)
def _band_part(p: Any, a: Var, lower: int, upper: int) -> Var:
    ones = np.ones(a.shape[-2:], bool)
    kept = diagonal.band_part.forward(ones, lower=lower, upper=upper)
    return p.emit(index.select, p.constant(kept), a, p.constant(a.dtype.type(0)))


# --- contractions ---------------------------------------------------------------------------------
@_of(linear.contract)
def _contract(p: Any, a: Var, b: Var, equation: str) -> Var | None:
    """Stacked matrices, as the op itself has them."""
    if a.dtype != b.dtype or a.dtype.char not in "fd":
        return None
    left, right, labels = linear._parts(equation)
    axes_a, axes_b, axes, n_both, n_inner, n_a, n_b = linear._plan(labels, left, right)
    a, b = _turned(p, a, axes_a), _turned(p, b, axes_b)
    both, own_a = a.shape[:n_both], a.shape[n_both : n_both + n_a]
    own_b = b.shape[n_both + n_inner :]
    if n_inner:
        inner = prod(a.shape[n_both + n_a :])
        y = p.emit(
            linear.matmul, p.shaped(a, (*both, prod(own_a), inner)),
            p.shaped(b, (*both, inner, prod(own_b))),
        )  # fmt: skip
    else:
        y = p.emit(
            mul, p.shaped(a, (*a.shape, *(1,) * n_b)), p.shaped(b, (*both, *(1,) * n_a, *own_b))
        )
    return _turned(p, p.shaped(y, both + own_a + own_b), axes)


def _turned(p: Any, a: Var, axes: tuple[int, ...]) -> Var:
    return a if [*axes] == [*range(len(axes))] else p.emit(shape.transpose, a, axes=axes)
