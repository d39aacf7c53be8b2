"""Python control flow in functions: played and eager agree call after call, state included, and
the recordings are those expected: one for each way that Python went."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtape as tf
from gradtape.compile import tree
from tests.compile.near import near

NUMBERS = [1.0, -1.0, 1.0, 3.0, -1.0, 3.0, 0.5]


class Both:
    """One Python function with two states: eager, and in a function."""

    def __init__(self, make: Callable[[], tuple[Any, dict[str, Any]]]) -> None:
        self.eager, self.state = make()
        python_function, self.own = make()
        self.function = tf.function(python_function)

    def call(self, *values: Any) -> Any:
        expected, found = [f(*map(tf.constant, values)) for f in (self.eager, self.function)]
        tf.nest.map_structure(near, found, expected)
        for name, variable in self.state.items():
            near(self.own[name].numpy(), variable.numpy(), name=name)
        return found

    @property
    def recordings(self) -> int:
        return sum(tree.recordings for tree in self.function._trees.values())


def stateless(function: Callable[..., Any]) -> Both:
    return Both(lambda: (function, {}))


def called(both: Both, numbers: list[Any], recordings: int) -> Both:
    for number in numbers:
        both.call(number)
    assert both.recordings == recordings
    return both


# --- branches and loops ---------------------------------------------------------------------------
def test_a_branch_is_recorded_for_each_way() -> None:
    called(stateless(lambda x: tf.sin(x) if x > 0.0 else x * 2.0), NUMBERS, 2)


def test_branches_of_branches() -> None:
    def function(x: Any) -> Any:
        if x > 0.0:
            return x * 2.0 if x > 2.0 else x * 3.0
        return -x

    called(stateless(function), [*NUMBERS, *NUMBERS], 3)


def test_a_loop_of_any_length() -> None:
    def function(x: Any) -> Any:
        steps = 0
        while x > 1.0:
            x, steps = x / 2.0, steps + 1
        return x, tf.constant(steps)

    called(stateless(function), [0.5, 3.0, 9.0, 2.5, 3.5, 0.1, 10.0], 3)  # 0, 2 or 4 steps


def test_a_range_over_a_tensor() -> None:
    def function(n: Any) -> Any:
        total = tf.constant(0)
        for k in range(n):
            total += k * n
        return total

    called(stateless(function), [3, 2, 3, 0, 2], 3)


def test_rows_of_a_tensor_with_an_early_return() -> None:
    def function(x: Any) -> Any:
        total = tf.constant(0.0)
        for row in x:
            if row > 1.0:
                return total, row
            total += row * row
        return total, -total

    both = stateless(function)
    for rows in ([0.5, 2.0, 0.1], [0.5, 0.5, 0.5], [5.0, 0.0, 0.0], [0.1, 3.0, 9.0]):
        both.call(rows)
    assert both.recordings == 3


def test_recursion() -> None:
    def function(x: Any) -> Any:
        return tf.tanh(x) if x <= 0.25 else function(x - 0.5) * 0.75

    called(stateless(function), [0.1, 0.5, 1.2, 0.2, 1.3, 0.6], 4)  # 0 to 3 deep


def test_branches_on_shapes_are_no_guards() -> None:
    def function(x: Any) -> Any:
        return tf.reduce_sum(x) if x.shape[0] > 2 else x * 2.0

    both = stateless(function)
    for rows in ([1.0, 2.0], [1.0, 2.0, 3.0], [5.0, 5.0], [0.0, 1.0, 2.0]):
        both.call(rows)
    assert both.recordings == 2
    assert all(not take.outcomes for one in both.function._trees.values() for take in one.takes)


def test_sizes_that_depend_on_numbers() -> None:
    def function(x: Any) -> Any:
        kept = tf.boolean_mask(x, x > 0.0)
        return kept * 2.0, tf.reduce_sum(kept)

    both = stateless(function)
    for rows in ([1.0, -1.0], [-1.0, 3.0], [1.0, 1.0], [-1.0, -1.0], [2.0, -2.0]):
        both.call(rows)
    assert both.recordings == 3  # of 1, 2 and 0 rows


def test_numbers_read_by_python() -> None:
    both = stateless(lambda x: x * float(x.numpy().sum()))
    for rows in ([1.0, 2.0], [2.0, 2.0], [1.0, 2.0]):
        both.call(rows)
    assert both.recordings == 2


def test_alternating_inputs_are_recorded_once_each() -> None:
    both = stateless(lambda x: x + 1.0 if tf.reduce_sum(x) > 0.0 else x - 1.0)
    for _ in range(20):
        both.call(1.0)
        both.call(-1.0)
    assert both.recordings == 2


# --- exceptions -----------------------------------------------------------------------------------
def test_an_exception_in_a_branch() -> None:
    def make() -> tuple[Any, dict[str, Any]]:
        v = tf.Variable(1.0)

        def function(x: Any) -> Any:
            v.assign_add(x)
            if x < 0.0:
                raise KeyError("negative")
            return v * 2.0

        return function, {"v": v}

    both = Both(make)
    both.call(1.0)
    with pytest.raises(KeyError):
        both.function(tf.constant(-1.0))
    assert both.own["v"].numpy() == 2.0  # as before the call
    both.call(2.0)
    # The call with an exception was a recording of which nothing is left.
    assert both.recordings == 2
    assert len(next(iter(both.function._trees.values())).takes) == 1


def test_a_check_that_fails_leaves_variables() -> None:
    v = tf.Variable([1.0, 2.0])

    @tf.function
    def function(x: Any) -> Any:
        v.assign_add(x)
        tf.debugging.assert_less(tf.reduce_sum(v), 10.0)
        return tf.gather(v, tf.cast(x[0], tf.int32))

    assert function(tf.constant([1.0, 1.0])).numpy() == 3.0
    for wrong in ([50.0, 0.0], [3.0, 0.0], [-1.0, 0.0]):
        for _ in range(2):
            with pytest.raises(tf.errors.InvalidArgumentError):
                function(tf.constant(wrong))
            np.testing.assert_array_equal(v.numpy(), [2.0, 3.0])
    assert function(tf.constant([0.0, 1.0])).numpy() == 2.0


def test_exceptions_that_the_function_handles() -> None:
    def function(x: Any) -> Any:
        try:
            tf.debugging.assert_less(x, 1.5)
            y = tf.gather([1.0, 2.0, 3.0], tf.cast(x, tf.int32))
        except tf.errors.InvalidArgumentError:
            return x * 0.25
        return x * 2.0 + y

    called(stateless(function), [0.0, 1.0, 5.0, 0.0, -3.0, 5.0, 6.0, 1.0, -3.0], 3)


# --- guards after effects -------------------------------------------------------------------------
def test_a_guard_after_an_assignment() -> None:
    def make() -> tuple[Any, dict[str, Any]]:
        v = tf.Variable(0.0)

        def function(x: Any) -> Any:
            v.assign_add(x)
            if v > 2.0:
                v.assign(v * 0.5)
            return v + x

        return function, {"v": v}

    called(Both(make), [1.0, 1.0, 1.0, 0.25, 1.5, -1.0, 5.0], 2)


def test_a_guard_after_a_draw() -> None:
    def make() -> tuple[Any, dict[str, Any]]:
        chance = tf.random.Generator.from_seed(3)

        def function(x: Any) -> Any:
            drawn = chance.uniform([])
            return x + chance.normal([]) if drawn > 0.5 else x - drawn

        return function, {"chance": chance.state}

    called(Both(make), [1.0] * 12, 2)


def test_draws_of_a_function_go_on_whatever_way_it_goes() -> None:
    def numbers(branches: bool) -> list:
        tf.random.set_seed(5)

        @tf.function
        def function(x: Any) -> Any:
            drawn = tf.random.uniform([])
            if branches and x > 0.0:
                return drawn + 0.0
            return drawn

        return [function(tf.constant(x)).numpy() for x in (1.0, -1.0, 1.0, -1.0)]

    assert numbers(True) == numbers(False)
    assert len({*numbers(True)}) == 4


def test_printed_lines_before_a_guard_come_once(capsys: pytest.CaptureFixture[str]) -> None:
    @tf.function
    def function(x: Any) -> Any:
        tf.print("saw", x)
        return x * 2.0 if x > 0.0 else -x

    numbers = [1.0, -1.0, 2.0, -2.0, -3.0]
    for number in numbers:
        function(tf.constant(number))
    assert capsys.readouterr().err.split() == [
        w for x in (1, -1, 2, -2, -3) for w in ("saw", str(x))
    ]
    assert next(iter(function._trees.values())).recordings == 2


def test_python_functions_before_a_guard_are_called_once() -> None:
    seen: list[float] = []

    def note(x: Any) -> Any:
        seen.append(float(x))
        return np.float32(x * 2)

    @tf.function
    def function(x: Any) -> Any:
        y = tf.numpy_function(note, [x], tf.float32)
        return y + 1.0 if y > 1.0 else y - 1.0

    found = [float(function(tf.constant(x))) for x in NUMBERS]
    assert found == [x * 2 + 1 if x * 2 > 1 else x * 2 - 1 for x in NUMBERS]
    assert seen == NUMBERS
    assert next(iter(function._trees.values())).recordings == 2


def test_a_handled_exception_after_a_print(capsys: pytest.CaptureFixture[str]) -> None:
    @tf.function
    def function(x: Any) -> Any:
        tf.print("saw", x)
        try:
            tf.debugging.assert_positive(x)
        except tf.errors.InvalidArgumentError:
            return -x
        return x

    for number in (1.0, -2.0, 3.0, -4.0):
        assert function(tf.constant(number)).numpy() == abs(number)
    assert capsys.readouterr().err.count("saw") == 4


# --- gradients ------------------------------------------------------------------------------------
def test_tapes_inside_and_around_branches() -> None:
    def make() -> tuple[Any, dict[str, Any]]:
        v = tf.Variable(2.0)

        def step(x: Any) -> Any:
            with tf.GradientTape() as tape:
                loss = v * v * x if x * v > 0.0 else tf.sin(v) + x
            slope = tape.gradient(loss, v)
            v.assign_sub(0.125 * slope)
            return loss, slope

        return step, {"v": v}

    called(Both(make), NUMBERS, 2)


def test_a_tape_around_a_function_that_branches() -> None:
    square = tf.function(lambda x: x * x if x > 0.0 else tf.exp(x))
    for number in (2.0, -1.0, 3.0, -2.0):
        x = tf.constant(number)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = square(x)
        expected = 2.0 * number if number > 0.0 else np.exp(np.float32(number))
        np.testing.assert_allclose(tape.gradient(y, x).numpy(), expected, rtol=1e-6)
    assert next(iter(square._trees.values())).recordings == 2


# --- limits ---------------------------------------------------------------------------------------
def test_past_the_limit_it_runs_eagerly_and_says_so_once(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree, "LIMIT", 4)

    @tf.function
    def function(x: Any) -> Any:
        return x * int(x)

    with caplog.at_level(logging.WARNING, "gradtape"):
        for number in (*range(8), *range(8)):
            assert function(tf.constant(number)).numpy() == number * number
    assert next(iter(function._trees.values())).recordings == 4
    told = [record.getMessage() for record in caplog.records]
    assert len(told) == 1
    assert "has been recorded 4 times" in told[0]
    assert "test_guards.py:" in told[0]


def test_two_threads_that_go_different_ways() -> None:
    v = tf.Variable(0.0)

    @tf.function
    def function(x: Any) -> Any:
        v.assign_add(1.0)
        return x * 2.0 if x > 0.0 else x - 1.0

    wrong: list[Any] = []

    def work(number: float) -> None:
        for _ in range(100):
            found = float(function(tf.constant(number)))
            expected = number * 2.0 if number > 0.0 else number - 1.0
            if found != expected:
                wrong.append((number, found))

    threads = [threading.Thread(target=work, args=(n,)) for n in (1.0, -1.0)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert v.numpy() == 200.0
    # Each thread may meet the first guard before the other has recorded its way.
    assert len(next(iter(function._trees.values())).takes) <= 4


def test_a_guard_that_fails_in_a_function_of_a_function() -> None:
    count, drawn = tf.Variable(0.0), tf.Variable(0.0)

    @tf.function
    def inner(x: Any) -> Any:
        count.assign_add(1.0)
        drawn.assign(tf.random.uniform([], seed=3))
        return tf.cond(x > 0.0, lambda: x * 2.0, lambda: x * 3.0)

    @tf.function
    def outer(x: Any) -> Any:
        return inner(x) + 1.0

    tf.random.set_seed(1)
    numbers = [1.0, 2.0, -1.0, -2.0, 3.0]
    found = [(float(outer(tf.constant(x))), float(count), float(drawn)) for x in numbers]
    assert [y for y, _, _ in found] == [3.0, 5.0, -2.0, -5.0, 7.0]
    assert [n for _, n, _ in found] == [1.0, 2.0, 3.0, 4.0, 5.0]  # not once for each attempt
    assert [d for _, _, d in found[2:]] == pytest.approx([0.24208665, 0.1917609, 0.6031507])


def test_an_effect_that_fails_is_not_tried_again() -> None:
    calls: list[float] = []

    def fail_once(x: Any) -> Any:
        calls.append(float(x))
        if len(calls) == 3:
            raise ValueError("mine")
        return x

    @tf.function
    def function(x: Any) -> Any:
        return tf.py_function(fail_once, [x], tf.float32) * 2.0

    for number in (1.0, 2.0):
        assert function(tf.constant(number)).numpy() == 2.0 * number
    with pytest.raises(tf.errors.InvalidArgumentError, match="mine"):
        function(tf.constant(3.0))
    assert function(tf.constant(4.0)).numpy() == 8.0
    assert calls == [1.0, 2.0, 3.0, 4.0]


def test_what_a_dataset_raises_is_not_taken_for_its_end() -> None:
    def numbers() -> Any:
        yield from (1.0, 2.0)
        raise ValueError("mine")

    spec = tf.TensorSpec([], tf.float32)
    iterator = iter(tf.data.Dataset.from_generator(numbers, output_signature=spec))
    step = tf.function(lambda iterator: iterator.get_next() * 2.0)
    assert [float(step(iterator)) for _ in range(2)] == [2.0, 4.0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="ValueError: mine"):
        step(iterator)


def test_effects_of_a_function_in_a_function_are_performed_once() -> None:
    iterator, calls = iter(tf.data.Dataset.range(9)), [0]

    def count(x: Any) -> Any:
        calls[0] += 1
        return x

    @tf.function
    def inner(iterator: Any) -> Any:
        drawn = iterator.get_next()
        return drawn + tf.py_function(count, [drawn * 0], tf.int64)

    @tf.function
    def outer(iterator: Any) -> Any:
        return inner(iterator) * 10 + inner(iterator)

    assert [int(outer(iterator)) for _ in range(3)] == [1, 23, 45]
    assert calls == [6]


def test_what_was_drawn_for_a_recording_that_is_given_up_is_put_back() -> None:
    iterator, total = iter(tf.data.Dataset.range(4)), tf.Variable(0, dtype=tf.int64)

    @tf.function
    def step(iterator: Any) -> Any:
        total.assign_add(iterator.get_next())
        return tf.py_function(lambda: total, [], tf.int64)  # which looks at what was assigned

    assert [int(step(iterator)) for _ in range(4)] == [0, 1, 3, 6]
