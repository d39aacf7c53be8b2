"""What threads share in native code: no part writes what is another one's, in any order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")
from llvmlite import ir

import gradtape as tf
from gradtape.compile.native import entry, loops, unit
from gradtape.compile.native.arena import bytes_of
from gradtape.compile.native.nests import Nest
from gradtape.compile.native.sharing import Overlap, Read, Region, Sharing, blocks, check, heights
from gradtape.compile.program import Var

from . import stress
from .crews import crew_of
from .proof import proving
from .test_every_op import Played, every_sample
from .test_programs import compiled

rng = np.random.default_rng(0)


def array(*shape: int, dtype: str = "float32") -> Any:
    return tf.constant(rng.uniform(0.5, 1.5, shape).astype(dtype))


def proved(monkeypatch: Any, function: Callable[..., Any], *operands: Any) -> int:
    """Prove a call of the function, compare it with the eager one, and count what is shared."""
    with proving(monkeypatch) as proofs:
        found = compiled(function)(*operands)
    for y, expected in zip(
        tf.nest.flatten(found), tf.nest.flatten(function(*operands)), strict=True
    ):
        y, expected = np.asarray(y), np.asarray(expected)
        assert (y.shape, y.dtype) == (expected.shape, expected.dtype)
        np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())
    return sum(proof.shared_items for proof in proofs)


# --- the check ------------------------------------------------------------------------------------
FLAT = Var(1, (12,), np.dtype("f4"))
TABLE = Var(2, (6, 10), np.dtype("f4"))


def test_sound_plans() -> None:
    check(
        [
            blocks(TABLE, 6, 1), blocks(TABLE, 6, 4), blocks(FLAT, 12, 5),
            heights(TABLE, [2, 2, 1, 1]),
            Sharing(range(0, 11, 5), (Region(TABLE, (10, 6), (1, 10)),)),
            Sharing((0, 3, 6), (Region(TABLE, (6, 10), (10, 1)),), (Read(TABLE, 10, 0),)),
        ]
    )  # fmt: skip
    halves = [Region(TABLE, (6, n), (10, 1), start, piece=True) for start, n in ((0, 4), (4, 6))]
    check([Sharing((0, 2, 6), (halves[0],)), Sharing((0, 6), (halves[1],))])
    stacked = [Region(TABLE, (6,), (10,), k, piece=True) for k in range(10)]
    check([Sharing((0, 2, 6), tuple(stacked))])


@pytest.mark.parametrize(
    "plan",
    [
        Sharing((0, 3, 2, 6), (Region(TABLE, (6, 10), (10, 1)),)),
        Sharing((1, 6), (Region(TABLE, (6, 10), (10, 1)),)),
        Sharing((0, 3, 5), (Region(TABLE, (6, 10), (10, 1)),)),
        Sharing((0, 3, 6), (Region(TABLE, (6, 9), (10, 1)),)),
        Sharing((0, 3, 6), (Region(TABLE, (6, 10), (9, 1)),)),
        Sharing((0, 3, 6), (Region(TABLE, (6, 10), (10, 1), 1),)),
        Sharing((0, 3, 6), (Region(TABLE, (6, 10), (0, 1)),)),
        Sharing((0, 5, 10), (Region(TABLE, (6, 10), (10, 1)),)),
        Sharing((0, 3, 6), (Region(TABLE, (6, 10), (10, 1)),), (Read(TABLE, 1, 0),)),
        Sharing((0, 3, 6), (Region(TABLE, (6, 10), (10, 1)),), (Read(TABLE, 10, 5),)),
        Sharing((0, 3, 6), (Region(TABLE, (6, 10), (10, 1)),), (Read(FLAT, 10, 0),)),
        Sharing((0, 3, 6), (Region(TABLE, (6, 4), (10, 1), 0, True),)),
        Sharing(
            (0, 3, 6),
            (Region(TABLE, (6, 4), (10, 1), 0, True), Region(TABLE, (6, 7), (10, 1), 3, True)),
        ),
    ],
    ids=lambda plan: f"{plan.edges}-{plan.regions[0].sizes}-{plan.regions[0].strides}",
)
def test_the_check_refuses(plan: Sharing) -> None:
    with pytest.raises(Overlap):
        check([plan])


def test_a_plan_that_overlaps_is_not_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = loops.sharing

    def overlapping(nest: Nest, stored: set[Var]) -> Sharing:
        plan = sound(nest, stored)
        if plan.parts == 1:
            return plan
        return Sharing([0, *[e - 1 for e in plan.edges[1:]]], plan.regions)

    monkeypatch.setattr(unit, "sharing", overlapping)
    monkeypatch.setattr(unit, "ENOUGH", 0)
    monkeypatch.setattr(unit, "WORTH", 0)
    with pytest.raises(Overlap):
        compiled(tf.exp)(array(40, 33))


def test_the_proof_sees_a_thread_that_fills_all_of_a_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    def everything(self: loops.NestWriter) -> Any:
        return loops.number(0), loops.number(self.sharing.edges[-1])

    monkeypatch.setattr(loops.NestWriter, "shared_indices", everything)
    with pytest.raises(AssertionError, match=r"differs|not theirs"):
        proved(
            monkeypatch, lambda x: tf.reduce_sum(tf.nn.relu(x), 1, keepdims=True), array(5, 9, 8)
        )


# --- the kernels ----------------------------------------------------------------------------------
SHAPES = [(8, 20, 24), (5, 7, 33), (3, 2, 130), (9, 1, 5), (2, 40, 3), (66, 5), (1_100, 130)]
REDUCTIONS = [tf.reduce_sum, tf.reduce_max, tf.reduce_min]


def sums(reduce: Any, axis: Any) -> list[Callable[[Any], Any]]:
    def centred(x: Any) -> Any:
        y = tf.nn.relu(x)
        m = reduce(y, axis, keepdims=True)
        return y - m, m

    def scaled(x: Any) -> Any:
        e = tf.exp(x)
        return e / reduce(e, axis, keepdims=True), reduce(e * 2.0, axis), tf.sqrt(e)

    return [centred, scaled, lambda x: reduce(x, axis)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_sums_along_any_axes(
    monkeypatch: pytest.MonkeyPatch, shape: tuple[int, ...], dtype: str
) -> None:
    x, shared = array(*shape, dtype=dtype), 0
    axes = [0, -1, (0, len(shape) - 1), *([1, (0, 1), (1, 2)] if len(shape) == 3 else [])]
    for reduce, axis in product(REDUCTIONS, axes):
        for function in sums(reduce, axis):
            shared += proved(monkeypatch, function, x)
    assert shared > 20


def rows_of_a_table(x: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        places = tf.constant([[1, 0], [2, 2], [0, 1]])
        y = tf.reduce_sum(tf.gather(x, places) ** 2)
    return tf.convert_to_tensor(tape.gradient(y, x))


def window(x: Any, filters: Any, stride: int, padding: str, depthwise: bool) -> Any:
    with tf.GradientTape() as tape:
        tape.watch([x, filters])
        convolve = tf.nn.depthwise_conv2d if depthwise else tf.nn.conv2d
        y = convolve(x, filters, [1, stride, stride, 1], padding)
        loss = tf.reduce_sum(y * y)
    return y, *tape.gradient(loss, [x, filters])


def pooled(x: Any, pool: Any, size: int, stride: int, padding: str) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = pool(x, size, stride, padding)
        loss = tf.reduce_sum(y * y)
    return y, tape.gradient(loss, x)


def attention(q: Any, k: Any, v: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch([q, k, v])
        weights = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) / 4.0)
        loss = tf.reduce_sum(tf.matmul(weights, v) ** 2)
    return loss, *tape.gradient(loss, [q, k, v])


def normalised(x: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        mean, variance = tf.nn.moments(x, [0, 1], keepdims=True)
        y = (x - mean) * tf.math.rsqrt(variance + 1e-3)
        loss = tf.reduce_sum(y**3)
    return y, tape.gradient(loss, x)


KERNELS: dict[str, tuple[Callable[..., Any], list[tuple[int, ...]]]] = {
    "product": (lambda a, b: a @ b, [(37, 19), (19, 53)]),
    "product of transposed": (lambda a, b: tf.matmul(a, b, True, True), [(19, 37), (53, 19)]),
    "product by a vector": (lambda a, b: tf.linalg.matvec(a, b) * 2.0, [(67, 33), (33,)]),
    "deep product": (lambda a, b: a @ b, [(9, 700), (700, 70)]),
    "batch of products": (lambda a, b: a @ b, [(3, 5, 7, 9), (5, 9, 11)]),
    "product and bias": (lambda a, b, c: tf.nn.relu(a @ b + c), [(33, 20), (20, 40), (40,)]),
    "attention": (attention, [(4, 9, 16), (4, 11, 16), (4, 11, 16)]),
    "softmax": (lambda x: tf.nn.log_softmax(x * 2.0), [(35, 67)]),
    "batch normalisation": (normalised, [(13, 5, 9)]),
    "transpose": (lambda x: tf.exp(tf.transpose(x, [2, 0, 1])), [(5, 6, 17)]),
    "concat of columns": (lambda a, b: tf.concat([a * 2, b, tf.exp(a)], 1), [(35, 6), (35, 9)]),
    "concat of rows": (lambda a, b: tf.concat([a * 2, b], 0), [(5, 33), (8, 33)]),
    "stack at the end": (lambda a, b: tf.stack([a, b * 2, a + b], -1), [(19, 35), (19, 35)]),
    "pad": (lambda x: tf.pad(x * 2.0, [[1, 2], [3, 0]]), [(33, 20)]),
    "rows looked up": (lambda x: tf.gather(x * 2.0, [[2, 0, 1], [1, 1, 0]]), [(5, 40)]),
    "rows added up": (rows_of_a_table, [(9, 37)]),
    "max pool": (lambda x: pooled(x, tf.nn.max_pool2d, 2, 2, "VALID"), [(5, 8, 8, 19)]),
    "max pool that overlaps": (lambda x: pooled(x, tf.nn.max_pool2d, 3, 2, "SAME"), [(5, 7, 8, 9)]),
    "mean pool": (lambda x: pooled(x, tf.nn.avg_pool2d, 3, 1, "SAME"), [(3, 6, 7, 9)]),
    "cumulative sum": (lambda x: tf.cumsum(x, 1) * 2.0, [(33, 20)]),
    "one row": (lambda x: tf.tanh(x) + 1.0, [(1003,)]),
}
for (stride, padding), (batch, side, channels) in product(
    [(1, "SAME"), (2, "SAME"), (3, "VALID")], [(5, 7, 3), (3, 9, 17), (16, 3, 4)]
):
    for depthwise, results in ((False, 9), (True, 1)):
        KERNELS[f"convolution {stride} {padding} {(batch, side, channels, results)}"] = (
            lambda x, f, s=stride, p=padding, d=depthwise: window(x, f, s, p, d),
            [(batch, side, side, channels), (3, 3, channels, results)],
        )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_sum_along_an_axis_that_loops_share_beside_a_sum_of_all(
    monkeypatch: pytest.MonkeyPatch, threads: int, dtype: str
) -> None:
    """No thread can share these loops, and every sum begins in all of its numbers: not in the first
    one only, and elsewhere with whatever is in memory."""

    def program(x: Any) -> Any:
        y = tf.nn.relu(x)
        lengths = tf.norm(y, axis=2)
        return tf.reduce_sum(y), lengths, tf.reduce_min(lengths, 1), tf.reduce_max(lengths, 0)

    poisoned = np.empty

    def empty(shape: Any, dtype: Any = float) -> Any:
        memory = poisoned(shape, dtype)
        memory.fill(0xFF if memory.dtype == np.uint8 else -1)
        return memory

    x = array(58, 4, 34, dtype=dtype)
    expected = program(x)
    monkeypatch.setattr(np, "empty", empty)  # of the values between
    with crew_of(threads):
        found = compiled(program)(x)
    for y, one in zip(found, expected, strict=True):
        np.testing.assert_allclose(y, one, rtol=1e-5)


def test_plans_of_what_is_not_shared_are_checked_too(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = loops.sharing

    def first_only(nest: Nest, stored: set[Var]) -> Sharing:
        plan = sound(nest, stored)
        return Sharing((0, 1), tuple(replace(r, sizes=(1,), strides=(0,)) for r in plan.regions))

    def nothing(nest: Nest, stored: set[Var]) -> Sharing:
        return Sharing((0, 1), ())

    for plan in (first_only, nothing):
        monkeypatch.setattr(unit, "sharing", plan)
        with pytest.raises(Overlap):
            compiled(tf.exp)(array(3, 4))


def products(x: Any, w: Any) -> Any:
    """Each product needs all rows of the one before."""
    for _ in range(4):
        x = tf.matmul(tf.sin(x), w, transpose_a=True)
    return x


def test_the_proof_sees_a_meeting_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    x, w = array(24, 24), array(24, 24)
    assert proved(monkeypatch, products, x, w)
    plain = entry.Entry._together

    def together(self: Any, some: Any, parts: Any, before: int, meet: Any) -> Any:
        nobody = ir.Function(self.module, meet.function_type, "nobody")
        nobody.linkage = "internal"
        ir.IRBuilder(nobody.append_basic_block()).ret_void()
        return plain(self, some, parts, before, nobody)

    monkeypatch.setattr(entry.Entry, "_together", together)
    with pytest.raises(AssertionError, match="take turns"):
        proved(monkeypatch, products, x, w)


def test_the_proof_sees_memory_that_is_given_to_another_value_too_early(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x, w = array(24, 24), array(24, 24)

    def all_in_one_place(uses: Any, outside: Any) -> Any:
        values = {v for some in uses for v in some if v not in outside}
        return dict.fromkeys(values, 0), max(map(bytes_of, values), default=0)

    monkeypatch.setattr(unit, "arranged", all_in_one_place)
    with pytest.raises(AssertionError, match="take turns"):
        proved(monkeypatch, products, x, w)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", KERNELS)
def test_kernels(monkeypatch: pytest.MonkeyPatch, name: str, dtype: str) -> None:
    function, shapes = KERNELS[name]
    assert proved(monkeypatch, function, *[array(*shape, dtype=dtype) for shape in shapes])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_random_draws(monkeypatch: pytest.MonkeyPatch, dtype: str) -> None:
    for count in (64, 1003):
        with proving(monkeypatch) as proofs:
            tf.random.set_seed(3)
            found = compiled(lambda n=count: tf.random.uniform([n], dtype=dtype))()
        tf.random.set_seed(3)
        expected = compiled(lambda n=count: tf.random.uniform([n], dtype=dtype))()
        np.testing.assert_array_equal(found, expected)
        assert sum(proof.shared_items for proof in proofs)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_updates_of_rows(monkeypatch: pytest.MonkeyPatch, dtype: str) -> None:
    table = array(1500, 23, dtype=dtype)  # large enough to be written to
    for method in ("scatter_update", "scatter_add", "scatter_max"):
        first, second = tf.Variable(table), tf.Variable(table)

        def put(variable: Any, rows: Any, places: Any, method: str = method) -> None:
            getattr(variable, method)(tf.IndexedSlices(rows, places))

        rows, places = array(5, 23, dtype=dtype), tf.constant([3, 0, 1490, 3, 750])
        with proving(monkeypatch) as proofs:
            step = compiled(lambda rows, places, v=first, put=put: put(v, rows, places))
            for _ in range(3):
                step(rows, places)
        for _ in range(3):
            put(second, rows, places)
        np.testing.assert_allclose(first.numpy(), second.numpy(), rtol=1e-6)
        assert sum(proof.shared_items for proof in proofs), method


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_step_of_adam(monkeypatch: pytest.MonkeyPatch, dtype: str) -> None:
    values = {"w": array(33, 17, dtype=dtype), "m": array(33, 17, dtype=dtype)}
    first, second = ({k: tf.Variable(v) for k, v in values.items()} for _ in range(2))

    def update(state: dict[str, Any], g: Any) -> None:
        state["m"].assign(0.9 * state["m"] + 0.1 * g)
        state["w"].assign_sub(0.01 * state["m"] / (tf.sqrt(tf.square(g)) + 1e-7))

    g = array(33, 17, dtype=dtype)
    with proving(monkeypatch) as proofs:
        step = compiled(lambda g: update(first, g))
        step(g)
        step(g)
    update(second, g)
    update(second, g)
    for name in values:
        np.testing.assert_allclose(first[name], second[name], rtol=1e-5)
    assert sum(proof.shared_items for proof in proofs)


@every_sample
def test_every_op(name: str, k: int) -> None:
    sample = Played(name, k)
    with pytest.MonkeyPatch.context() as monkeypatch, proving(monkeypatch):
        sample.near(sample.function(*sample.tensors()), sample.values(*sample.tensors()))


# --- real threads ---------------------------------------------------------------------------------
def relu_max(x: Any) -> Any:
    y = tf.nn.relu(x)
    m = tf.reduce_max(y, 1, keepdims=True)
    return y - m, m


def exp_sum(x: Any) -> Any:
    e = tf.exp(x)
    s = tf.reduce_sum(e, 1, keepdims=True)
    return e / s, s


@pytest.mark.parametrize("forced", [True, False], ids=["together", "as it pays"])
@pytest.mark.parametrize("threads", [1, 2, 3, 4])
def test_the_numbers_are_the_same_with_any_number_of_threads(threads: int, forced: bool) -> None:
    """The claim of docs/design.md, in default settings and with work that is shared."""
    x = tf.constant(np.random.RandomState(0).uniform(0, 1, (16, 100, 64)).astype("f4"))
    images, filters = array(8, 16, 16, 8), array(3, 3, 8, 16)
    q, k, v = (array(8, 64, 32) for _ in range(3))
    programs: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
        (relu_max, (x,)), (exp_sum, (x,)), (normalised, (x,)), (attention, (q, k, v)),
        (lambda x, f: window(x, f, 1, "SAME", False), (images, filters)),
        (lambda x: pooled(x, tf.nn.max_pool2d, 3, 2, "SAME"), (images,)),
    ]  # fmt: skip
    for function, operands in programs:
        with crew_of(1):
            expected = [np.asarray(y) for y in compiled(function)(*operands)]
        with crew_of(threads, forced):
            step = compiled(function)
            for _ in range(60):
                for y, one in zip(step(*operands), expected, strict=True):
                    assert np.asarray(y).tobytes() == one.tobytes()


@pytest.mark.parametrize("threads", [2, 3])
@pytest.mark.parametrize("mode", stress.MODES)
@pytest.mark.parametrize("program", stress.PROGRAMS)
def test_a_sample_of_the_stress(program: str, mode: str, threads: int) -> None:
    for dtype in ("float32", "float64"):
        assert stress.wrong_calls(program, dtype, mode, threads, True, 40) == (0, 0)
