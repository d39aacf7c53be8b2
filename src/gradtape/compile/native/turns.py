"""Angles less their quarter turns: x = n π/2 + r with |r| <= π/4, for every finite number.

Of arguments that are not huge by a few fused products. For the others it takes some 1,200 bits of
2/π; that code is a function of its own, called when at least one element of a vector needs it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from llvmlite import ir

from .exponential import nearest
from .values import Value, where

# π/2 as the sum of three numbers, in each of the two types.
QUARTER_F32 = 1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15
QUARTER_F64 = 1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33
HUGE_F32, HUGE_F64 = 2.0**17, 2.0**30  # from here on by the long way

# 2/π times 2^1216.
TWO_OVER_PI = int(
    "a2f9836e4e441529fc2757d1f534ddc0db6295993c439041fe5163abdebbc561b7246e3a424dd2e006492eea09d1921c"
    "fe1deb1cb129a73ee88235f52ebb4484e99c7026b45f7e413991d639835339f49c845f8bbdf9283b1ff897ffde05980f"
    "ef2f118b5a0a6d1f6d367ecf27cb09b74f463f669e5fea2d7527bac7ebe5f17b3d0739f78a5292ea6bfb5fb11f8d5d08"
    "56033046fc7b6bab",
    16,
)

I64, I192, DOUBLE = ir.IntType(64), ir.IntType(192), ir.DoubleType()


class Reduced(NamedTuple):
    """x = n π/2 + r + rest; of n only the two lowest bits count."""

    r: Value
    rest: Value
    n: Value


def reduce(x: Value) -> Reduced:
    """The remainder of quarter turns; NaN of infinities."""
    near = _reduce_near(x)
    z = x.abs()
    huge = (z > x.either(HUGE_F32, HUGE_F64)) & (z < math.inf)
    b = x.b
    before = b.block
    with b.if_then(_any(huge), likely=False):
        far = b.call(_far(x), [x.v])
        parts = [Value(b, b.extract_value(far, k)) for k in range(3)]
        chosen = [where(huge, f, n).v for f, n in zip(parts, near, strict=True)]
        inside = b.block
    merged = []
    for old, new in zip(near, chosen, strict=True):
        phi = b.phi(new.type)
        phi.add_incoming(old.v, before)
        phi.add_incoming(new, inside)
        merged.append(Value(b, phi))
    return Reduced(*merged)


def _reduce_near(x: Value) -> Reduced:
    first, second, third = x.either(QUARTER_F32, QUARTER_F64)
    n, bits = nearest(x, 2 / math.pi)
    r = n.fma(-first, x)  # exact, as both are multiples of one unit and the result is below 1
    if x.single:
        return Reduced(n.fma(-third, n.fma(-second, r)), x(0.0), bits)
    w = n * second
    y = r - w
    return Reduced(y, ((r - y) - w) - n.fma(third, n.fma(second, -w)), bits)


def _any(condition: Value) -> ir.Value:
    t, b = condition.v.type, condition.b
    if not isinstance(t, ir.VectorType):
        return condition.v
    # As an integer of as many bits: one instruction and a comparison on every processor.
    bits = b.bitcast(condition.v, ir.IntType(t.count))
    return b.icmp_unsigned("!=", bits, ir.Constant(bits.type, 0))


def outlined(formula: Callable[[Value], Value]) -> Callable[[Value], Value]:
    """The formula as a function of the module, which LLVM puts where it is called.

    For formulas with a branch: who calls them may go on as if there were none.
    """

    def call(x: Value) -> Value:
        t, module = x.v.type, x.b.module
        name = f"gradtape.{formula.__name__}.{_short(t)}"
        function = module.globals.get(name)
        if function is None:
            function = _private(module, ir.FunctionType(t, [t]), name, "alwaysinline")
            b = ir.IRBuilder(function.append_basic_block())
            b.ret(formula(Value(b, function.args[0])).v)
        return Value(x.b, x.b.call(function, [x.v]))

    call.__name__, call.__doc__ = formula.__name__, formula.__doc__
    return call


def _short(t: ir.Type) -> str:
    return f"{t.element}{t.count}" if isinstance(t, ir.VectorType) else str(t)


def _private(module: ir.Module, t: ir.FunctionType, name: str, *attributes: str) -> ir.Function:
    function = ir.Function(module, t, name)
    function.linkage = "internal"
    for attribute in attributes:
        function.attributes.add(attribute)
    return function


# --- huge arguments -------------------------------------------------------------------------------
def _far(x: Value) -> ir.Function:
    """The function of the module that reduces huge elements of a vector, one after the other."""
    module, t = x.b.module, x.v.type
    name = f"gradtape.reduce.{_short(t)}"
    if name in module.globals:
        return module.globals[name]
    single = _far_one(module)
    whole = x.bits().v.type
    result = ir.LiteralStructType([t, t, whole])
    function = _private(module, ir.FunctionType(result, [t]), name, "noinline", "cold")
    b = ir.IRBuilder(function.append_basic_block())
    (argument,) = function.args
    many = isinstance(t, ir.VectorType)
    parts: list[ir.Value] = [ir.Constant(kind, ir.Undefined) for kind in (t, t, whole)]
    for k in range(t.count if many else 1):
        at = ir.Constant(ir.IntType(32), k)
        one = b.extract_element(argument, at) if many else argument
        found = b.call(single, [b.fpext(one, DOUBLE) if x.single else one])
        r, rest, n = (b.extract_value(found, i) for i in range(3))
        if x.single:
            r, n = b.fptrunc(r, one.type), b.trunc(n, ir.IntType(32))
            rest = ir.Constant(one.type, 0.0)
        if many:
            parts = [b.insert_element(p, v, at) for p, v in zip(parts, (r, rest, n), strict=True)]
        else:
            parts = [r, rest, n]
    y: ir.Value = ir.Constant(result, ir.Undefined)
    for k, part in enumerate(parts):
        y = b.insert_value(y, part, k)
    b.ret(y)
    return function


def _far_one(module: ir.Module) -> ir.Function:
    """The function of a double: x = m 2^e, and of m 2^e 2/π only the part below 4 counts.

    So of 2/π 192 bits do, those from 4 2^-e on down: the integer product of m with them, less its
    multiples of 2^192, is the number of quarter turns with 190 bits of fraction, exact to 2^-137.
    """
    name = "gradtape.reduce"
    if name in module.globals:
        return module.globals[name]
    result = ir.LiteralStructType([DOUBLE, DOUBLE, I64])
    function = _private(module, ir.FunctionType(result, [DOUBLE]), name, "noinline", "cold")
    b = ir.IRBuilder(function.append_basic_block())
    (argument,) = function.args

    def long(number: int) -> ir.Constant:
        return ir.Constant(I64, number)

    def wide(number: int) -> ir.Constant:
        return ir.Constant(I192, number)

    bits = b.bitcast(argument, I64)
    m = b.or_(b.and_(bits, long(2**52 - 1)), long(2**52))
    biased = b.and_(b.lshr(bits, long(52)), long(2047))
    window = _window(b, b.sub(long(1216 - 190 + 1075), biased))
    turns = b.mul(b.zext(m, I192), window)
    n = b.lshr(b.add(turns, wide(1 << 189)), wide(190))
    fraction = b.sub(turns, b.shl(n, wide(190)))
    below = b.icmp_signed("<", fraction, wide(0))
    size = b.select(below, b.neg(fraction), fraction)
    # Its first 53 bits and the 64 after these.
    counting = ir.FunctionType(I192, [I192, ir.IntType(1)])
    count = module.globals.get("llvm.ctlz.i192") or ir.Function(module, counting, "llvm.ctlz.i192")
    zeros = b.call(count, [size, ir.Constant(ir.IntType(1), 0)])
    size = b.shl(size, zeros)
    high = b.uitofp(b.trunc(b.lshr(size, wide(139)), I64), DOUBLE)
    low = b.uitofp(b.trunc(b.lshr(size, wide(75)), I64), DOUBLE)
    exponent = b.shl(b.sub(long(1023 + 2 - 53), b.trunc(zeros, I64)), long(52))
    negative = b.xor(below, b.icmp_signed("<", bits, long(0)))
    unit = Value(b, b.bitcast(exponent, DOUBLE))
    unit = where(Value(b, negative), -unit, unit)
    # (high + low) π/2, in two numbers
    first, second, _ = QUARTER_F64
    h, rest = Value(b, high) * unit, Value(b, low) * (unit * 2.0**-64)
    product = h * first
    rest = h.fma(first, -product) + h.fma(second, rest * first)
    r = product + rest
    n = b.trunc(n, I64)
    n = b.select(b.icmp_signed("<", bits, long(0)), b.neg(n), n)
    y: ir.Value = ir.Constant(result, ir.Undefined)
    for k, part in enumerate((r.v, (rest - (r - product)).v, n)):
        y = b.insert_value(y, part, k)
    b.ret(y)
    return function


def _window(b: ir.IRBuilder, offset: ir.Value) -> ir.Value:
    """192 bits of 2/π from the bit at `offset` up, the lowest of the 1,216 being 0."""
    words = [TWO_OVER_PI >> 64 * k & (2**64 - 1) for k in range(22)]
    kind = ir.ArrayType(I64, len(words))
    table = ir.GlobalVariable(b.module, kind, "gradtape.two_over_pi")
    table.linkage, table.global_constant = "internal", True
    table.initializer = ir.Constant(kind, words)
    index, shift = b.lshr(offset, ir.Constant(I64, 6)), b.and_(offset, ir.Constant(I64, 63))
    found: ir.Value = ir.Constant(ir.IntType(256), 0)
    for k in range(4):
        at = b.add(index, ir.Constant(I64, k))
        word = b.load(b.gep(table, [ir.Constant(I64, 0), at], inbounds=True))
        word = b.shl(b.zext(word, found.type), ir.Constant(found.type, 64 * k))
        found = b.or_(found, word)
    return b.trunc(b.lshr(found, b.zext(shift, found.type)), I192)
