"""Programs of many equations: what keeps their compile time in proportion, and that it changes no
result."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")
import gradtape as tf
from gradtape.compile.native import entry, unit, values
from gradtape.compile.native.arena import LINE, Arena, arranged
from gradtape.compile.native.nests import MOST, MOST_SINGLE
from gradtape.compile.native.unit import Native
from gradtape.compile.program import Var

rng = np.random.default_rng(0)


def array(*shape: int) -> Any:
    return tf.constant(rng.normal(size=shape).astype("float32"))


def natives(function: Any) -> list[Native]:
    (tree,) = function._trees.values()
    equations = tree.takes[0].runner.program.equations
    return [e.op for e in equations if isinstance(e.op, Native)]


def functions(native: Native) -> list[str]:
    """The names of the functions in the module of a part."""
    return re.findall(r'^define .*@"?([\w.]+)"?\(', native.unit.text, re.MULTILINE)


def check(function: Any, *args: Any) -> Native:
    """Compare with eager results; the function has one native part."""
    step = tf.function(function, jit_compile=True)
    np.testing.assert_allclose(step(*args), function(*args), rtol=2e-5, atol=1e-5)
    (native,) = natives(step)
    return native


def layers(count: int, numbers: bool = False) -> Any:
    """Layers that shrink what they are given, so that rounding errors do not grow."""

    def function(x: Any, w: Any) -> Any:
        y = x
        for k in range(count):
            y = tf.tanh(y @ w * 0.05) * (1.0 + k / count if numbers else 0.5) + x
        return y

    return function


# --- stretches ------------------------------------------------------------------------------------
def test_many_items_are_called_in_stretches() -> None:
    native = check(layers(2 * entry.STRETCH), array(4, 8), array(8, 8))
    stretches = [name for name in functions(native) if name.startswith("stretch_")]
    assert len(stretches) == -(-len(native.items) // entry.STRETCH)


def test_threads_go_through_stretches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unit, "ENOUGH", 0)
    monkeypatch.setattr(unit, "WORTH", 0)
    monkeypatch.setattr(entry, "STRETCH", 5)
    native = check(layers(10), array(64, 16), array(16, 16))
    assert "together_5" in functions(native)


@pytest.mark.parametrize("stretch", [1, 2, 3])
def test_items_for_one_thread_and_for_all(stretch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where stretches end must not matter to who waits for whom."""

    def function(x: Any, w: Any) -> Any:
        for _ in range(4):
            x = tf.tanh(x @ w * 0.05)
            x = x - tf.reduce_mean(tf.reduce_sum(tf.abs(x), axis=0))
        return x

    monkeypatch.setattr(unit, "ENOUGH", 200)
    monkeypatch.setattr(unit, "WORTH", 0)
    monkeypatch.setattr(entry, "STRETCH", stretch)
    native = check(function, array(64, 16), array(16, 16))
    assert {parts > 1 for parts in native.unit.parts} == {True, False}


def test_a_check_in_a_stretch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entry, "STRETCH", 2)

    @tf.function(jit_compile=True)
    def look_up(table: Any, places: Any) -> Any:
        rows = tf.gather(table, places)
        return tf.reduce_sum(tf.tanh(rows @ table), axis=0)

    table = array(6, 6)
    places = tf.constant([0, 5, 2])
    expected = tf.reduce_sum(tf.tanh(tf.gather(table, places) @ table), axis=0)
    np.testing.assert_allclose(look_up(table, places), expected, rtol=2e-5)
    with pytest.raises(tf.errors.InvalidArgumentError):
        look_up(table, tf.constant([0, 6, 2]))


def test_many_arrays_and_single_numbers_are_read_in_stretches() -> None:
    count = entry.STRETCH + 5

    def function(*values: Any) -> Any:
        return [v * 2.0 for v in values]

    given = [array(3) if k % 3 else array() for k in range(count)]
    step = tf.function(function, jit_compile=True)
    for found, value in zip(step(*given), given, strict=True):
        np.testing.assert_array_equal(found, value * 2.0)
    (native,) = natives(step)
    assert f"reading_{entry.STRETCH}" in functions(native)


def test_arrays_that_lie_in_steps_are_refused_in_stretches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entry, "STRETCH", 1)
    turned = tf.constant(np.asfortranarray(rng.normal(size=(5, 7)).astype("float32")))
    check(lambda x, y: tf.tanh(x) + y, array(5, 7), turned)


def test_parts_that_are_alike_share_their_code() -> None:
    @tf.function(jit_compile=True)
    def function(x: Any) -> Any:
        for _ in range(4):
            x = tf.cumsum(tf.tanh(x), axis=0) * 0.5
        return x

    x = array(6)
    expected = x
    for _ in range(4):
        expected = tf.cumsum(tf.tanh(expected), axis=0) * 0.5
    np.testing.assert_allclose(function(x), expected, rtol=2e-5)
    parts = natives(function)
    assert len(parts) == 5
    assert len({id(native.unit.code) for native in parts}) < 5


def test_a_profile_of_stretches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entry, "STRETCH", 3)
    native = check(layers(5), array(4, 8), array(8, 8))
    clocked, cycles = native.unit.timed()
    inputs = [np.ones(v.shape, v.dtype) for v in native.inputs]
    outputs = [np.empty(v.shape, v.dtype) for v in native.outputs]
    assert clocked(*inputs, *outputs) is None
    assert all(cycles > 0)


# --- functions ------------------------------------------------------------------------------------
def test_items_that_differ_by_numbers_share_a_function() -> None:
    native = check(layers(2 * unit.MANY, numbers=True), array(4, 8), array(8, 8))
    assert len({*native.unit.names}) < 5
    assert not native.unit.scalars


def test_few_items_have_their_numbers_in_their_code() -> None:
    native = check(layers(5, numbers=True), array(4, 8), array(8, 8))
    assert native.unit.scalars


@pytest.mark.parametrize(("count", "how"), [(values.OFTEN, "noinline"), (5, "alwaysinline")])
def test_functions_are_written_once(count: int, how: str) -> None:
    def function(x: Any) -> Any:
        for _ in range(count):
            x = tf.sin(x) + 0.5
        return x

    text = check(function, array()).unit.text
    (line,) = [t for t in text.splitlines() if re.match("define .*gradtape.function.sin", t)]
    assert line.endswith(how)


@pytest.mark.parametrize(("shape", "most"), [((), MOST_SINGLE), ((19,), MOST)])
def test_loops_end(shape: tuple[int, ...], most: int) -> None:
    def function(x: Any) -> Any:
        for k in range(most):
            x = x * 0.5 + k
        return x

    native = check(function, array(*shape))
    steps = [len(loop.steps) for item in native.items for loop in item.loops]
    assert len(steps) == 2
    assert max(steps) == most


def test_values_that_loops_need_of_those_before() -> None:
    """The way back reads what was computed on the way there, in other loops by then."""

    def function(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in range(MOST_SINGLE):
                y = y + 0.002 * tf.sin(y)
        return tape.gradient(y, x)

    native = check(function, tf.constant(0.3))
    assert len(native.items) > 2


def test_a_step_goes_to_the_first_loop_that_has_room() -> None:
    def function(x: Any, y: Any) -> Any:
        found = [x * float(k) for k in range(MOST + 5)]
        found += [y * float(k) for k in range(5)]
        return tf.stack(found[:MOST])[0] + found[MOST] + found[-1][:3]

    check(function, array(3), array(4))


# --- memory ---------------------------------------------------------------------------------------
def test_gaps_are_taken_and_joined() -> None:
    arena = Arena()
    a, b, c, d = (arena.take(size) for size in (64, 128, 64, 64))
    assert (a, b, c, d) == (0, 64, 192, 256)
    arena.give_back(b, 128)
    arena.give_back(a, 64)  # one gap of 192
    assert arena.take(192) == 0
    arena.give_back(0, 192)
    arena.give_back(d, 64)  # behind which nothing lies
    arena.give_back(c, 64)
    assert arena.take(640) == 0
    assert arena.size == 640


def test_the_smallest_gap_that_is_large_enough() -> None:
    arena = Arena()
    places = [arena.take(size) for size in (256, 64, 128, 64)]
    arena.give_back(places[0], 256)
    arena.give_back(places[2], 128)
    assert arena.take(128) == places[2]
    assert arena.take(64) == places[0]


@pytest.mark.parametrize("seed", range(20))
def test_values_that_live_at_once_do_not_meet(seed: int) -> None:
    draw = np.random.default_rng(seed)
    made = [Var(k, (int(draw.integers(1, 200)),), np.dtype("f4")) for k in range(60)]
    begins = draw.integers(0, 100, 60)
    ends = begins + draw.integers(0, 30, 60)
    uses: list[list[Var]] = [[] for _ in range(130)]
    for value, begin, end in zip(made, begins, ends, strict=True):
        uses[begin].append(value)
        uses[end].append(value)
    outside = {made[0]}
    places, size = arranged(uses, outside)
    assert {*places} == {*made[1:]}
    lives = list(zip(made, begins, ends, strict=True))[1:]
    for k, (v, begin, end) in enumerate(lives):
        assert places[v] % LINE == 0
        assert places[v] + 4 * v.shape[0] <= size
        for w, start, stop in lives[:k]:
            if begin <= stop and start <= end:
                apart = places[v] + 4 * v.shape[0] <= places[w]
                assert apart or places[w] + 4 * w.shape[0] <= places[v]
