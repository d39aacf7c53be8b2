"""Uniform random numbers by Philox 4x32-10, bit by bit those of `ops/kernels/philox`.

Where a draw begins in its stream is Python's to say (`place`): words of the counter and the key.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from llvmlite import ir

from ...ops.kernels.philox import _WEYL, HUGE, LONG, Stream
from ..kernels import Kernel
from ..program import Equation, Var
from .emitting import I32, I64, POINTER, Emitter, Value
from .layout import Layout
from .nests import Single
from .sharing import Sharing, blocks

BLOCKS = 8  # at a time
MULTIPLIERS = 0xD2511F53, 0xCD9E8D57
WORDS = np.dtype(np.uint64)


def _place(key: int, counter: int) -> Any:
    key, counter = int(key) & LONG, int(counter) & HUGE
    return np.array([counter & LONG, counter >> 64, key], WORDS)


def _uniform(words: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    low, high, key = map(int, words)
    return Stream(key, high << 64 | low).uniform(prod(shape), dtype).reshape(shape)


place = Kernel("place", _place, lambda key, counter: ((3,), WORDS))
uniform = Kernel("uniform", _uniform, lambda words, shape, dtype: (shape, dtype))


def fits(equation: Equation, layouts: list[Layout]) -> bool:
    return equation.op is uniform and layouts[0].contiguous


def likeness(item: Single) -> tuple[tuple, list[Var]]:
    (value,), (words,) = item.equation.outputs, item.reads
    told = "uniform", prod(value.shape), value.dtype.str, words.offset
    return told, [words.root, value]


def sharing(item: Single) -> Sharing:
    (value,) = item.equation.outputs
    return blocks(value, prod(value.shape), _each(value))


def work(item: Single) -> float:
    return prod(item.equation.outputs[0].shape) * 1.0


def _each(value: Var) -> int:
    """Numbers of some blocks."""
    return BLOCKS * 16 // value.dtype.itemsize


def write(module: ir.Module, name: str, item: Single) -> ir.Function:
    (value,), (words,) = item.equation.outputs, item.reads
    kind = ir.FunctionType(ir.VoidType(), [POINTER, POINTER, I64, I64])
    function = ir.Function(module, kind, name)
    function.linkage = "internal"
    function.attributes.add("noinline")
    given, out, first, last = function.args
    b = ir.IRBuilder(function.append_basic_block())
    each, count = _each(value), prod(value.shape)
    e = Emitter(b, value.dtype.str[1:], each)
    low, high, key = (
        b.load(b.gep(given, [I64(words.offset + k)], source_etype=I64), typ=I64, align=8)
        for k in range(3)
    )
    full, rest = divmod(count, each)
    draw = lambda i: _numbers(e, _blocks(e, low, high, key, b.mul(i, I64(BLOCKS))))
    if full:
        with e.each(first, e.least(last, full)) as i:
            e.store(draw(i if not isinstance(i, int) else I64(i)), e.at(out, e.mul(i, each)))
    if rest:  # whoever does the last part does what is left
        room = e.memory(each)
        room_of_last = b.icmp_unsigned(">", last, I64(full))
        with b.if_then(room_of_last):
            e.store(draw(I64(full)), room)
            with e.each(0, rest) as i:
                e.store(e.load(e.at(room, i)), e.at(out, e.add(i, full * each)))
    b.ret_void()
    return function


def _blocks(e: Emitter, low: Value, high: Value, key: Value, start: Value) -> list[Value]:
    """Four rows of words, in the lower halves of 64 bits."""
    b = e.b
    kind = ir.VectorType(I64, BLOCKS)
    many = lambda n: ir.Constant(kind, [n] * BLOCKS)
    half, mask = many(32), many(2**32 - 1)

    def spread(x: Value) -> Value:
        some = b.insert_element(ir.Constant(kind, ir.Undefined), x, I32(0))
        zeros = ir.Constant(ir.VectorType(I32, BLOCKS), [0] * BLOCKS)
        return b.shuffle_vector(some, some, zeros)

    here = b.add(spread(b.add(low, start)), ir.Constant(kind, list(range(BLOCKS))))
    carried = b.zext(b.icmp_unsigned("<", here, spread(low)), kind)
    above = b.add(spread(high), carried)
    rows = [b.and_(here, mask), b.lshr(here, half), b.and_(above, mask), b.lshr(above, half)]
    keys = [b.and_(key, I64(2**32 - 1)), b.lshr(key, I64(32))]
    for _ in range(10):
        p, q = (b.mul(rows[2 * k], many(MULTIPLIERS[k])) for k in range(2))
        k0, k1 = map(spread, keys)
        rows = [
            b.xor(b.xor(b.lshr(q, half), rows[1]), k0), b.and_(q, mask),
            b.xor(b.xor(b.lshr(p, half), rows[3]), k1), b.and_(p, mask),
        ]  # fmt: skip
        keys = [
            b.and_(b.add(k, I64(weyl)), I64(2**32 - 1)) for k, weyl in zip(keys, _WEYL, strict=True)
        ]
    return rows


def _numbers(e: Emitter, rows: list[Value]) -> Value:
    """Fractions of blocks, one block behind the other."""
    b = e.b
    if e.itemsize == 4:
        narrow = ir.VectorType(I32, BLOCKS)
        bits = ir.Constant(narrow, [2**23 - 1] * BLOCKS)
        found = [b.sitofp(b.and_(b.trunc(row, narrow), bits), e.vector(BLOCKS)) for row in rows]
        scale = 2.0**-23
    else:
        kind = ir.VectorType(I64, BLOCKS)
        bits, half = (ir.Constant(kind, [n] * BLOCKS) for n in (0xFFFFF, 32))
        whole = [b.or_(b.shl(b.and_(x, bits), half), y) for x, y in (rows[:2], rows[2:])]
        found = [b.sitofp(row, e.vector(BLOCKS)) for row in whole]
        scale = 2.0**-52
    while len(found) > 1:  # side by side
        size = found[0].type.count
        found = [
            e.shuffle(x, y, list(range(2 * size)))
            for x, y in zip(found[::2], found[1::2], strict=True)
        ]
    (side,) = found
    rows_of = side.type.count // BLOCKS
    order = [row * BLOCKS + k for k in range(BLOCKS) for row in range(rows_of)]
    return b.fmul(e.shuffle(side, side, order), e.constant(scale, side.type.count))
