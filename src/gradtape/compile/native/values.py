"""LLVM values with Python's operators, so that a formula reads as one.

A `Value` is a float, a double, an integer or a vector of these of any width; a Python number beside
it becomes a constant of its type. No operation branches, none has fast-math flags.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir

Number = Any  # a Value or a Python number
BITS = {"float": ("<f", "<I", 23, 127), "double": ("<d", "<Q", 52, 1023)}


class Value:
    """A value `v` and the builder `b` that is to write what is made of it."""

    __slots__ = ("b", "v")

    def __init__(self, b: ir.IRBuilder, v: ir.Value) -> None:
        self.b, self.v = b, v

    # --- types and constants ----------------------------------------------------------------------
    @property
    def element(self) -> Any:
        t = self.v.type
        return t.element if isinstance(t, ir.VectorType) else t

    @property
    def whole(self) -> bool:
        return isinstance(self.element, ir.IntType)

    @property
    def single(self) -> bool:
        """Whether this is float32."""
        return isinstance(self.element, ir.FloatType)

    @property
    def mantissa(self) -> int:
        return BITS[str(self.element)][2]

    @property
    def bias(self) -> int:
        return BITS[str(self.element)][3]

    def either(self, single: Any, double: Any) -> Any:
        """The first in float32, the second in float64."""
        return single if self.single else double

    def type_of(self, element: ir.Type) -> ir.Type:
        """The type with as many elements as this."""
        t = self.v.type
        return ir.VectorType(element, t.count) if isinstance(t, ir.VectorType) else element

    def __call__(self, number: Number) -> Value:
        """The number as a constant of this type."""
        if isinstance(number, Value):
            return number
        t = self.v.type
        number = int(number) if self.whole else float(number)
        many = isinstance(t, ir.VectorType)
        return Value(self.b, ir.Constant(t, [number] * t.count if many else number))

    def pattern(self, number: float) -> int:
        """The bits of the number in this value's float type, as an integer."""
        real, whole, _, _ = BITS[str(self.element)]
        return int(struct.unpack(whole, struct.pack(real, number))[0])

    # --- arithmetic -------------------------------------------------------------------------------
    def _do(self, real: str, whole: str, other: Number, swapped: bool = False) -> Value:
        pair = (self(other).v, self.v) if swapped else (self.v, self(other).v)
        return Value(self.b, getattr(self.b, whole if self.whole else real)(*pair))

    def __add__(self, other: Number) -> Value:
        return self._do("fadd", "add", other)

    def __radd__(self, other: Number) -> Value:
        return self._do("fadd", "add", other)

    def __sub__(self, other: Number) -> Value:
        return self._do("fsub", "sub", other)

    def __rsub__(self, other: Number) -> Value:
        return self._do("fsub", "sub", other, swapped=True)

    def __mul__(self, other: Number) -> Value:
        return self._do("fmul", "mul", other)

    def __rmul__(self, other: Number) -> Value:
        return self._do("fmul", "mul", other)

    def __truediv__(self, other: Number) -> Value:
        return self._do("fdiv", "sdiv", other)

    def __rtruediv__(self, other: Number) -> Value:
        return self._do("fdiv", "sdiv", other, swapped=True)

    def __neg__(self) -> Value:
        return Value(self.b, self.b.neg(self.v) if self.whole else self.b.fneg(self.v))

    # --- bits -------------------------------------------------------------------------------------
    def __and__(self, other: Number) -> Value:
        return Value(self.b, self.b.and_(self.v, self(other).v))

    def __or__(self, other: Number) -> Value:
        return Value(self.b, self.b.or_(self.v, self(other).v))

    def __xor__(self, other: Number) -> Value:
        return Value(self.b, self.b.xor(self.v, self(other).v))

    def __invert__(self) -> Value:
        return self ^ -1

    def __lshift__(self, other: Number) -> Value:
        return Value(self.b, self.b.shl(self.v, self(other).v))

    def shifted_down(self, count: int) -> Value:
        """Zeros come in from above."""
        return Value(self.b, self.b.lshr(self.v, self(count).v))

    def bits(self) -> Value:
        """The integer with the same bits."""
        width = 32 if self.single else 64
        return Value(self.b, self.b.bitcast(self.v, self.type_of(ir.IntType(width))))

    def as_real(self) -> Value:
        """The float with the same bits."""
        t = ir.FloatType() if self.element.width == 32 else ir.DoubleType()
        return Value(self.b, self.b.bitcast(self.v, self.type_of(t)))

    # --- comparisons: false for NaN, `!=` true ----------------------------------------------------
    def _compare(self, how: str, other: Number) -> Value:
        compare = self.b.icmp_signed if self.whole else self.b.fcmp_ordered
        return Value(self.b, compare(how, self.v, self(other).v))

    def __lt__(self, other: Number) -> Value:
        return self._compare("<", other)

    def __le__(self, other: Number) -> Value:
        return self._compare("<=", other)

    def __gt__(self, other: Number) -> Value:
        return self._compare(">", other)

    def __ge__(self, other: Number) -> Value:
        return self._compare(">=", other)

    def equals(self, other: Number) -> Value:
        return self._compare("==", other)

    def differs(self, other: Number) -> Value:
        if self.whole:
            return self._compare("!=", other)
        return Value(self.b, self.b.fcmp_unordered("!=", self.v, self(other).v))

    def is_nan(self) -> Value:
        return Value(self.b, self.b.fcmp_unordered("uno", self.v, self.v))

    # --- functions that processors have -----------------------------------------------------------
    def _call(self, name: str, *others: Number) -> Value:
        values = [self.v, *[self(x).v for x in others]]
        t = self.v.type
        count = f"v{t.count}" if isinstance(t, ir.VectorType) else ""
        name = f"{name}.{count}f{32 if self.single else 64}"
        function = self.b.module.globals.get(name)
        if function is None:
            function = ir.Function(self.b.module, ir.FunctionType(t, [t] * len(values)), name)
        return Value(self.b, self.b.call(function, values))

    def fma(self, factor: Number, addend: Number) -> Value:
        """self * factor + addend, rounded once."""
        return self._call("llvm.fma", factor, addend)

    def abs(self) -> Value:
        return self._call("llvm.fabs")

    def sqrt(self) -> Value:
        return self._call("llvm.sqrt")

    def floor(self) -> Value:
        return self._call("llvm.floor")

    def with_sign_of(self, other: Number) -> Value:
        return self._call("llvm.copysign", other)

    def at_most(self, bound: Number) -> Value:
        """The smaller one; NaN stays."""
        return where(self > bound, self(bound), self)

    def at_least(self, bound: Number) -> Value:
        return where(self < bound, self(bound), self)

    # --- conversions ------------------------------------------------------------------------------
    def as_double(self) -> Value:
        return Value(self.b, self.b.fpext(self.v, self.type_of(ir.DoubleType())))

    def as_float(self) -> Value:
        return Value(self.b, self.b.fptrunc(self.v, self.type_of(ir.FloatType())))

    def whole_as(self, other: Value) -> Value:
        """This integer as a float of the other's type."""
        return Value(self.b, self.b.sitofp(self.v, other.v.type))


def where(condition: Value, yes: Number, no: Number) -> Value:
    like = yes if isinstance(yes, Value) else no
    b = condition.b
    return Value(b, b.select(condition.v, like(yes).v, like(no).v))


def polynomial(x: Value, coefficients: Sequence[float], square: Value | None = None) -> Value:
    """c0 + c1 x + c2 x² + …, as two polynomials of x² side by side.

    That is one multiplication more than Horner's rule and half as long a chain of dependent ones.
    """
    if len(coefficients) < 5:
        return horner(x, coefficients)
    square = x * x if square is None else square
    odd = horner(square, coefficients[1::2])
    return odd.fma(x, horner(square, coefficients[0::2]))


def horner(x: Value, coefficients: Sequence[float]) -> Value:
    y = x(coefficients[-1])
    for c in coefficients[-2::-1]:
        y = y.fma(x, c)
    return y


def by_double(formula: Callable[..., Value]) -> Callable[..., Value]:
    """The formula, in float32 by way of float64 and so within 1 unit in the last place."""

    def compute(*operands: Value) -> Value:
        if not operands[0].single:
            return formula(*operands)
        return formula(*[x.as_double() for x in operands]).as_float()

    compute.__name__, compute.__doc__ = formula.__name__, formula.__doc__
    return compute


def emitting(formula: Callable[..., Value]) -> Callable[..., ir.Value]:
    """The function of a builder and LLVM's values that writes the formula."""

    def emit(b: ir.IRBuilder, *operands: ir.Value) -> ir.Value:
        return formula(*[Value(b, v) for v in operands]).v

    emit.__name__, emit.__doc__ = formula.__name__, formula.__doc__
    return emit


class _Shared(ir.Function):
    """A function of a module that is copied to where it is called, unless that is too often."""

    calls = 0


# Calls: 625 sines in a row take 3.1 s to compile as copies, and 0.2 s as calls. Either is as fast.
OFTEN = 100


def shared(b: ir.IRBuilder, name: str, emit: Callable[..., ir.Value], *args: ir.Value) -> ir.Value:
    """Call the function that computes what `emit` writes: one in a module for each type."""
    t, module = args[0].type, b.module
    short = f"{t.element}{t.count}" if isinstance(t, ir.VectorType) else str(t)
    full = f"gradtape.function.{name}.{short}"
    found = module.globals.get(full)
    if found is None:
        found = _Shared(module, ir.FunctionType(t, [x.type for x in args]), full)
        found.linkage = "internal"
        found.attributes.add("alwaysinline")
        inside = ir.IRBuilder(found.append_basic_block())
        inside.ret(emit(inside, *found.args))
    found.calls += 1
    if found.calls == OFTEN:
        found.attributes.discard("alwaysinline")
        found.attributes.add("noinline")
    return b.call(found, args)
