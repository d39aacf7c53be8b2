"""A function of `compile/native` as a loop over arrays, in machine code of this computer."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir

ELEMENTS = {np.dtype(np.float32): ir.FloatType(), np.dtype(np.float64): ir.DoubleType()}


def target() -> llvm.TargetMachine:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    triple = llvm.Target.from_triple(llvm.get_process_triple())
    features = llvm.get_host_cpu_features().flatten()
    return triple.create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=features, opt=3, jit=True
    )


def compiled(module: ir.Module, show: bool = False) -> Any:
    """The engine that holds the module's machine code."""
    machine = target()
    parsed = llvm.parse_assembly(str(module))
    parsed.verify()
    tuning = llvm.create_pipeline_tuning_options(speed_level=3)
    tuning.loop_vectorization = tuning.slp_vectorization = False
    tuning.loop_unrolling = False
    builder = llvm.create_pass_builder(machine, tuning)
    builder.getModulePassManager().run(parsed, builder)
    if show:
        print(machine.emit_assembly(parsed))
    return llvm.create_mcjit_compiler(parsed, machine)


def looped(
    emit: Callable[..., ir.Value], count: int, dtype: Any, width: int, show: bool = False
) -> Callable[..., Any]:
    """`f(*arrays, out)` for arrays of one axis, of a multiple of `width` elements."""
    element = ELEMENTS[np.dtype(dtype)]
    vector = element if width == 1 else ir.VectorType(element, width)
    module = ir.Module()
    module.triple = llvm.get_process_triple()
    signature = ir.FunctionType(
        ir.VoidType(), [ir.IntType(64)] + [element.as_pointer()] * (count + 1)
    )
    function = ir.Function(module, signature, "f")
    entry, body, end = (function.append_basic_block(name) for name in ("entry", "body", "end"))
    n, *pointers = function.args
    ir.IRBuilder(entry).branch(body)
    b = ir.IRBuilder(body)
    i = b.phi(n.type)
    i.add_incoming(ir.Constant(n.type, 0), entry)
    places = [b.bitcast(b.gep(p, [i]), vector.as_pointer()) for p in pointers]
    align = np.dtype(dtype).itemsize
    operands = [b.load(p, align=align) for p in places[:-1]]
    b.store(emit(b, *operands), places[-1], align=align)
    following = b.add(i, ir.Constant(n.type, width))
    i.add_incoming(following, b.block)
    b.cbranch(b.icmp_unsigned("<", following, n), body, end)
    ir.IRBuilder(end).ret_void()
    engine = compiled(module, show)
    call = ctypes.CFUNCTYPE(None, ctypes.c_int64, *[ctypes.c_void_p] * (count + 1))(
        engine.get_function_address("f")
    )

    def run(*arrays: Any, out: Any = None) -> Any:
        arrays = tuple(np.ascontiguousarray(a, dtype) for a in arrays)
        out = np.empty_like(arrays[0]) if out is None else out
        if out.size:
            call(out.size, *[a.ctypes.data for a in (*arrays, out)])
        return out

    run.engine, run.call = engine, call  # type: ignore[attr-defined]
    return run


EXTENDED = np.finfo(np.longdouble).nmant == 63  # x86's 80 bits


class Extended(ir.Type):
    def _to_string(self) -> str:
        return "x86_fp80"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Extended)

    def __hash__(self) -> int:
        return hash(Extended)


def in_80_bits(name: str) -> Callable[[Any], Any]:
    """One of the C library's functions of long double that NumPy does not have: erfl, erfcl."""
    module, element = ir.Module(), Extended()
    library = ir.Function(module, ir.FunctionType(element, [element]), name)
    pointer = ir.PointerType(element)
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [pointer, pointer]), "f")
    b = ir.IRBuilder(function.append_basic_block())
    given, result = function.args
    b.store(b.call(library, [b.load(given, align=16)]), result, align=16)
    b.ret_void()
    engine = compiled(module)
    call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(
        engine.get_function_address("f")
    )

    def run(x: Any) -> Any:
        x = np.ascontiguousarray(x, np.longdouble)
        y = np.empty_like(x)
        start, end = x.ctypes.data, y.ctypes.data
        for place in range(0, x.nbytes, x.itemsize):
            call(start + place, end + place)
        return y

    run.engine = engine  # type: ignore[attr-defined]
    return run
