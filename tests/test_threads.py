"""Tapes belong to the thread that entered them; threads do not see each other's."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from threading import Barrier, Event, Lock, Thread
from typing import Any

import numpy as np
import pytest

import gradtape as tf
from gradtape.core.record import threads
from gradtape.ops import convolve
from gradtape.ops.kernels import jobs, parallel
from tests.collecting import collect


def in_thread(function):
    results = []
    thread = Thread(target=lambda: results.append(function()))
    thread.start()
    thread.join()
    return results[0]


def test_ops_of_another_thread_are_not_recorded() -> None:
    x = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
        elsewhere = in_thread(lambda: y * y)
        here = y * y
    assert tape.gradient(elsewhere, x) is None
    assert float(tape.gradient(here, x)) == 108.0


def test_a_variable_read_in_another_thread_is_not_watched() -> None:
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        in_thread(lambda: x * x)
    assert tape.watched_variables() == ()


def test_threads_differentiate_the_same_variables_at_once() -> None:
    x = tf.Variable(2.0)
    together = Barrier(4)

    def power(n: int) -> float:
        together.wait()
        for _ in range(200):
            with tf.GradientTape() as tape:
                y = x**n
            derivative = float(tape.gradient(y, x))
        return derivative

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(power, [1, 2, 3, 4])) == [1.0, 4.0, 12.0, 32.0]


def test_one_tensor_watched_by_tapes_of_two_threads() -> None:
    x = tf.constant(3.0)
    with tf.GradientTape() as mine:
        mine.watch(x)

        def other() -> float:
            with tf.GradientTape() as theirs:
                theirs.watch(x)
                y = x * x
            return float(theirs.gradient(y, x))

        assert in_thread(other) == 6.0
        z = x * x * x
    assert float(mine.gradient(z, x)) == 27.0


def test_a_tape_may_move_to_another_thread() -> None:
    x = tf.Variable(2.0)
    tape = tf.GradientTape(persistent=True)
    with tape:
        y = x * x

    def go_on() -> float:
        with tape:
            z = y * x
        return float(tape.gradient(z, x))

    assert in_thread(go_on) == 12.0


def test_a_tape_stopped_by_another_thread_leaves_this_one_clean() -> None:
    x = tf.Variable(3.0)

    def recording():
        with tf.GradientTape():
            yield

    open_block = recording()
    next(open_block)
    in_thread(open_block.close)
    with tf.GradientTape() as tape:
        y = x * x
    assert float(tape.gradient(y, x)) == 6.0
    assert not threads.active


def test_a_value_read_while_another_thread_updates_the_variable_is_whole_and_stays() -> None:
    v = tf.Variable(tf.zeros(100_000))
    done, changed = Event(), []

    def read() -> None:
        while not done.is_set():
            seen = v.value()
            first, again = np.array(seen), np.array(seen)
            changed.append((first != again).any() or first.min() != first.max())

    reader = Thread(target=read)
    reader.start()
    for _ in range(300):
        v.assign_add(tf.ones(100_000))
    done.set()
    reader.join()
    assert not any(changed)


def at_once(function, count: int = 8) -> list:
    """Call the function in several threads that begin together and take turns often."""
    together, usual = Barrier(count), sys.getswitchinterval()

    def call(k: int):
        together.wait()
        return function(k)

    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(count) as pool:
            return list(pool.map(call, range(count)))
    finally:
        sys.setswitchinterval(usual)


EACH = 200
ONES = tf.ones([3, 2])
UPDATES = {
    "assign_add": lambda v: v.assign_add(ONES),
    "assign_sub": lambda v: v.assign_sub(-ONES),
    "scatter_add": lambda v: v.scatter_add(tf.IndexedSlices(ONES, [0, 1, 2])),
    "scatter_sub": lambda v: v.scatter_sub(tf.IndexedSlices(-ONES, [0, 1, 2])),
    "scatter_nd_add": lambda v: v.scatter_nd_add([[0], [1], [2]], ONES),
    "scatter_nd_sub": lambda v: v.scatter_nd_sub([[0], [1], [2]], -ONES),
    "slice": lambda v: v[:].assign_add(ONES),
    "parts": lambda v: [v[k, :].assign_sub([-1.0, -1.0]) for k in range(3)],
}


@pytest.mark.parametrize("update", UPDATES.values(), ids=UPDATES.keys())
def test_no_update_of_a_variable_is_lost(update) -> None:
    v = tf.Variable(tf.zeros([3, 2]))
    at_once(lambda _: [update(v) for _ in range(EACH)])
    np.testing.assert_array_equal(v, np.full((3, 2), 8.0 * EACH))


def test_no_factor_is_lost() -> None:
    v = tf.Variable([1.0, 1.0], dtype=tf.float64)  # in which 200 halves in a row are not 0 yet
    halves, doubles = (tf.IndexedSlices(tf.constant([x], tf.float64), [0]) for x in (0.5, 2.0))
    at_once(lambda k: [v.scatter_mul(doubles if k % 2 else halves) for _ in range(50)])
    np.testing.assert_array_equal(v, [1.0, 1.0])
    at_once(lambda k: [v.scatter_div(doubles if k % 2 else halves) for _ in range(50)])
    np.testing.assert_array_equal(v, [1.0, 1.0])


SETTERS = {
    "scatter_update": lambda v, k, x: v.scatter_update(tf.IndexedSlices([x], [k])),
    "scatter_nd_update": lambda v, k, x: v.scatter_nd_update([[k]], [x]),
    "scatter_max": lambda v, k, x: v.scatter_max(tf.IndexedSlices([x], [k])),
    "scatter_nd_max": lambda v, k, x: v.scatter_nd_max([[k]], [x]),
    "slice": lambda v, k, x: v[k].assign(x),
    "batch": lambda v, k, x: v.batch_scatter_update(tf.IndexedSlices([x], [k])),
}


@pytest.mark.parametrize("setter", SETTERS.values(), ids=SETTERS.keys())
def test_threads_that_write_to_places_of_their_own_disturb_nobody(setter) -> None:
    v = tf.Variable(tf.zeros([8]))

    def write(k: int) -> None:
        for n in range(1, EACH + 1):
            setter(v, k, float(n))
            assert v.numpy()[k] == n

    at_once(write)
    np.testing.assert_array_equal(v, np.full(8, EACH))


def test_numbers_counted_up_by_threads_are_all_different() -> None:
    v = tf.Variable(0)
    counted = at_once(lambda _: [int(v.count_up_to(10_000)) for _ in range(EACH)])
    assert sorted(chain(*counted)) == list(range(8 * EACH))


def test_threads_draw_different_numbers_of_one_generator() -> None:
    generator = tf.random.Generator.from_seed(1)
    drawn = at_once(lambda _: [float(generator.normal([])) for _ in range(50)])
    alone = tf.random.Generator.from_seed(1)
    assert sorted(chain(*drawn)) == sorted(float(alone.normal([])) for _ in range(400))


@pytest.mark.parametrize("seed", [None, 3])
def test_threads_draw_the_numbers_that_one_would(seed: int | None) -> None:
    def draw(_: int) -> list[float]:
        return [float(tf.random.uniform([], seed=seed)) for _ in range(50)]

    tf.random.set_seed(7)
    drawn = sorted(chain(*at_once(draw)))
    tf.random.set_seed(7)
    assert drawn == sorted(chain(*map(draw, range(8))))


def test_two_variables_that_are_updated_by_each_other() -> None:
    one, two = tf.Variable(tf.ones([50])), tf.Variable(tf.zeros([50]))

    def swing(k: int) -> None:
        for _ in range(50):
            if k % 2:
                one.assign_add(two * 0.0)
            else:
                two.assign_sub(-one * 0.0)
            one.assign(tf.identity(one))

    at_once(swing)
    np.testing.assert_array_equal(one, np.ones(50))


def test_a_variable_that_a_collected_object_updates() -> None:
    v = tf.Variable(tf.zeros([4]))

    class Last:
        def __del__(self) -> None:
            v.assign_add(tf.ones([4]))

    def drop(_: int) -> None:
        for _ in range(50):
            cycle = Last()
            cycle.self = cycle
            del cycle
            v.assign_add(tf.ones([4]))

    at_once(drop, 2)
    collect()
    np.testing.assert_array_equal(v, np.full(4, 200.0))


# --- how threads compute --------------------------------------------------------------------------
def trained(kind: str, steps: int = 2) -> list[bytes]:
    """All gradients of a small training, to the last bit."""
    draw = np.random.default_rng(3)

    def weights(*shape: int) -> Any:
        return tf.Variable(draw.normal(size=shape).astype(np.float32) / 10)

    x = tf.constant(draw.normal(size=(8, 28, 28, 4)).astype(np.float32))
    rows = tf.constant(draw.normal(size=(300, 420)).astype(np.float32))
    first, second, third = weights(5, 5, 4, 16), weights(5, 5, 16, 8), weights(420, 430)
    wide, found = weights(430, 300), []
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = tf.constant(0.0)
            if "convolutions" in kind:
                h = tf.nn.relu(tf.nn.conv2d(x, first, 1, "SAME"))
                loss += tf.reduce_mean(tf.nn.conv2d(h, second, 1, "SAME") ** 2)
            if "products" in kind:
                loss += tf.reduce_mean(tf.tanh(rows @ third) @ wide)
                loss += tf.reduce_mean(rows[:40, :90] @ third[:90, :100])
                loss += tf.reduce_mean(tf.linalg.inv(third[:, :420] + tf.eye(420)))
        variables = tape.watched_variables()
        for variable, g in zip(variables, tape.gradient(loss, variables), strict=True):
            found.append(tf.convert_to_tensor(g).numpy().tobytes())
            variable.assign_sub(0.01 * g)
    return found


@pytest.fixture
def two_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "limit", 2)


KINDS = "convolutions", "products", "convolutions and products"


@pytest.mark.usefixtures("two_workers")
def test_threads_that_train_side_by_side_compute_what_each_does_alone() -> None:
    alone = {kind: in_thread(lambda kind=kind: trained(kind)) for kind in KINDS}
    for _ in range(2):
        side_by_side = at_once(lambda k: trained(KINDS[k]), len(KINDS))
        for kind, found in zip(KINDS, side_by_side, strict=True):
            assert found == alone[kind], kind


@pytest.mark.usefixtures("two_workers")
def test_what_one_thread_computed_before_decides_nothing_for_another() -> None:
    expected = in_thread(lambda: trained("products", 1))
    trained("convolutions", 1)
    assert in_thread(lambda: trained("products", 1)) == expected


@pytest.mark.usefixtures("two_workers")
def test_a_sweep_does_not_wait_for_what_another_thread_awaits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    usual, begun, stop = convolve._filter_in_parts, Event(), Event()
    expected = in_thread(lambda: trained("convolutions", 1))

    class Many(list):
        """The parts of a filter's gradient after more than enough of idle work."""

        def __iter__(self) -> Any:
            usual_parts = super().__iter__()
            return iter(lambda: next(usual_parts, None) if stop.wait(1e-4) else -1, None)

    def held_up(*given: Any) -> Any:
        (work, parts, size), result = usual(*given)

        def wait(todo: Any) -> None:
            begun.set()
            work(k for k in todo if k >= 0)

        return (wait, Many(parts), size), result

    monkeypatch.setattr(convolve, "_filter_in_parts", held_up)
    results: list[Any] = []
    slow = Thread(target=lambda: results.append(trained("convolutions", 1)))
    slow.start()
    begun.wait()
    monkeypatch.setattr(convolve, "_filter_in_parts", usual)
    assert in_thread(lambda: trained("convolutions", 1)) == expected
    assert not results
    stop.set()
    slow.join()
    assert results == [expected]


@pytest.mark.usefixtures("two_workers")
def test_a_shared_product_has_all_threads_and_others_one() -> None:
    if not jobs.blas.found():
        pytest.skip("NumPy has another BLAS")
    count = jobs.blas._functions[0]
    usual, wrong, lock, inside = count(), [], Lock(), [0, 0]

    def note(kind: int, expected: int) -> None:
        with lock:
            inside[kind] += 1
        found = {(count(), inside[1 - kind]) for _ in range(20)}
        wrong.extend(found - {(expected, 0)})
        with lock:
            inside[kind] -= 1

    def work(todo: Any) -> None:
        for _ in todo:
            note(0, 1)

    def go(k: int) -> None:
        for _ in range(30):
            if k % 2:
                jobs.spread(work, range(10), products=True)
            else:
                jobs.blas.shared(note, 1, usual)

    at_once(go, 6)
    assert not wrong
    assert count() == usual
