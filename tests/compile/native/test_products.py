"""Products as machine code beside NumPy's: every form, layout and edge."""

from __future__ import annotations

import ctypes
import mmap
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("llvmlite")

from llvmlite import ir

from gradtape.compile.native import machine, planning, products
from gradtape.compile.native.planning import Product

SIGNATURE = ctypes.CFUNCTYPE(
    None, *[ctypes.c_void_p] * 3, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p
)
CLOSE = {"f4": 1e-5, "f8": 1e-13}


def fenced(count, dtype):
    """Numbers of which the page behind the last one must not be touched."""
    size = max(count, 1) * np.dtype(dtype).itemsize
    pages = -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
    memory = mmap.mmap(-1, pages + mmap.PAGESIZE)
    whole = np.frombuffer(memory, np.uint8)
    protect = ctypes.CDLL(None).mprotect
    assert protect(ctypes.c_void_p(whole.ctypes.data + pages), mmap.PAGESIZE, 0) == 0
    found = whole[pages - size : pages].view(dtype)
    found[:] = np.nan
    return found


def matrix(rng, rows, columns, turned, gap, dtype):
    """A matrix at the end of its memory, and its strides."""
    outer, inner = (columns, rows) if turned else (rows, columns)
    step = inner + gap
    memory = fenced((outer - 1) * step + inner, dtype)
    strides = np.array((step, 1)) * memory.itemsize
    held = np.lib.stride_tricks.as_strided(memory, (outer, inner), strides)
    held[:] = rng.standard_normal((outer, inner))
    return (held.T, (1, step)) if turned else (held, (step, 1))


@lru_cache(maxsize=1)
def compiled(product, plan, epilogue):
    module = ir.Module()
    products.write(module, "product", product, plan, epilogue)
    return machine.compile(module, passes=False)


class Case:
    """A product with its operands."""

    def __init__(
        self, m, n, k, layout="NN", dtype="f4", alpha=1.0, add=False, gaps=(0, 0, 0), seed=0
    ):
        rng = np.random.default_rng(seed)
        self.a, a = matrix(rng, m, k, layout[0] == "T", gaps[0], dtype)
        self.b, b = matrix(rng, k, n, layout[1] == "T", gaps[1], dtype)
        self.c, c = matrix(rng, m, n, False, gaps[2], dtype)
        self.product = Product(m, n, k, dtype, a, b, c, alpha, add)

    def expected(self):
        p = self.product
        with np.errstate(all="ignore"):
            product = p.alpha * (self.a.astype("f8") @ self.b.astype("f8"))
        return product + self.c if p.add else product

    def bound(self):
        """What rounding may amount to."""
        p = self.product
        size = abs(p.alpha) * (np.abs(self.a).astype("f8") @ np.abs(self.b).astype("f8"))
        return CLOSE[p.dtype] * (size + np.abs(self.c) + 1e-30)

    def run(self, plan=None, epilogue=None, cuts=(), extra=None):
        """C after a call for each share of the rows."""
        p = self.product
        plan = plan or planning.plan(p)
        code = compiled(p, plan, epilogue)
        call = SIGNATURE(code.address("product"))
        room = fenced(plan.scratch(p) // p.itemsize, p.dtype)
        before = self.c.copy()
        a, b, c = (x.ctypes.data for x in (self.a, self.b, self.c))
        rows = [0, *sorted(cuts), p.m]
        for first, last in pairwise(rows):
            call(a, b, c, first, last, room.ctypes.data, extra)
        found = self.c.copy()
        self.c[:] = before
        return found

    def check(self, found, expected=None):
        expected = self.expected() if expected is None else expected
        assert np.all(np.abs(found - expected) <= self.bound()), self.product


sizes = st.integers(1, 70)
layouts = st.sampled_from(["NN", "NT", "TN", "TT"])
dtypes = st.sampled_from(["f4", "f8"])
gaps = st.tuples(*[st.sampled_from([0, 0, 3])] * 3)
alphas = st.sampled_from([1.0, -0.01, 2.5])


@settings(max_examples=80, deadline=None, derandomize=True)
@given(sizes, sizes, sizes, layouts, dtypes, alphas, st.booleans(), gaps, st.data())
def test_any_product_by_any_kernel_in_any_shares(m, n, k, layout, dtype, alpha, add, gaps, data):
    case = Case(m, n, k, layout, dtype, alpha, add, gaps)
    plan = data.draw(st.sampled_from([planning.plan(case.product), *every_plan(case.product)]))
    whole = case.run(plan)
    case.check(whole)
    cuts = data.draw(st.lists(st.integers(0, m), max_size=3))
    np.testing.assert_array_equal(case.run(plan, cuts=cuts), whole)


def every_plan(p):
    """Kernels that `plan` could choose for larger products of this layout, too."""
    found = []
    here = machine.host().lanes(p.itemsize), machine.host().registers
    for plan in planning.candidates(p, *here):
        found.append(plan)
        if plan.form == "panels":
            depth = max(p.k // 3, 1)
            found.append(replace(plan, packs_b=True))
            found.append(replace(plan, packs_b=True, group=3))
            found.append(replace(plan, depth=depth))
            found.append(replace(plan, packs_a=True))
            found.append(replace(plan, packs_a=True, packs_b=True, depth=depth))
    return found


@pytest.mark.parametrize("layout", ["NN", "NT", "TN", "TT"])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize(
    "size", [(1, 300, 257), (300, 1, 129), (131, 257, 1), (129, 77, 401), (301, 523, 263)]
)
def test_larger_products(size, layout, dtype):
    case = Case(*size, layout, dtype)
    whole = case.run()
    case.check(whole)
    np.testing.assert_array_equal(case.run(cuts=[size[0] // 3, size[0] // 2]), whole)


@pytest.mark.parametrize("layout", ["NN", "TN"])
def test_more_than_the_second_cache_holds(layout):
    case = Case(1300, 530, 850, layout)
    case.check(case.run())


@pytest.mark.parametrize("size", [(33, 64, 64), (20, 3, 40), (9, 37, 5), (50, 50, 200)])
@pytest.mark.parametrize("layout", ["NN", "NT", "TN"])
@pytest.mark.parametrize("add", [False, True])
def test_epilogues_see_each_number_once(size, layout, add):
    """`values + bias[column]`, and how often each row was asked for."""
    case = Case(*size, layout, add=add, alpha=-0.5)
    m, n, _ = size
    bias, seen = np.linspace(-1, 1, n, dtype="f4"), np.zeros((m, n), "f4")
    extra = (ctypes.c_void_p * 2)(bias.ctypes.data, seen.ctypes.data)

    def epilogue(b, values, row, column):
        pointers = b.function.args[6]
        kind, real = values.type, ir.FloatType()
        second = b.gep(pointers, [ir.Constant(products.I64, 1)], source_etype=products.POINTER)
        biases, counts = (b.load(p, typ=products.POINTER) for p in (pointers, second))
        at = b.gep(biases, [column], source_etype=real)
        offset = b.add(b.mul(row, ir.Constant(products.I64, n)), column)
        count = b.gep(counts, [offset], source_etype=real)
        one = ir.Constant(kind, [1.0] * kind.count if hasattr(kind, "count") else 1.0)
        b.store(b.fadd(b.load(count, typ=kind, align=4), one), count, align=4)
        return b.fadd(values, b.load(at, typ=kind, align=4))

    found = case.run(epilogue=epilogue, cuts=[m // 2], extra=ctypes.addressof(extra))
    np.testing.assert_array_equal(seen, 1)
    np.testing.assert_allclose(found, case.expected() + bias, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("layout", ["NN", "NT", "TN", "TT"])
@pytest.mark.parametrize("size", [(7, 5, 19), (13, 2, 40), (30, 33, 64)])
def test_what_is_no_number_stays_in_its_row_and_column(size, layout):
    case = Case(*size, layout)
    case.a[1, 2], case.a[3, 4], case.b[0, 1] = np.nan, np.inf, -np.inf
    with np.errstate(invalid="ignore"):
        expected = case.a @ case.b
    found = case.run()
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    np.testing.assert_array_equal(found[np.isinf(expected)], expected[np.isinf(expected)])
    finite = np.isfinite(expected)
    np.testing.assert_allclose(found[finite], expected[finite], rtol=1e-4, atol=1e-5)


def test_nothing_to_sum_up_is_zero():
    case = Case(5, 9, 0)
    np.testing.assert_array_equal(case.run(), 0)
    case = Case(5, 9, 0, add=True)
    np.testing.assert_array_equal(case.run(), case.c)


@pytest.mark.parametrize(("m", "n"), [(0, 5), (5, 0), (0, 0)])
def test_nothing_to_compute(m, n):
    product = Product(m, n, 4, "f4", (4, 1), (max(n, 1), 1), (max(n, 1), 1))
    assert products.scratch(product) == 0
    call = SIGNATURE(compiled(product, planning.plan(product), None).address("product"))
    call(None, None, None, 0, m, None, None)


def test_operands_with_gaps_both_ways():
    rng = np.random.default_rng(0)
    a = rng.standard_normal((30, 80)).astype("f4")[::2, ::3]
    b = rng.standard_normal((54, 90)).astype("f4")[::2, ::4]
    c = np.zeros((15, 23), "f4")
    product = Product(15, 23, 27, "f4", (160, 3), (180, 4), (23, 1))
    call = SIGNATURE(compiled(product, planning.plan(product), None).address("product"))
    room = fenced(products.scratch(product) // 4, "f4")
    a_, b_, c_, room_ = (x.ctypes.data for x in (a, b, c, room))
    call(a_, b_, c_, 0, 15, room_, None)
    np.testing.assert_allclose(c, a @ b, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("wide", "registers"), [(16, 16), (16, 32), (64, 32)])
@pytest.mark.parametrize("size", [(33, 70, 40), (40, 3, 70), (5, 9, 2)])
@pytest.mark.parametrize("layout", ["NN", "NT", "TN"])
def test_vectors_of_other_processors(wide, registers, size, layout, monkeypatch):
    monkeypatch.setattr(machine.host(), "vector_bytes", wide)
    monkeypatch.setattr(machine.host(), "registers", registers)
    case = Case(*size, layout)
    case.check(case.run())


def test_passes_change_no_bit():
    case = Case(33, 70, 50, "TN")
    alone = case.run()
    function = products.write(
        ir.Module(), "product", case.product, planning.plan(case.product), None
    )
    code = machine.compile(function.module)
    room = fenced(products.scratch(case.product) // 4, "f4")
    a, b, c = (x.ctypes.data for x in (case.a, case.b, case.c))
    SIGNATURE(code.address("product"))(a, b, c, 0, 33, room.ctypes.data, None)
    np.testing.assert_array_equal(case.c, alone)


def test_an_emitted_function_has_the_plan_s_scratch():
    product = Product(40, 50, 60, "f4", (60, 1), (1, 60), (50, 1))
    module = ir.Module()
    assert products.emit(module, "product", product) in module.functions
    assert products.scratch(product) == planning.plan(product).scratch(product) > 0
    assert 1 <= products.grain(product) <= 40
