"""Element-wise ops as instructions, on one number or on as many as a vector register holds."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir

from ...core.op import Op
from ...ops import index as index_ops
from ...ops import shape
from ..kernels import Kernel, ufunc_of, unless_zero
from ..program import Equation, Var
from . import functions
from .values import shared

BOOL = np.dtype(bool)
TYPES = {
    "f4": ir.FloatType(), "f8": ir.DoubleType(), "b1": ir.IntType(1), "i1": ir.IntType(8),
    "u1": ir.IntType(8), "i2": ir.IntType(16), "u2": ir.IntType(16), "i4": ir.IntType(32),
    "u4": ir.IntType(32), "i8": ir.IntType(64), "u8": ir.IntType(64),
}  # fmt: skip


@cache
def known(dtype: np.dtype | None) -> bool:
    """Whether there are registers for such numbers."""
    return dtype is not None and dtype.isnative and dtype.str[1:] in TYPES


def in_register(dtype: np.dtype, width: int) -> Any:
    kind = TYPES[dtype.str[1:]]
    return kind if width == 1 else ir.VectorType(kind, width)


def in_memory(dtype: np.dtype) -> Any:
    return ir.IntType(8) if dtype == BOOL else TYPES[dtype.str[1:]]


def constant(number: Any, dtype: np.dtype, width: int) -> Any:
    """A number in all lanes."""
    value = number.item() if isinstance(number, (np.ndarray, np.generic)) else number
    kind = TYPES[dtype.str[1:]]
    if dtype.kind != "f":
        value = int(value)
    one = ir.Constant(kind, value)
    return one if width == 1 else ir.Constant(ir.VectorType(kind, width), [one] * width)


def spread(b: ir.IRBuilder, value: Any, width: int) -> Any:
    """One number in all lanes."""
    if width == 1:
        return value
    kind = ir.VectorType(value.type, width)
    first = b.insert_element(ir.Constant(kind, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), width), [0] * width)
    return b.shuffle_vector(first, ir.Constant(kind, ir.Undefined), zeros)


def width_of(value: Any) -> int:
    return value.type.count if isinstance(value.type, ir.VectorType) else 1


def cast(b: ir.IRBuilder, value: Any, old: np.dtype, new: np.dtype) -> Any:
    """A number of another dtype, as NumPy's `astype`."""
    if old == new:
        return value
    width = width_of(value)
    kind = in_register(new, width)
    if new == BOOL:
        zero = constant(0, old, width)
        if old.kind == "f":
            return b.fcmp_unordered("!=", value, zero)
        return b.icmp_signed("!=", value, zero)
    if old.kind == "f":
        if new.kind == "f":
            return b.fpext(value, kind) if new.itemsize > old.itemsize else b.fptrunc(value, kind)
        return _whole(b, value, old, new, width)
    if new.kind == "f":
        return b.sitofp(value, kind) if old.kind == "i" else b.uitofp(value, kind)
    if old == BOOL or (old.kind == "u" and new.itemsize > old.itemsize):
        return b.zext(value, kind)
    if new.itemsize > old.itemsize:
        return b.sext(value, kind)
    return b.trunc(value, kind) if new.itemsize < old.itemsize else value


def _whole(b: ir.IRBuilder, value: Any, old: np.dtype, new: np.dtype, width: int) -> Any:
    """A number without its fraction; beyond the range of the integer, what NumPy makes of it."""
    least, zero = constant(float(np.iinfo(new).min), old, width), constant(0, old, width)
    inside = b.and_(b.fcmp_ordered(">=", value, least), b.fcmp_ordered("<", value, b.fneg(least)))
    found = b.fptosi(b.select(inside, value, zero), in_register(new, width))
    return b.select(inside, found, constant(_beyond(old, new), new, width))


@cache
def _beyond(old: np.dtype, new: np.dtype) -> int | None:
    """What NumPy makes of all numbers that an integer cannot hold, NaN too; None if it depends, as
    it does on other processors than Intel's and AMD's."""
    with np.errstate(invalid="ignore"):
        found = np.array([np.nan, np.inf, -np.inf, 3e38, -3e38], old).astype(new)
    return int(found[0]) if (found == found[0]).all() else None


def castable(old: np.dtype, new: np.dtype) -> bool:
    """Floats beyond an integer's range become what the machine makes of them: that is NumPy's."""
    if not known(old) or not known(new):
        return False
    if old.kind != "f" or new.kind not in "iu":
        return True
    return new.kind == "i" and new.itemsize >= 4 and _beyond(old, new) is not None


# --- ops ------------------------------------------------------------------------------------------
Emit = Callable[..., Any]  # of the builder, the dtype of the operands, and the operands


def _either(floating: str, signed: str) -> Emit:
    def emit(b: ir.IRBuilder, dtype: np.dtype, *args: Any) -> Any:
        return getattr(b, floating if dtype.kind == "f" else signed)(*args)

    return emit


def _compare(sign: str) -> Emit:
    def emit(b: ir.IRBuilder, dtype: np.dtype, x: Any, y: Any) -> Any:
        if dtype.kind == "f":
            compare = b.fcmp_unordered if sign == "!=" else b.fcmp_ordered
            return compare(sign, x, y)
        return (b.icmp_signed if dtype.kind == "i" else b.icmp_unsigned)(sign, x, y)

    return emit


def mangled(kind: Any) -> str:
    """A type as the names of LLVM's functions have it: `v8f32`."""
    if isinstance(kind, ir.VectorType):
        return f"v{kind.count}{mangled(kind.element)}"
    if isinstance(kind, ir.IntType):
        return f"i{kind.width}"
    return "f32" if isinstance(kind, ir.FloatType) else "f64"


def intrinsic(b: ir.IRBuilder, name: str, *args: Any) -> Any:
    """A function that LLVM knows, on numbers or vectors of them."""
    kind = args[0].type
    full = f"llvm.{name}.{mangled(kind)}"
    module = b.module
    found = module.globals.get(full)
    if found is None:
        found = ir.Function(module, ir.FunctionType(kind, [a.type for a in args]), full)
    return b.call(found, args)


def _largest(sign: str, name: str) -> Emit:
    def emit(b: ir.IRBuilder, dtype: np.dtype, x: Any, y: Any) -> Any:
        if dtype.kind != "f":
            compare = b.icmp_signed if dtype.kind == "i" else b.icmp_unsigned
            return b.select(compare(sign, x, y), x, y)
        # The first where it is greater or no number, as NumPy: two instructions.
        better = b.fcmp_ordered(sign, x, y)
        return b.select(b.or_(better, b.fcmp_unordered("uno", x, x)), x, y)

    return emit


def _abs(b: ir.IRBuilder, dtype: np.dtype, x: Any) -> Any:
    if dtype.kind == "f":
        return intrinsic(b, "fabs", x)
    return b.select(b.icmp_signed("<", x, ir.Constant(x.type, None)), b.neg(x), x)


def _sign(b: ir.IRBuilder, dtype: np.dtype, x: Any) -> Any:
    width = width_of(x)
    zero, one, less = (constant(n, dtype, width) for n in (0, 1, -1))
    if dtype.kind != "f":
        down = b.select(b.icmp_signed("<", x, zero), less, zero)
        return b.select(b.icmp_signed(">", x, zero), one, down)
    signed = intrinsic(b, "copysign", one, x)
    ends = b.fcmp_unordered("ueq", x, zero)  # 0 and NaN are themselves
    return b.select(ends, x, signed)


def _not(b: ir.IRBuilder, dtype: np.dtype, x: Any) -> Any:
    return b.xor(x, constant(1, BOOL, width_of(x)))


def _rounding(name: str) -> Emit:
    return lambda b, dtype, x: intrinsic(b, name, x)


# By the name of NumPy's function, with the kinds of operands that they are right for.
UFUNCS: dict[str, tuple[Emit, str]] = {
    "add": (_either("fadd", "add"), "fiu"),
    "subtract": (_either("fsub", "sub"), "fiu"),
    "multiply": (_either("fmul", "mul"), "fiu"),
    "divide": (_either("fdiv", ""), "f"),
    "negative": (_either("fneg", "neg"), "fi"),
    "square": (lambda b, d, x: b.fmul(x, x) if d.kind == "f" else b.mul(x, x), "fiu"),
    "reciprocal": (lambda b, d, x: b.fdiv(constant(1, d, width_of(x)), x), "f"),
    "absolute": (_abs, "fi"),
    "sign": (_sign, "fi"),
    "sqrt": (_rounding("sqrt"), "f"),
    "floor": (_rounding("floor"), "f"),
    "ceil": (_rounding("ceil"), "f"),
    "rint": (_rounding("nearbyint"), "f"),
    "maximum": (_largest(">", "maximum"), "fiu"),
    "minimum": (_largest("<", "minimum"), "fiu"),
    "equal": (_compare("=="), "fiub"),
    "not_equal": (_compare("!="), "fiub"),
    "greater": (_compare(">"), "fiu"),
    "greater_equal": (_compare(">="), "fiu"),
    "less": (_compare("<"), "fiu"),
    "less_equal": (_compare("<="), "fiu"),
    "logical_and": (lambda b, d, x, y: b.and_(x, y), "b"),
    "logical_or": (lambda b, d, x, y: b.or_(x, y), "b"),
    "logical_xor": (lambda b, d, x, y: b.xor(x, y), "b"),
    "logical_not": (_not, "b"),
    "bitwise_and": (lambda b, d, x, y: b.and_(x, y), "iub"),
    "bitwise_or": (lambda b, d, x, y: b.or_(x, y), "iub"),
    "bitwise_xor": (lambda b, d, x, y: b.xor(x, y), "iub"),
    "isnan": (lambda b, d, x: b.fcmp_unordered("uno", x, x), "f"),
}


# --- equations ------------------------------------------------------------------------------------
@cache
def _loop(ufunc: Any, dtypes: tuple[np.dtype, ...]) -> tuple[np.dtype, ...] | None:
    """The dtypes that NumPy computes with, and that of the result."""
    try:
        return ufunc.resolve_dtypes((*dtypes, *(None,) * ufunc.nout))
    except TypeError:
        return None


def _unless_zero(b: ir.IRBuilder, equation: Equation, x: Any, y: Any) -> Any:
    (dtype,) = (v.dtype for v in equation.outputs)
    zero = constant(0, dtype, width_of(x))
    return b.select(b.fcmp_ordered("==", x, zero), zero, y)


# Of whole numbers by a positive one.
remainder = Kernel("remainder", np.mod, lambda a, b: a)


def _remainder(b: ir.IRBuilder, equation: Equation, x: Any, y: Any) -> Any:
    if equation.outputs[0].dtype.kind == "u":
        return b.urem(x, y)
    rest = b.srem(x, y)
    return b.select(b.icmp_signed("<", rest, ir.Constant(rest.type, None)), b.add(rest, y), rest)


def _select(b: ir.IRBuilder, equation: Equation, c: Any, x: Any, y: Any) -> Any:
    return b.select(c, x, y)


def _cast(b: ir.IRBuilder, equation: Equation, x: Any) -> Any:
    return cast(b, x, equation.inputs[0].dtype, equation.outputs[0].dtype)


def _bits(b: ir.IRBuilder, equation: Equation, x: Any) -> Any:
    return b.bitcast(x, in_register(equation.outputs[0].dtype, width_of(x)))


def _itself(b: ir.IRBuilder, equation: Equation, x: Any) -> Any:
    return x


def _function(name: str) -> Callable[..., Any]:
    return lambda b, equation, *args: shared(b, name, FUNCTIONS[name], *args)


FUNCTIONS = {**functions.UNARY, **functions.BINARY}  # by the names of ops


def emitter(equation: Equation) -> Callable[..., Any] | None:
    """What emits an element-wise equation for given operands; None if there is nothing."""
    op, values = equation.op, (*equation.inputs, *equation.outputs)
    if not all(known(v.dtype) for v in values):
        return None
    if op is shape.cast:
        return _cast if castable(values[0].dtype, values[-1].dtype) else None
    if op is shape.bitcast:
        plain = equation.params["parts"] == 1 and BOOL not in [v.dtype for v in values]
        return _bits if plain and values[0].dtype.itemsize == values[-1].dtype.itemsize else None
    if op is index_ops.select:
        return _select if values[1].dtype == values[2].dtype == values[3].dtype else None
    if op is shape.identity:
        return _itself
    if op is remainder:
        return _remainder
    same = all(v.dtype == values[-1].dtype and v.dtype.kind == "f" for v in values)
    if op is unless_zero:
        return _unless_zero if same else None
    if equation.params or not isinstance(op, Op) or not op.broadcasts:
        return None
    if op.name in FUNCTIONS:
        return _function(op.name) if same else None
    ufunc = ufunc_of(op)
    found = UFUNCS.get(getattr(ufunc, "__name__", ""))
    if found is None:
        return None
    return _by_ufunc(ufunc, found, equation.inputs, equation.outputs[0])


def _by_ufunc(
    ufunc: Any, found: tuple[Emit, str], inputs: tuple[Var, ...], output: Var
) -> Callable[..., Any] | None:
    emit, kinds = found
    dtypes = tuple(v.dtype for v in inputs)
    loop = _loop(ufunc, dtypes) if ufunc.nin == len(dtypes) else None
    if loop is None or loop[-1] != output.dtype or loop[0].kind not in kinds:
        return None
    if not all(known(d) for d in loop) or len({*loop[:-1]}) != 1:
        return None
    wanted = loop[0]
    if not all(castable(d, wanted) for d in dtypes):
        return None

    def emitted(b: ir.IRBuilder, equation: Equation, *args: Any) -> Any:
        casts = [cast(b, x, d, wanted) for x, d in zip(args, dtypes, strict=True)]
        return emit(b, wanted, *casts)

    return emitted
