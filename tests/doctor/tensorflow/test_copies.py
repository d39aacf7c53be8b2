"""Functions run as copies that tell more: every call is looked at, and nothing else changes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradtape import doctor

from .running import diagnosed, needs_tensorflow, on_tensorflow  # noqa: F401

pytestmark = [*needs_tensorflow, pytest.mark.usefixtures("on_tensorflow")]

# Of a hundred calls, three have a fault; the function gives its loss, or nothing.
FAULTS = """\
w, b = tf.Variable([[1.0], [-2.0]]), tf.Variable([0.5])
x = tf.constant(np.random.RandomState(0).randn(8, 2).astype("float32"))


@tf.function
def step(x):
    with tf.GradientTape() as tape:
        out = FAULT
        loss = tf.reduce_mean(tf.square(out - 1.0))
    grads = tape.gradient(loss, [w, b])
    w.assign_sub(0.01 * tf.where(tf.math.is_finite(grads[0]), grads[0], 0.0))
    RETURN


for k in range(100):
    b.assign([0.5 if k < 37 or k > 39 else -50.0])
    step(x)
"""
WAYS = {"dead": "tf.nn.relu(x @ w + b)", "broken": "tf.sqrt(x @ w + b + 5.0)"}


@pytest.mark.parametrize("gives", ["return loss", "pass"])
@pytest.mark.parametrize("way", WAYS)
def test_a_fault_is_seen_in_the_call_that_has_it(way: str, gives: str) -> None:
    session = diagnosed(FAULTS.replace("FAULT", WAYS[way]).replace("RETURN", gives))
    # Zeros that come back are counted and are no fault; what is not a number is one at once.
    steps = [finding.steps for finding in session.findings.values()]
    assert steps == ([] if way == "dead" else [[38, 39, 40]])
    (record,) = session.history.records.values()
    assert record.steps == 100
    states = {"zero" if way == "dead" else "nan": 3, "ok": 97}
    assert [line.states for line in record.lines] == [states, states]
    assert len(record.targets.numbers) == 100


def trained(step: Callable[..., Any], shapes: list[tuple[int, ...]]) -> list[bytes]:
    """What some calls of a function make of variables."""
    import tensorflow as tf

    rng = np.random.RandomState(0)
    variables = [tf.Variable(rng.randn(*s).astype("float32") * 0.3) for s in shapes]
    x = rng.randn(8, 4).astype("float32")
    tf.random.set_seed(3)
    function = tf.function(step)
    for k in range(12):
        function(tf.constant(x * (1.0 + 0.1 * k)), variables)
    return [v.numpy().tobytes() for v in variables]


def step_of_products(x: Any, variables: Any) -> Any:
    """TensorFlow makes one product of the rate and the derivative's factors."""
    import tensorflow as tf

    (w,) = variables
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(0.3 * (w * x) - 1.0))
    w.assign_sub(0.1 * tape.gradient(loss, w))
    return loss


def step_of_sums(x: Any, variables: Any) -> Any:
    """A sum of three begins with a part that nobody else needs."""
    import tensorflow as tf

    w, b = variables
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.nn.gelu(x @ w + b)) * 0.01
        loss += 0.01 * tf.nn.l2_loss(b) + 0.03 * tf.reduce_sum(b) + tf.nn.l2_loss(w)
    grads = [g + 0.01 * v for g, v in zip(tape.gradient(loss, variables), variables, strict=True)]
    for v, g in zip(variables, grads, strict=True):
        v.assign(v - 0.1 * (g * 0.7))
    return loss


def step_that_draws(x: Any, variables: Any) -> None:
    import tensorflow as tf

    w, b = variables
    with tf.GradientTape() as tape:
        noise = tf.random.normal(tf.shape(x)) + tf.random.uniform([4])
        loss = tf.reduce_mean(tf.square(tf.nn.dropout(x + noise, 0.2) @ w + b))
    for v, g in zip(variables, tape.gradient(loss, variables), strict=True):
        v.assign_sub(0.1 * g)


@pytest.mark.parametrize(
    ("step", "shapes"),
    [(step_of_products, [(4,)]), (step_of_sums, [(4, 4), (4,)]), (step_that_draws, [(4, 4), (4,)])],
)
def test_the_last_bit_is_the_same(step: Any, shapes: list[tuple[int, ...]]) -> None:
    plain = trained(step, shapes)
    with doctor.watch(engine="tensorflow") as report:
        watched = trained(step, shapes)
    assert watched == plain
    assert not report.faults
    assert report.history.gradients == 12 * len(shapes)


def test_what_draws_goes_on_drawing_when_the_doctor_has_left() -> None:
    import tensorflow as tf

    def drawn(watched: int) -> list[float]:
        tf.random.set_seed(5)
        w = tf.Variable(1.0)

        @tf.function
        def step() -> Any:
            with tf.GradientTape() as tape:
                loss = w * tf.random.normal([])
            return tape.gradient(loss, w)

        with doctor.watch(engine="tensorflow"):
            found = [float(step()) for _ in range(watched)]
        return found + [float(step()) for _ in range(6 - watched)]

    assert drawn(3) == drawn(0)


def test_an_error_is_the_function_s_own() -> None:
    import tensorflow as tf

    def message() -> str:
        w = tf.Variable(1.0)

        @tf.function
        def step(k: Any) -> Any:
            with tf.GradientTape() as tape:
                loss = w * w
            w.assign_sub(tape.gradient(loss, w))
            return tf.gather([1.0, 2.0], k)

        step(tf.constant(1))
        with pytest.raises(tf.errors.InvalidArgumentError) as raised:
            step(tf.constant(7))
        return str(raised.value).partition("[Op:")[0]

    messages = []
    for around in (contextlib.nullcontext(), doctor.watch(engine="tensorflow")):
        with around:
            messages.append(message())  # on the same line, which it tells
    plain, watched = messages
    assert watched == plain
