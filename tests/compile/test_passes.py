"""What each pass makes of small programs, by their text before and after."""

from __future__ import annotations

import re
import time
from textwrap import dedent

import numpy as np
import pytest

import gradtape as tf
from gradtape.compile.backends.numpy import build
from gradtape.compile.kernels import dot
from gradtape.compile.passes import (
    algebra,
    common,
    constants,
    dead,
    fuse,
    guards,
    lower,
    memory,
    optimise,
    products,
    rows,
    sums,
)
from gradtape.compile.program import Check, Effect, Equation, Guard, Python, verify
from gradtape.ops import compare, elementwise, neural, reduce, shape, special
from gradtape.ops.elementwise import add, div, exp, mul, neg, sub
from gradtape.ops.linear import matmul, matmul_nt, matmul_tn

from ..ops.samples import CASES, OPS, as_kind, samples
from .making import Making


def text(program):
    """What a program computes, with its values numbered as they come."""
    verify(program)
    lines = [line for line in str(program).splitlines() if not line.startswith("input")]
    names = dict.fromkeys(re.findall(r"\bv\d+\b", "\n".join(lines)))
    body = "\n".join(lines)
    for k, name in enumerate(names):
        body = re.sub(rf"\b{name}\b", f"%{k}", body)
    return body


def reads(program, expected):
    assert text(program) == dedent(expected).strip()


def equal(program, after, *values, exact=True):
    """That two programs give the same numbers."""
    for a, b in zip(build(program)(values), build(after)(values), strict=True):
        assert np.shape(a) == np.shape(b)
        if exact:
            assert np.array_equal(a, b, equal_nan=True)
        else:
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def draw(*shape):
    return np.random.default_rng(3).normal(size=shape).astype("f4")


# --- dead code ------------------------------------------------------------------------------------
def test_dead_code_goes_and_what_matters_stays():
    p = Making()
    x = p.input(3)
    p(exp, x)
    y = p(neg, x)
    p.do(Check("positive", lambda a: None), p(exp, y))
    reads(
        dead.remove(p.give(y)),
        """
        %0:f4[3] = neg(%1)
        %2:f4[3] = exp(%0)
        positive(%2)
        return %0
        """,
    )


# --- constants ------------------------------------------------------------------------------------
def test_constants_are_computed_once():
    p = Making()
    two = p(add, p.constant(1.0), p.constant(1.0))
    y = p(mul, p.input(3), p(mul, two, two))
    reads(
        constants.fold(p.give(y)),
        """
        constant %0:f4[] = 4.0
        %1:f4[3] = mul(%2, %0)
        return %1
        """,
    )


def test_large_arrays_are_not_made_of_small_ones():
    p = Making()
    tall, wide = p.constant(np.ones((1000, 1))), p.constant(np.ones((1, 1000)))
    program = constants.fold(p.give(p(add, tall, wide)))
    assert len(program.equations) == 1


def test_what_raises_raises_when_it_is_played():
    p = Making()
    matrix = p.constant(np.ones((2, 3)))
    y = p.program.new((2, 3), np.dtype("f4"))
    p.program.equations.append(Equation(matmul, (matrix, matrix), {}, (y,)))
    assert len(constants.fold(p.give(y)).equations) == 1


# --- common subexpressions ------------------------------------------------------------------------
def test_what_is_computed_twice_is_computed_once():
    p = Making()
    x = p.input(3)
    one, two = p(mul, p(exp, x), p.constant(2.0)), p(mul, p(exp, x), p.constant(2.0))
    reads(
        common.share(p.give(p(add, one, two))),
        """
        constant %0:f4[] = 2.0
        %1:f4[3] = exp(%2)
        %3:f4[3] = mul(%1, %0)
        %4:f4[3] = add(%3, %3)
        return %4
        """,
    )


def test_parameters_make_a_difference_and_zero_has_a_sign():
    p = Making()
    x = p.input(2, 2)
    rows = p(reduce.sum, x, axis=(-1,), keepdims=False)
    columns = p(reduce.sum, x, axis=(-2,), keepdims=False)
    plus, minus = p(div, x, p.constant(0.0)), p(div, x, p.constant(-0.0))
    program = p.give(rows, columns, plus, minus)
    assert len(common.share(program).equations) == 4


def test_effects_and_guards_happen_each_time():
    p = Making()
    x = p.input()
    for _ in "12":
        p.do(Effect("print", print), x)
        p.do(Guard("bool", bool, outcome=True), x)
    assert len(common.share(p.give()).equations) == 4


# --- lowering -------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "op",
    [
        elementwise.sigmoid, elementwise.sigmoid_grad, elementwise.tanh_grad, elementwise.rsqrt,
        elementwise.sqrt_grad, elementwise.rsqrt_grad, elementwise.reciprocal_grad,
        elementwise.squared_difference, elementwise.softsign, neural.relu, neural.relu_gate,
        neural.silu,
    ],
)  # fmt: skip
@pytest.mark.parametrize("size", [(), (5,), (40, 50)])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_steps_give_the_bits_of_the_op(op, size, dtype):
    values = [np.abs(draw(*size)).astype(dtype)[()] for _ in op.rules]
    for odd in (0.0, -0.0, np.inf, np.nan):
        if size:
            values[0] = values[0].copy()
            values[0].flat[hash(odd) % 5] = odd
    p = Making()
    program = p.give(p(op, *[p.input(*size, dtype=dtype) for _ in values]))
    after = lower.lower(program)
    assert size == () or op not in [e.op for e in after.equations]
    equal(program, after, *values)


def test_means_are_sums_and_powers_are_products():
    p = Making()
    x = p.input(2, 4)
    mean = p(reduce.mean, x, axis=(-1,), keepdims=True)
    cube = p(elementwise.power, mean, p.constant(3.0))
    reads(
        lower.lower(p.give(cube)),
        """
        constant %0:f4[] = 4.0
        %1:f4[2,1] = reduce_sum(%2, axis=(-1,), keepdims=True)
        %3:f4[2,1] = div(%1, %0)
        %4:f4[2,1] = square(%3)
        %5:f4[2,1] = mul(%4, %3)
        return %5
        """,
    )


# --- algebra --------------------------------------------------------------------------------------
def simplified(program):
    return dead.remove(common.share(algebra.simplify(program)))


def test_ones_zeros_and_signs():
    p = Making()
    x = p.input(3)
    y = p(mul, p(add, x, p.constant(0.0)), p.constant(1.0))
    y = p(sub, p(div, y, p.constant(1.0)), p.constant(0.0))
    y = p(add, y, p(neg, p(neg, p(neg, p.input(3)))))
    program = p.give(y)
    reads(simplified(program), "%0:f4[3] = sub(%1, %2)\nreturn %0")
    equal(program, simplified(program), draw(3), draw(3))


def test_zero_times_a_number_is_not_zero():
    p = Making()
    program = p.give(p(mul, p.input(3), p.constant(0.0)))
    assert len(simplified(program).equations) == 1


def test_constant_factors_come_together():
    p = Making()
    y = p(mul, p.constant(0.5), p(mul, p(neg, p.input(3)), p.constant(3.0)))
    reads(
        simplified(p.give(p(neg, p(div, y, p.constant(4.0))))),
        """
        constant %0:f4[] = 0.375
        %1:f4[3] = mul(%0, %2)
        return %1
        """,
    )


def test_factors_whose_product_is_no_number_stay_apart():
    p = Making()
    y = p(mul, p.constant(1e30), p(mul, p.constant(1e30), p.input(3)))
    assert len(simplified(p.give(y)).equations) == 2


def test_numbers_that_are_seen_from_many_places_stay_numbers():
    p = Making()
    x = p.input(2, 3)
    ones = p.constant(np.ones((2, 3)))
    g = p(shape.broadcast_to, p(div, p.input(), p.constant(2.0)), shape=(2, 3))
    program = p.give(p(mul, p(mul, ones, g), x), p(reduce.sum, g, axis=(0,), keepdims=False))
    reads(
        simplified(program),
        """
        constant %0:f4[] = 0.5
        %1:f4[] = mul(%0, %2)
        %3:f4[2,3] = mul(%1, %4)
        %5:f4[3] = broadcast_to(%2, shape=(3,))
        return %3, %5
        """,
    )
    equal(program, simplified(program), draw(2, 3), np.float32(3))


def test_reshapes_and_transposes_come_together():
    p = Making()
    x = p.input(2, 3, 4)
    y = p(shape.reshape, p(shape.reshape, x, shape=(6, 4)), shape=(4, -1))
    z = p(shape.transpose, p(shape.transpose, x, axes=(1, 2, 0)), axes=(2, 0, 1))
    one = p(shape.transpose, p.input(1, 5), axes=(1, 0))
    program = p.give(y, z, one)
    reads(
        simplified(program),
        """
        %0:f4[4,6] = reshape(%1, shape=(4, 6))
        %2:f4[5,1] = reshape(%3, shape=(5, 1))
        return %0, %1, %2
        """,
    )
    equal(program, simplified(program), draw(2, 3, 4), draw(1, 5))


def test_transposes_become_flags_of_products():
    p = Making()
    a, b = p.input(3, 4), p.input(3, 5)
    program = p.give(
        p(matmul, p(shape.transpose, a, axes=(1, 0)), b),
        p(matmul_tn, a, p(shape.transpose, p(shape.transpose, b, axes=(1, 0)), axes=(-1, -2))),
        p(matmul_nt, p(shape.transpose, b, axes=(1, 0)), p(shape.transpose, a, axes=(1, 0))),
    )
    assert {e.op for e in simplified(program).equations} <= {matmul_tn, matmul, shape.transpose}
    equal(program, simplified(program), draw(3, 4), draw(3, 5))


def test_products_of_stacks_are_products_of_matrices():
    p = Making()
    a, b, c = p.input(2, 3, 4), p.input(4, 5), p.input(7, 4, 1)
    program = p.give(p(matmul, a, b), p(matmul_tn, b, c))
    reads(
        simplified(program),
        """
        %0:f4[6,4] = reshape(%1, shape=(6, 4))
        %2:f4[6,5] = matmul(%0, %3)
        %4:f4[2,3,5] = reshape(%2, shape=(2, 3, 5))
        %5:f4[7,4] = reshape(%6, shape=(7, 4))
        %7:f4[7,5] = matmul(%5, %3)
        %8:f4[7,5,1] = reshape(%7, shape=(7, 5, 1))
        return %4, %8
        """,
    )
    equal(program, simplified(program), draw(2, 3, 4), draw(4, 5), draw(7, 4, 1), exact=False)


def test_a_column_times_a_row_is_no_product_of_matrices():
    p = Making()
    ones = p.constant(np.ones((6, 1)))
    program = p.give(p(exp, p(matmul_nt, ones, p.input(4, 1))))
    reads(
        simplified(program),
        """
        %0:f4[1,4] = reshape(%1, shape=(1, 4))
        %2:f4[1,4] = exp(%0)
        %3:f4[6,4] = broadcast_to(%2, shape=(6, 4))
        return %3
        """,
    )
    equal(program, simplified(program), draw(4, 1))


# --- guards ---------------------------------------------------------------------------------------
def test_guards_come_first_but_not_before_effects():
    p = Making()
    x = p.input()
    y = p(exp, x)
    p.do(Guard("bool", bool, outcome=True), p(compare.greater, x, p.constant(0.0)))
    p.do(Effect("print", print), y)
    z = p(neg, y)
    p.do(Guard("float", float, outcome=2.0), x)
    reads(
        guards.hasten(p.give(z)),
        """
        constant %0:f4[] = 0.0
        %1:b1[] = greater(%2, %0)
        guard bool(%1) is True
        %3:f4[] = exp(%2)
        print(%3)
        guard float(%2) is 2.0
        %4:f4[] = neg(%3)
        return %4
        """,
    )


# --- memory ---------------------------------------------------------------------------------------
def test_buffers_are_used_again_and_in_place():
    p = Making()
    x, w = p.input(8, 8), p.input(8, 8)
    y = p(exp, p(matmul, x, w))
    z = p(matmul, y, w)
    program = memory.plan(p.give(p(add, p(matmul, z, w), y)))
    reads(
        program,
        """
        %0:f4[8,8] = matmul(%1, %2) @b0
        %3:f4[8,8] = exp(%0) @b0
        %4:f4[8,8] = matmul(%3, %2) @b1
        %5:f4[8,8] = matmul(%4, %2) @b2
        %6:f4[8,8] = add(%5, %3)
        return %6
        """,
    )
    equal(p.program, program, draw(8, 8), draw(8, 8))


def test_what_can_be_seen_from_outside_is_new_at_every_call():
    kept = []
    p = Making()
    x = p.input(4, 4)
    y = p(exp, x)
    part = p(shape.transpose, p(shape.reshape, y, shape=(2, 8)), axes=(1, 0))
    p.do(Effect("keep", kept.append), p(neg, x))
    program = memory.plan(p.give(part))
    assert [e.memory for e in program.equations] == [None, "view", "view", None, None]
    run = build(program)
    (first,) = run([draw(4, 4)])
    before = first.copy()
    run([2 * draw(4, 4)])
    assert np.array_equal(first, before)
    assert not np.array_equal(kept[0], kept[1])


def test_views_of_buffers_are_made_with_the_program():
    p = Making()
    x = p.input(4, 6)
    y = p(exp, x)
    one, two = p(shape.split, y, sizes=(2, 4), axis=-1)
    flat = p(shape.reshape, two, shape=(16,))
    program = memory.plan(p.give(p(reduce.sum, one, axis=None, keepdims=False), p(exp, flat)))
    reads(
        program,
        """
        %0:f4[4,6] = exp(%1) @b0
        %2:f4[4,2], %3:f4[4,4] = split(%0, sizes=(2, 4), axis=-1) @view
        %4:f4[16] = reshape(%3, shape=(16,)) @b1
        %5:f4[] = reduce_sum(%2, axis=None, keepdims=False)
        %6:f4[16] = exp(%4)
        return %5, %6
        """,
    )
    equal(p.program, program, draw(4, 6))


def test_a_buffer_is_not_overwritten_while_somebody_looks():
    p = Making()
    x = p.input(4, 4)
    y = p(exp, x)
    turned = p(shape.transpose, y, axes=(1, 0))
    z = p(mul, y, turned)  # not in place, as it reads the same numbers in another order
    kept = Python("kept", lambda a: a)
    w = p.program.new((4, 4), np.dtype("f4"))
    p.program.equations.append(Equation(kept, (z,), {}, (w,)))
    program = p.give(p(add, p(add, p(exp, p(exp, x)), w), turned))
    equal(program, memory.plan(program), draw(4, 4))


# --- all of them ----------------------------------------------------------------------------------
def network():
    """A step of a small network, as the recorder writes it."""
    rng = np.random.default_rng(0)
    w, b = (tf.Variable(rng.normal(size=s).astype("f4")) for s in ((4, 8), (8,)))
    p = Making()
    x, target, vw, vb = p.input(16, 4), p.input(16, 8), p.variable(w), p.variable(b)
    h = p(neural.relu, p(add, p(matmul, x, vw), vb))
    d = p(sub, h, target)
    loss = p(reduce.mean, p(elementwise.square, d), axis=None, keepdims=False)
    g = p(shape.broadcast_to, p(div, p.constant(1.0), p.constant(128.0)), shape=(16, 8))
    g = p(neural.relu_gate, p(mul, g, p(mul, p.constant(2.0), d)), h)
    gw, gb = p(matmul_tn, x, g), p(reduce.sum, g, axis=(0,))
    for variable, value, grad in ((w, vw, gw), (b, vb, gb)):
        p.update(variable, p(sub, value, p(mul, p.constant(0.1), grad)))
    return p.give(loss, gw), [w, b]


def test_a_step_of_a_network_comes_out_the_same():
    plain, ours = [], []
    for results, how in ((plain, lambda p: p), (ours, optimise)):
        program, variables = network()
        run = build(how(program))
        for k in range(3):
            results += run([draw(16, 4) + k, draw(16, 8)])
        results += [v.numpy() for v in variables]
    for a, b in zip(plain, ours, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)


def test_ten_thousand_equations_take_no_longer_each():
    times = []
    for count in (1_000, 10_000):
        p = Making()
        x, w = p.input(4), p.input(4)
        for _ in range(count // 4):
            x = p(elementwise.sigmoid, p(add, p(mul, x, w), w))
            x = p(elementwise.tanh, x)
        start = time.process_time()
        build(optimise(p.give(x)))
        times.append((time.process_time() - start) / count)
    assert times[1] < 4 * times[0]


def test_what_guards_compare_keeps_every_bit():
    p = Making()
    x = p.input(3)
    y = p(mul, p.constant(0.1), p(mul, p.constant(0.3), x))
    z = p(mul, p.constant(0.1), p(mul, p.constant(0.3), p.input(3)))
    p.do(Guard("numbers", np.ndarray.tobytes, outcome=b""), y)
    assert len(simplified(p.give(z)).equations) == 4


# --- sums -----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("axis", "op"), [((0,), matmul), ((0, 1), matmul), ((-1,), matmul), (None, dot), ((1,), None)]
)
def test_sums_are_products(axis, op):
    p = Making()
    x = p.input(4, 5, 6)
    program = p.give(
        p(reduce.sum, x, axis=axis, keepdims=False), p(reduce.sum, x, axis=axis, keepdims=True)
    )
    after = common.share(sums.multiply(program))
    assert ({e.op for e in after.equations} & {reduce.sum, matmul, dot}) == {op or reduce.sum}
    equal(program, after, draw(4, 5, 6), exact=False)


def test_sums_of_products_are_products():
    p = Making()
    x, column, row, scalar = p.input(4, 5), p.input(4, 1), p.input(5), p.input()
    total = {"axis": None, "keepdims": False}
    program = p.give(
        p(reduce.sum, p(mul, x, column), axis=(0,), keepdims=False),
        p(reduce.sum, p(mul, row, x), axis=(1,), keepdims=False),
        p(reduce.sum, p(mul, scalar, x), axis=(0,), keepdims=False),
        p(reduce.sum, p(mul, x, p(exp, x)), **total),
        p(reduce.sum, p(elementwise.square, x), **total),
        p(reduce.sum, p(neg, x), axis=(0,), keepdims=False),
    )
    after = dead.remove(common.share(sums.multiply(program)))
    reads(
        after,
        """
        constant %0:f4[1,4] = [[1.0, 1.0, 1.0, 1.0]]
        %1:f4[1,5] = matmul_tn(%2, %3)
        %4:f4[5] = reshape(%1, shape=(5,))
        %5:f4[5,1] = reshape(%6, shape=(5, 1))
        %7:f4[4,1] = matmul(%3, %5)
        %8:f4[4] = reshape(%7, shape=(4,))
        %9:f4[1,5] = matmul(%0, %3)
        %10:f4[5] = reshape(%9, shape=(5,))
        %11:f4[5] = mul(%12, %10)
        %13:f4[4,5] = exp(%3)
        %14:f4[] = dot(%3, %13)
        %15:f4[] = dot(%3, %3)
        %16:f4[5] = neg(%10)
        return %4, %8, %11, %14, %15, %16
        """,
    )
    equal(program, after, draw(4, 5), draw(4, 1), draw(5), draw(), exact=False)


# --- updates --------------------------------------------------------------------------------------
def trained(how, steps=3, size=(300, 200), keep=False):
    """A variable after some steps of `w -= 0.1 xᵀ g`, and the arrays that it had."""
    w = tf.Variable(np.ones(size, "f4"))
    p = Making()
    x, g, old = p.input(40, size[0]), p.input(40, size[1]), p.variable(w)
    p.update(w, p(sub, old, p(mul, p.constant(0.1), p(matmul_tn, x, g))))
    run = build(how(p.give(p(reduce.sum, old, axis=None, keepdims=False))))
    arrays = []
    for k in range(steps):
        run([draw(40, size[0]) + k, draw(40, size[1])])
        arrays.append(w._array if keep else id(w._array.base))
    return w, arrays, p.program


def test_large_variables_are_written_in_place():
    w, places, program = trained(optimise)
    plain, _, _ = trained(lambda p: p)
    np.testing.assert_allclose(w.numpy(), plain.numpy(), rtol=1e-4, atol=1e-5)
    assert len(set(places)) == 1
    assert [str(e) for e in optimise(program).equations][-1].startswith("sub_matmul_tn(")


def test_what_somebody_holds_is_not_written_to():
    arrays, others = (trained(how, keep=True)[1] for how in (optimise, lambda p: p))
    for a, b in zip(arrays, others, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_rows_of_a_table_change_in_place():
    table = tf.Variable(np.zeros((1000, 64), "f4"))

    @tf.function
    def step(places, values):
        table.scatter_add(tf.IndexedSlices(values, places))
        return tf.reduce_sum(table)

    places, values = tf.constant([3, 5, 3]), tf.ones((3, 64))
    step(places, values)
    before = id(table._array.base)
    assert step(places, values).numpy() == 3 * 64 * 2
    assert id(table._array.base) == before or table._array.base is None


def own_rows(table, copy, places):
    table.scatter_add(tf.IndexedSlices(table[:3], places))
    return tf.constant(0.0)


def value_before(table, copy, places):
    before = table.read_value()
    table.scatter_add(tf.IndexedSlices(tf.ones((3, 64)), places))
    return before


def in_another_variable(table, copy, places):
    copy.assign(table)
    table.scatter_sub(tf.IndexedSlices(tf.ones((3, 64)), places))
    return copy[0]


@pytest.mark.parametrize("function", [own_rows, value_before, in_another_variable])
def test_what_is_needed_of_a_table_outlives_its_change(function):
    def outcome(how):
        begin = np.arange(1000 * 64, dtype="f4").reshape(1000, 64)
        table, copy = tf.Variable(begin), tf.Variable(np.zeros_like(begin))
        step = how(lambda places: function(table, copy, places))
        return [step(tf.constant([1, 2, 2])).numpy() for _ in range(3)], table.numpy(), copy.numpy()

    found, expected = outcome(tf.function), outcome(lambda f: f)
    for one, other in zip(found[0], expected[0], strict=True):
        np.testing.assert_array_equal(one, other)
    for one, other in zip(found[1:], expected[1:], strict=True):
        np.testing.assert_array_equal(one, other)


# --- every op -------------------------------------------------------------------------------------
def on_buffers(op, operands, params):
    """A program in which operands and results of an op are values in between."""
    p = Making()
    values = []
    for operand in operands:
        value = p.input(*operand.shape, dtype=operand.dtype.str)
        if operand.dtype.kind in "fc":
            value = p(mul, value, p.constant(1.0 + 2.0**-9, dtype=operand.dtype.str))
        values.append(value)
    with np.errstate(all="ignore"):
        y = op.forward(*operands, **params)
    results = y if y.__class__ is tuple else (y,)
    outputs = tuple(p.program.like(np.asarray(r)) for r in results)
    p.program.equations.append(Equation(op, tuple(values), params, outputs))
    found = [p(add, y, y) if y.dtype.kind in "fc" else y for y in outputs]
    return p.give(*found)


@pytest.mark.parametrize(("name", "k"), CASES)
def test_every_op_gives_the_same_from_buffers(name, k):
    op = OPS[name]
    given, params = samples(op)[k]
    # How many parts a bitcast makes goes by the precision.
    for dtype in (np.float64,) if name == "bitcast" else (np.float32, np.float64):
        operands = as_kind(given, dtype)
        program = on_buffers(op, operands, params)
        expected, run = build(program)(operands), build(optimise(program))
        for found in (run(operands), run(operands)):
            for a, b in zip(expected, found, strict=True):
                assert a.dtype == b.dtype
                assert type(a) is type(b)
                if a.dtype.kind == "O":
                    assert a.tolist() == b.tolist()
                else:
                    np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-5)


# --- fusion ---------------------------------------------------------------------------------------
def test_large_element_wise_equations_become_one():
    p = Making()
    x, w, s = p.input(300, 400), p.input(300, 400), p.input()
    y = p(mul, p(exp, p(mul, x, w)), s)
    z = p(special.erf, p(elementwise.maximum, y, p.constant(0.5)))
    total = p(matmul_tn, z, y)
    program = p.give(total, p(sub, p(add, z, w), x))
    after = memory.plan(fuse.fuse(program))
    reads(
        after,
        """
        constant %0:f4[] = 0.5
        %1:f4[300,400], %2:f4[300,400] = fused_3(%3, %4, %5, %0) @(b0, b1)
        %6:f4[400,400] = matmul_tn(%2, %1)
        %7:f4[300,400] = fused_10(%2, %4, %3) @(None,)
        return %6, %7
        """,
    )
    equal(program, after, draw(300, 400), draw(300, 400) + 1, np.float32(0.7))


def test_a_group_ends_where_somebody_needs_it():
    p = Making()
    x = p.input(300, 400)
    y = p(exp, p(neg, x))
    back = p(matmul, p(matmul_nt, y, y), x)
    program = p.give(p(add, p(neg, back), y))
    after = fuse.fuse(program)
    assert [e.op.name.partition("_")[0] for e in after.equations] == [
        "fused", "matmul", "matmul", "fused",
    ]  # fmt: skip
    equal(program, memory.plan(after), draw(300, 400))


def test_fused_results_may_take_the_memory_of_operands():
    p = Making()
    x, w = p.input(400, 300), p.input(300, 400)
    y = p(matmul, x, w)
    z = p(neural.gelu, y)  # writes before it has read everything
    program = p.give(p(matmul, p(add, z, p(mul, y, y)), p(matmul, p(neural.gelu, p(neg, z)), x)))
    after = optimise(program)
    equal(program, after, draw(400, 300), draw(300, 400) / 9, exact=False)


# --- rows -----------------------------------------------------------------------------------------
def test_short_rows_become_long_ones():
    p = Making()
    x, row = p.input(1000, 64), p.input(64)
    program = p.give(p(mul, p(add, p(exp, x), row), row))
    after = memory.plan(dead.remove(rows.lengthen(program)))
    reads(
        after,
        """
        %0:f4[1000,64] = exp(%1) @b0
        %2:f4[20,3200] = reshape(%0, shape=(20, 3200)) @view
        %3:f4[3200] = tile(%4, count=50) @b1
        %5:f4[20,3200] = add(%2, %3) @b0
        %6:f4[20,3200] = mul(%5, %3)
        %7:f4[1000,64] = reshape(%6, shape=(1000, 64)) @view
        return %7
        """,
    )
    equal(program, after, draw(1000, 64), draw(64))


def test_rows_meet_large_arrays_part_by_part():
    p = Making()
    x, row, other = p.input(3, 500, 64), p.input(64), p.input(1, 1, 64)
    program = p.give(p(exp, p(sub, p(mul, x, row), other)))
    after = memory.plan(fuse.fuse(program))
    assert [e.op.name.partition("_")[0] for e in after.equations] == ["tile", "tile", "fused"]
    equal(program, after, draw(3, 500, 64), draw(64), draw(1, 1, 64))


# --- products -------------------------------------------------------------------------------------
def recurrent(steps=4):
    """Steps of a cell, and the sums of products that its weights get."""
    p = Making()
    xs, wx, wh, g = p.input(steps, 8, 5), p.input(5, 6), p.input(6, 6), p.input(8, 6)
    h, before, states = p(neg, g), [], []
    parts = p(shape.unstack, xs, axis=-3)
    for x in parts:
        before.append(h)
        h = p(elementwise.tanh, p(add, p(matmul, x, wx), p(matmul, h, wh)))
        states.append(h)
    grads = []
    for x, old in zip(reversed(parts), reversed(before), strict=True):
        terms = [p(matmul_tn, x, g), p(matmul_tn, old, g), p(reduce.sum, g, axis=(0,))]
        grads = [p(add, a, b) for a, b in zip(grads, terms, strict=True)] if grads else terms
        g = p(mul, p(matmul_nt, g, wh), states.pop())
    return p.give(*grads, g)


def test_many_small_products_are_one():
    program = recurrent()
    after = dead.remove(common.share(products.join(sums.multiply(program))))
    ops = [e.op.name for e in after.equations]
    assert ops.count("matmul_tn") == 2  # the bias has a product with ones
    assert ops.count("matmul_nt") == 0
    assert ops.count("turned_copy") == 1
    assert ops.count("concat") == 2
    values = [draw(4, 8, 5), draw(5, 6), draw(6, 6) / 3, draw(8, 6)]
    equal(program, after, *values, exact=False)
    equal(program, optimise(program), *values, exact=False)


def test_what_is_joined_is_written_to_its_place():
    p = Making()
    x = p.input(4, 3)
    rows = p(shape.concat, p(exp, x), x, p(matmul_nt, x, p.input(3, 3)), axis=-2)
    both = p(shape.concat, p(neg, rows), p(neg, p(exp, rows)), axis=-1)
    program = p.give(p(exp, both))
    after = memory.plan(program)
    reads(
        after,
        """
        %0:f4[4,3] = exp(%1) @%2[0:4]
        %3:f4[4,3] = matmul_nt(%1, %4) @%2[8:12]
        %2:f4[12,3] = concat(%0, %1, %3, axis=-2) @b0
        %5:f4[12,3] = neg(%2) @%6[0:3]
        %7:f4[12,3] = exp(%2) @b0
        %8:f4[12,3] = neg(%7) @%6[3:6]
        %6:f4[12,6] = concat(%5, %8, axis=-1) @b1
        %9:f4[12,6] = exp(%6)
        return %9
        """,
    )
    equal(program, after, draw(4, 3), draw(3, 3))
