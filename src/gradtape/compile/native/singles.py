"""Equations that are no loop: products of matrices."""

from __future__ import annotations

import ctypes
from math import prod
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir

from ...ops import linear
from ..program import Equation, Var
from . import lanes
from .composites import InRange
from .layout import Layout
from .loops import INDEX, POINTER, number
from .nests import Single

PRODUCTS = {linear.matmul: (False, False), linear.matmul_nt: (False, True), linear.matmul_tn: (True, False)}
INT = ir.IntType(32)


def fits(equation: Equation, layouts: list[Layout]) -> bool:
    """Whether it is a product that can be computed where its operands lie."""
    if isinstance(equation.op, InRange):
        (layout,) = layouts
        kind = layout.root.dtype.kind
        room = 1 << (8 * layout.root.dtype.itemsize - (kind == "i"))
        return layout.contiguous and kind in "iu" and equation.op.size < room
    if equation.op not in PRODUCTS or equation.outputs[0].dtype.char not in "fd":
        return False
    if any(v.dtype != equation.outputs[0].dtype for v in equation.inputs):
        return False
    return all(_matrix(layout) for layout in layouts)


def _matrix(layout: Layout) -> bool:
    """Do rows or columns lie without gaps, so that BLAS can read it?"""
    if len(layout.shape) < 2:
        return False
    (m, n), (r, c) = layout.shape[-2:], layout.strides[-2:]
    return ((c == 1 or n == 1) and (r >= n or m == 1)) or ((r == 1 or m == 1) and (c >= m or n == 1))


def write(module: ir.Module, name: str, item: Single) -> tuple[ir.Function, list[Var]]:
    if isinstance(item.equation.op, InRange):
        return _check(module, name, item)
    equation = item.equation
    (value,) = equation.outputs
    a, c = item.reads
    roots = list(dict.fromkeys([a.root, c.root, value]))
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [POINTER] * len(roots)), name)
    function.linkage = "internal"
    pointer = dict(zip(roots, function.args, strict=True))
    b = ir.IRBuilder(function.append_basic_block())
    turn_a, turn_b = PRODUCTS[equation.op]
    m, n = value.shape[-2:]
    k = a.shape[-2] if turn_a else a.shape[-1]
    batch = value.shape[:-2]
    ta, lda = _turned(a, turn_a)
    tb, ldb = _turned(c, turn_b)
    letter = "s" if value.dtype.char == "f" else "d"
    kind = lanes.in_memory(value.dtype)
    gemm = _gemm(module, letter)
    for at in range(prod(batch)):
        index, rest = [], at
        for size in reversed(batch):
            index.append(rest % size)
            rest //= size
        index.reverse()
        places = [_at(b, pointer[x.root], x, index, kind) for x in (a, c)]
        out = b.gep(pointer[value], [number(at * m * n)], source_etype=kind)
        words = {"ta": ta, "tb": tb}
        _call(b, gemm, kind, (n, m, k), words, places[1], ldb, places[0], lda, out, n)
    b.ret_void()
    return function, roots


def _check(module: ir.Module, name: str, item: Single) -> tuple[ir.Function, list[Var]]:
    """A function that says whether all numbers are in range: as unsigned ones, below the size."""
    (layout,) = item.reads
    dtype = layout.root.dtype
    function = ir.Function(module, ir.FunctionType(ir.IntType(1), [POINTER]), name)
    function.linkage = "internal"
    before = function.append_basic_block()
    loop, after = function.append_basic_block(), function.append_basic_block()
    b = ir.IRBuilder(before)
    b.branch(loop)
    b.position_at_end(loop)
    kind = lanes.in_memory(dtype)
    i, sound = b.phi(INDEX), b.phi(ir.IntType(1))
    i.add_incoming(number(0), before)
    sound.add_incoming(ir.Constant(ir.IntType(1), 1), before)
    place = b.gep(function.args[0], [b.add(i, number(layout.offset))], source_etype=kind)
    value = b.load(place, typ=kind, align=dtype.itemsize)
    size = ir.Constant(kind, item.equation.op.size)
    still = b.and_(sound, b.icmp_unsigned("<", value, size))
    following = b.add(i, number(1))
    i.add_incoming(following, loop)
    sound.add_incoming(still, loop)
    b.cbranch(b.icmp_unsigned("<", following, number(prod(layout.shape))), loop, after)
    b.position_at_end(after)
    b.ret(still)
    return function, [layout.root]


def _turned(x: Layout, turn: bool) -> tuple[bool, int]:
    """Whether BLAS, which has columns where we have rows, must turn it; and its leading size."""
    (m, n), (r, c) = x.shape[-2:], x.strides[-2:]
    if (c == 1 or n == 1) and (r >= n or m == 1):
        return turn, max(r, n, 1) if m > 1 else n
    return not turn, max(c, m, 1) if n > 1 else m


def _at(b: ir.IRBuilder, pointer: Any, x: Layout, index: list[int], kind: Any) -> Any:
    lead = len(x.shape) - 2
    own = index[len(index) - lead :] if lead else []
    offset = x.offset + sum(
        (0 if size == 1 else i) * stride
        for i, size, stride in zip(own, x.shape[:lead], x.strides[:lead], strict=True)
    )
    return b.gep(pointer, [number(offset)], source_etype=kind)


def _gemm(module: ir.Module, letter: str) -> ir.Function:
    name = f"gradtape_{letter}gemm"
    found = module.globals.get(name)
    if found is None:
        found = ir.Function(module, ir.FunctionType(ir.VoidType(), [POINTER] * 13), name)
    return found


def _call(
    b: ir.IRBuilder, gemm: Any, kind: Any, sizes: tuple[int, int, int], turned: dict[str, bool],
    left: Any, ld_left: int, right: Any, ld_right: int, out: Any, ld_out: int,
) -> None:  # fmt: skip
    def told(value: Any) -> Any:
        room = b.alloca(value.type)
        b.store(value, room)
        return room

    letter = lambda t: told(ir.Constant(ir.IntType(8), ord("T" if t else "N")))
    whole = lambda n: told(ir.Constant(INT, n))
    n, m, k = sizes
    one, zero = told(ir.Constant(kind, 1.0)), told(ir.Constant(kind, 0.0))
    b.call(gemm, [
        letter(turned["tb"]), letter(turned["ta"]), whole(n), whole(m), whole(k), one,
        left, whole(ld_left), right, whole(ld_right), zero, out, whole(ld_out),
    ])  # fmt: skip


def symbols() -> None:
    from scipy.linalg import cython_blas

    for letter in "sd":
        capsule = cython_blas.__pyx_capi__[f"{letter}gemm"]
        ctypes.pythonapi.PyCapsule_GetName.restype = ctypes.c_char_p
        ctypes.pythonapi.PyCapsule_GetName.argtypes = (ctypes.py_object,)
        ctypes.pythonapi.PyCapsule_GetPointer.restype = ctypes.c_void_p
        ctypes.pythonapi.PyCapsule_GetPointer.argtypes = (ctypes.py_object, ctypes.c_char_p)
        name = ctypes.pythonapi.PyCapsule_GetName(capsule)
        llvm.add_symbol(
            f"gradtape_{letter}gemm", ctypes.pythonapi.PyCapsule_GetPointer(capsule, name)
        )
