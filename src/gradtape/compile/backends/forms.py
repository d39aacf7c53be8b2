"""How equations are written in NumPy: what writes into an array, and what gives a new one."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from ...ops import shape
from ...ops.elementwise import add, div, maximum, minimum, mul, neg, sub
from ...ops.kernels.parallel import BLOCK
from ...ops.kernels.product import ALONE, product, product_of_stacks
from ...ops.linear import matmul, matmul_nt, matmul_tn
from ..kernels import (
    PARTS,
    PRODUCTS,
    STRETCH,
    Fused,
    as_ufunc,
    dot,
    dot_of_stretches,
    tile,
    turned_copy,
    unless_zero,
)
from ..program import Equation, Piece, Var

_SIGNS = {add: "+", sub: "-", mul: "*", div: "/"}
Form = Callable[[Any, Equation], str]
_WRITING: dict[Any, Form] = {}


def writing(w: Any, e: Equation) -> list[str]:
    """The lines that compute an equation into the array of its result."""
    if e.op is shape.concat and any(_is_piece(w, v, e) for v in e.inputs):
        return _join(w, e)
    form = _WRITING.get(e.op)
    return [_ufunc(w, e) if form is None else form(w, e)]


def _is_piece(w: Any, value: Var, e: Equation) -> bool:
    memory = getattr(w.source.get(value), "memory", None)
    return isinstance(memory, Piece) and memory.whole is e.outputs[0]


def _join(w: Any, e: Equation) -> list[str]:
    """What was written to its place is there; the rest is copied."""
    lines, start, (y,) = [], 0, e.outputs
    for value in e.inputs:
        stop = start + value.shape[e.params["axis"]]
        if not _is_piece(w, value, e):
            piece, name = Piece(y, e.params["axis"], start, stop), f"{y}_{start}"
            w.made.append((name, lambda there, piece=piece: piece.of(there[repr(y)])))
            lines.append(f"{w.name('copyto', np.copyto)}({name}, {value})")
        start = stop
    return lines


def giving(w: Any, e: Equation) -> str | None:
    """An expression for the result; None to call the op's own forward."""
    if e.op in PRODUCTS and all(len(v.shape) == 2 for v in e.inputs):
        return _product(w, e)
    if e.op is dot:
        return _dot(w, e)
    ufunc = as_ufunc(e)
    if ufunc is None:
        return None
    a, *b = e.inputs
    bare = not e.outputs[0].shape
    if e.op in _SIGNS and (bare or all(v.shape for v in e.inputs)):
        return f"{a} {_SIGNS[e.op]} {b[0]}"
    if e.op is neg:
        return f"-{a}"
    word = repr if bare else w.operand
    return f"{w.name(e.op.name, ufunc)}({', '.join(map(word, e.inputs))})"


def _of(*ops: Any) -> Callable[[Form], Form]:
    def declare(form: Form) -> Form:
        _WRITING.update(dict.fromkeys(ops, form))
        return form

    return declare


def _ufunc(w: Any, e: Equation) -> str:
    words = ", ".join(map(w.operand, e.inputs))
    return f"{w.name(e.op.name, as_ufunc(e))}({words}, {e.outputs[0]})"


@_of(maximum, minimum)
def _extreme(w: Any, e: Equation) -> str:
    # By name, as NumPy warns of a third argument by position. With numbers that lie side by side
    # it takes half the time it takes with a single one.
    words = [_full(w, v, e.outputs[0]) for v in e.inputs]
    return f"{w.name(e.op.name, as_ufunc(e))}({', '.join(words)}, out={e.outputs[0]})"


def _full(w: Any, value: Var, like: Var) -> str:
    size = prod(like.shape)
    if value.shape or value not in w.program.constants or size > BLOCK:
        return w.operand(value)
    number = w.program.constants[value]
    name = f"{value}_in_{'_'.join(map(str, like.shape))}"
    if name not in w.bound:
        w.bound[name] = np.full(like.shape, number)
    return name


# --- products -------------------------------------------------------------------------------------
def _factors(w: Any, e: Equation) -> tuple[str, str]:
    a, b = e.inputs
    left = w.turned(a) if e.op is matmul_tn else repr(a)
    right = w.turned(b) if e.op is matmul_nt else repr(b)
    return left, right


def _work(e: Equation) -> int:
    """Multiplications."""
    a, y = e.inputs[0].shape, e.outputs[0].shape
    return prod(y) * a[-2 if e.op is matmul_tn else -1]


def _product(w: Any, e: Equation) -> str:
    left, right = _factors(w, e)
    if _work(e) <= ALONE:
        return f"{left}.dot({right})"
    return f"{w.name('product', product)}({left}, {right})"


def _dot(w: Any, e: Equation) -> str:
    a, b = (w.flat(v) for v in e.inputs)
    if prod(e.inputs[0].shape) > STRETCH:
        return f"{w.name('dot_of_stretches', dot_of_stretches)}({a}, {b})"
    return f"{a}.dot({b})"


@_of(matmul, matmul_nt, matmul_tn)
def _product_into(w: Any, e: Equation) -> str:
    left, right = _factors(w, e)
    if any(len(v.shape) != 2 for v in e.inputs):
        multiply = np.matmul if _work(e) <= ALONE else product_of_stacks
        return f"{w.name(multiply.__name__, multiply)}({left}, {right}, {e.outputs[0]})"
    if _work(e) <= ALONE:
        return f"{left}.dot({right}, {e.outputs[0]})"
    return f"{w.name('product', product)}({left}, {right}, {e.outputs[0]})"


# --- moving numbers -------------------------------------------------------------------------------
@_of(shape.concat)
def _concat(w: Any, e: Equation) -> str:
    parts = ", ".join(map(repr, e.inputs))
    axis = e.params["axis"]
    return f"{w.name('concatenate', np.concatenate)}(({parts},), {axis}, {e.outputs[0]})"


@_of(shape.stack)
def _stack(w: Any, e: Equation) -> str:
    parts = ", ".join(map(repr, e.inputs))
    axis = e.params["axis"]
    return f"{w.name('stack', np.stack)}(({parts},), {axis}, {e.outputs[0]})"


@_of(tile)
def _tile(w: Any, e: Equation) -> str:
    (row,), (y,) = e.inputs, e.outputs
    name, count = f"{y}_rows", e.params["count"]
    w.made.append((name, lambda there: there[repr(y)].reshape(count, *row.shape)))
    return f"{w.name('copyto', np.copyto)}({name}, {row})"


@_of(turned_copy)
def _turned_copy(w: Any, e: Equation) -> str:
    return f"{w.name('copyto', np.copyto)}({e.outputs[0]}, {e.inputs[0]}.T)"


@_of(shape.cast)
def _cast(w: Any, e: Equation) -> str:
    return f'{w.name("copyto", np.copyto)}({e.outputs[0]}, {w.operand(e.inputs[0])}, "unsafe")'


@_of(shape.reshape)
def _reshape(w: Any, e: Equation) -> str:
    """Of what does not lie in order: a copy."""
    (a,), (y,) = e.inputs, e.outputs
    name = f"{y}_as_{a}"
    w.made.append((name, lambda there: there[repr(y)].reshape(a.shape)))
    return f"{w.name('copyto', np.copyto)}({name}, {a})"


@_of(unless_zero)
def _unless_zero(w: Any, e: Equation) -> str:
    a, b = map(repr, e.inputs)
    return f"{w.name('unless_zero', _clear)}({a}, {b}, {e.outputs[0]})"


def _clear(a: Any, b: Any, out: Any) -> None:
    if a.all():
        if out is not b:
            np.copyto(out, b)
        return
    # By bits: what is left of b where all bits are set. Where a mask chooses, NumPy takes 80 us
    # for 16,384 numbers, so 10.
    whole = _BITS[b.itemsize]
    mask = np.not_equal(a, 0).astype(whole)
    np.negative(mask, mask)
    np.bitwise_and(mask, b.view(whole), out.view(whole))


_BITS = {4: np.int32, 8: np.int64}


# --- fused equations ------------------------------------------------------------------------------
def fused(w: Any, op: Fused) -> tuple[list[str], list[list[Var]], list[tuple[str, Any]]]:
    """The lines of a function for fused equations; the numbers, the rows and the arrays that it
    takes; the rooms for what comes in between: names and dtypes."""
    shape = op.outputs[0].shape
    numbers = [v for v in op.inputs if not v.shape and v not in w.program.constants]
    rows = [v for v in op.inputs if v.shape not in (shape, ())]
    arrays = [v for v in op.inputs if v.shape == shape] + list(op.outputs)
    last = {v: k for k, e in enumerate(op.body) for v in e.inputs}
    names = {v: repr(v) for v in (*numbers, *rows, *arrays)}
    given = {*names}
    free: dict[Any, list[str]] = {}
    rooms: list[tuple[str, Any]] = []
    lines: list[str] = []

    def room(dtype: Any) -> str:
        if free.get(dtype):
            return free[dtype].pop()
        rooms.append((f"t{len(rooms)}", dtype))
        return rooms[-1][0]

    for k, e in enumerate(op.body):
        (y,) = e.outputs
        ending = [v for v in dict.fromkeys(e.inputs) if last[v] == k and v not in given]
        spare = [room(y.dtype) for _ in range(PARTS[e.op][1] if e.op in PARTS else 0)]
        several = e.op in PARTS
        if not several:  # it may write where it reads
            for v in ending:
                if v.shape and v in names:
                    free.setdefault(v.dtype, []).append(names[v])
        if y not in names:
            names[y] = room(y.dtype)
        lines.append(f"    {_part(w, e, names, spare)}")
        free.setdefault(y.dtype, []).extend(spare)
        if several:
            for v in ending:
                free.setdefault(v.dtype, []).append(names[v])
    return lines, [numbers, rows, arrays], rooms


def _part(w: Any, e: Equation, names: dict[Var, str], spare: list[str]) -> str:
    out = names[e.outputs[0]]
    words = [names[v] if v in names else w.operand(v) for v in e.inputs]
    if e.op in PARTS:
        kernel = w.name(e.op.name, PARTS[e.op][0])
        return f"{kernel}({', '.join([*words, out, *spare])})"
    if e.op is unless_zero:
        return f"{w.name('unless_zero', _clear)}({', '.join(words)}, {out})"
    if e.op in (maximum, minimum):
        for k, v in enumerate(e.inputs):
            if not v.shape and v in w.program.constants:
                full = f"{v}_full"
                w.bound.setdefault(full, np.full(BLOCK, w.program.constants[v]))
                words[k] = f"{full}[: {out}.size]"
        return f"{w.name(e.op.name, as_ufunc(e))}({', '.join(words)}, out={out})"
    return f"{w.name(e.op.name, as_ufunc(e))}({', '.join(words)}, {out})"
