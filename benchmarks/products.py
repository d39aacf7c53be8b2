"""Times the compiled matrix products beside OpenBLAS on one core: GFLOP/s by size and layout.

    python benchmarks/products.py                     # the sizes of the workloads
    python benchmarks/products.py 32x64x64:NT 7x9x200:TN:f8

`gemm` is SciPy's OpenBLAS, called as our kernels are, from machine code; `matmul` is NumPy's, by
`np.matmul(out=)` from Python. Processor time counts, the best of many rounds in turn.
"""

import argparse
import ctypes
import os
import sys
import time

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # read when NumPy and SciPy are imported

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from scipy.linalg import cython_blas

from gradtape.compile.native import machine, planning, products
from gradtape.compile.native.emitting import I64, KINDS, POINTER, Emitter

SIZES = {
    "4-64-64-2, batch 32": "32x64x4 32x64x64 32x2x64 32x64x2:NT 32x64x64:NT "
    "64x2x32:TN 64x64x32:TN 4x64x32:TN",
    "784-256-256-10, batch 128": "128x256x784 128x256x256 128x10x256 128x256x10:NT "
    "128x256x256:NT 256x10x128:TN 256x256x128:TN 784x256x128:TN",
    "width 1024, batch 512": "512x1024x1024 512x1024x1024:NT 1024x1024x512:TN",
    "an LSTM of 64 units, batch 32": "32x256x64 32x64x256:NT 64x256x32:TN 64x256x1600:TN",
    "attention, heads of 32": "64x64x32:NT 64x32x64 64x32x64:TN",
    "a tanh network, 1,000 points": "1000x50x50 1000x50x50:NT 50x50x1000:TN "
    "1000x1x50 1000x50x1:NT 50x1x1000:TN",
    "few rows": "8x64x64 8x64x64:NT 64x64x8:TN 1x64x64 1x64x64:NT 64x1x64 64x1x64:TN",
    "odd": "17x33x65 100x100x100 129x127x131:NT 30x30x30:TN",
    "large": "2048x2048x2048 512x512x512:TT",
    "float64": "32x64x64:NN:f8 32x64x64:NT:f8 64x64x32:TN:f8 128x256x256:NN:f8 512x512x512:TT:f8",
}
CALL = [*[ctypes.c_void_p] * 3, ctypes.c_int64, ctypes.c_int64, *[ctypes.c_void_p] * 2]


def repeated(module, name, count, body):
    """A function of the operands and a number that repeats a body so often."""
    kind = ir.FunctionType(ir.VoidType(), [POINTER] * 3 + [I64, I64, POINTER, POINTER, I64])
    function = ir.Function(module, kind, name)
    e = Emitter(ir.IRBuilder(function.append_basic_block()), "f4", count)
    with e.each(0, function.args[7]):
        body(e, function.args)
    e.b.ret_void()


def blas(name):
    """Let LLVM find a function of SciPy's BLAS."""
    capsule = cython_blas.__pyx_capi__[name]
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype, api.PyCapsule_GetName.argtypes = (
        ctypes.c_char_p,
        [ctypes.py_object],
    )
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    address = api.PyCapsule_GetPointer(capsule, api.PyCapsule_GetName(capsule))
    llvm.add_symbol(f"bench_{name}", address)


def calls_blas(module, p, layout):
    """C' = B' A', as Fortran sees rows."""
    name = {"f4": "sgemm", "f8": "dgemm"}[p.dtype]
    blas(name)
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [POINTER] * 13), f"bench_{name}")
    kinds = {int: ir.IntType(32), str: ir.IntType(8), float: KINDS[p.dtype]}

    def held(value):
        kind = kinds[type(value)]
        found = ir.GlobalVariable(module, kind, f"held{len(module.globals)}")
        found.initializer = ir.Constant(kind, ord(value) if isinstance(value, str) else value)
        found.type = POINTER
        return found

    letters = [held(letter) for letter in reversed(layout)]
    lda, ldb = (s[letter == "T"] for s, letter in zip((p.a, p.b), layout, strict=True))
    numbers = [held(n) for n in (p.n, p.m, p.k)]
    one, zero, ldb, lda, ldc = held(1.0), held(0.0), held(ldb), held(lda), held(p.c[0])

    def body(e, args):
        a, b, c = args[:3]
        e.b.call(function, [*letters, *numbers, one, b, ldb, a, lda, zero, c, ldc])

    repeated(module, "blas", 1, body)


def measure(m, n, k, layout, dtype, seconds):
    """Best times of ours, sgemm and matmul, the time to compile, and the kernel."""
    rng = np.random.default_rng(0)
    a = rng.standard_normal((m, k) if layout[0] == "N" else (k, m)).astype(dtype)
    b = rng.standard_normal((k, n) if layout[1] == "N" else (n, k)).astype(dtype)
    c = np.zeros((m, n), dtype)
    strides = (k, 1) if layout[0] == "N" else (1, m), (n, 1) if layout[1] == "N" else (1, k)
    p = products.Product(m, n, k, dtype, *strides, (n, 1))

    begin = time.thread_time()
    module = ir.Module()
    function = products.emit(module, "product", p)
    code = machine.host().assemble(module, passes=False)
    compiling = time.thread_time() - begin

    loops = ir.Module()
    outside = ir.Function(loops, function.function_type, "product")
    repeated(loops, "ours", 1, lambda e, args: e.b.call(outside, args[:7]))
    calls_blas(loops, p, layout)
    code = machine.Code(code, machine.host().assemble(loops))
    ours, theirs = (
        ctypes.CFUNCTYPE(None, *CALL, ctypes.c_int64)(code.address(name))
        for name in ("ours", "blas")
    )
    room = np.zeros(products.scratch(p) + 64, np.uint8)
    start = room.ctypes.data + -room.ctypes.data % 64
    args = a.ctypes.data, b.ctypes.data, c.ctypes.data, 0, m, start, None
    x, y = (v if t == "N" else v.T for v, t in zip((a, b), layout, strict=True))
    repeats = max(1, int(5e6 / (m * n * k)))

    def matmul(*_):
        for _ in range(repeats):
            np.matmul(x, y, out=c)

    runs = [ours, theirs, matmul]
    best = [float("inf")] * 3
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        for i, run in enumerate(runs):
            begin = time.thread_time()
            run(*args, repeats)
            best[i] = min(best[i], (time.thread_time() - begin) / repeats)
    return best, compiling, planning.plan(p)


def report(size, seconds):
    """A line of the table."""
    shape, layout, dtype = (size.split(":") + ["NN", "f4"][size.count(":") :])[:3]
    m, n, k = map(int, shape.split("x"))
    best, compiling, plan = measure(m, n, k, layout, dtype, seconds)
    ours, blas, numpy = (2e-9 * m * n * k / t for t in best)
    packs = "".join(name for name, on in (("A", plan.packs_a), ("B", plan.packs_b)) if on)
    rates = "".join(f"{r:8.1f}" for r in (ours, blas, numpy))
    ratios = "".join(f"{r:8.2f}" for r in (ours / blas, ours / numpy))
    kernel = f"{plan.form} {plan.rows}x{plan.columns} {packs}"
    print(
        f"{shape:15} {layout} {dtype}{rates}{ratios}{compiling * 1e3:6.0f} ms  {kernel}", flush=True
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sizes", nargs="*", help="MxNxK[:LAYOUT[:f8]]")
    parser.add_argument("--seconds", type=float, default=0.5)
    options = parser.parse_args()
    titles = "".join(f"{t:>8}" for t in ("ours", "gemm", "matmul", "/gemm", "/matmul"))
    print(f"{'m x n x k':21}{titles}  compiled in")
    for title, sizes in ({"": " ".join(options.sizes)} if options.sizes else SIZES).items():
        print(title)
        for size in sizes.split():
            report(size, options.seconds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
