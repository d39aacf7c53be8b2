"""Spots: what a finding remembers of the expressions between a source and a target."""

from __future__ import annotations

import numpy as np
import pytest

from gradtape.doctor.facts import spots
from gradtape.doctor.trace.finding import Finding

from .programs import PREAMBLE, diagnose


def first(text: str) -> Finding:
    return next(iter(diagnose(PREAMBLE + text).findings.values()))


STOPPED = """\
w = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    a = w * w
    b = tf.stop_gradient(a)
    loss = tf.reduce_sum(b * 3.0)
tape.gradient(loss, w)
"""


def test_a_path_is_told_in_its_order_with_the_break() -> None:
    found = first(STOPPED).spots
    assert [s.name for s in found] == ["w", "mul", "stop_gradient", "mul", "reduce_sum"]
    assert [s.flows for s in found] == [False, False, True, True, True]
    assert [s.breaks for s in found] == [False, False, True, False, False]
    assert [s.place.text for s in found[1:3]] == ["w * w", "tf.stop_gradient(a)"]


def test_values_and_gradients_are_there_in_numbers() -> None:
    w, square, stopped, *_ = first(STOPPED).spots
    assert (square.shape, square.dtype) == ((2,), "float32")
    assert square.value is not None
    assert (square.value.low, square.value.high) == (1.0, 4.0)
    assert square.gradient is None
    assert stopped.gradient is not None
    assert stopped.gradient.mean == 3.0
    assert w.gradient is None
    assert w.would_be is not None
    assert (w.would_be.low, w.would_be.high) == (6.0, 12.0)


def test_the_path_goes_by_the_culprit_though_a_shorter_one_does_not() -> None:
    found = first(
        """\
x = tf.Variable([1.0, 1.0])
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(x) + tf.sqrt(tf.reduce_sum(tf.square(x - x)))
tape.gradient(loss, x)
"""
    )
    assert [s.name for s in found.spots if s.breaks and s.on_path]
    assert any(word.startswith("[") for word in found.path)
    assert any(not s.on_path for s in found.spots)


def test_earlier_steps_are_not_told() -> None:
    found = first(
        """\
w, v = tf.Variable(1.0), tf.Variable(1.0)
for step in range(3):
    with tf.GradientTape() as tape:
        loss = w * w + tf.stop_gradient(v)
    g, none = tape.gradient(loss, [w, v])
    w.assign_sub(0.1 * g)
"""
    )
    assert "assign_sub" not in {s.name for s in found.spots}


def test_a_long_path_is_thinned() -> None:
    found = first(
        """\
w = tf.Variable(1.0)
with tf.GradientTape() as tape:
    y = w * 1.0
    for _ in range(2000):
        y = y * 1.0
    loss = tf.stop_gradient(y) + 1.0
tape.gradient(loss, w)
"""
    ).spots
    assert 50 <= len(found) <= 1.2 * spots.MOST
    assert any(s.breaks for s in found)
    times = [s.time for s in found if s.on_path]
    assert times == sorted(times)


def test_a_kept_finding_holds_no_trace() -> None:
    found = first(STOPPED)
    assert found.survey is None
    assert found.spots


@pytest.mark.parametrize(
    ("array", "wanted"),
    [
        (np.array([1.0, -3.0, 0.0, 0.0]), (4, -3.0, 1.0, -0.5, 2, 0)),
        (np.array([1.0, np.nan, np.inf], "float32"), (3, 1.0, 1.0, 1.0, 0, 2)),
        (np.array([3 + 4j]), (1, 5.0, 5.0, 5.0, 0, 0)),
        (np.array([True, False]), (2, 0.0, 1.0, 0.5, 1, 0)),
        (np.array(2), (1, 2.0, 2.0, 2.0, 0, 0)),
    ],
)
def test_statistics(array: np.ndarray, wanted: tuple) -> None:
    found = spots.stats(array)
    assert found is not None
    assert (found.size, found.low, found.high, found.mean, found.zeros, found.broken) == wanted


def test_statistics_of_what_is_no_number() -> None:
    assert spots.stats(np.array(["a"])) is None
    assert spots.stats(np.zeros((0, 3))) is None
    every = spots.stats(np.array([np.nan, np.nan]))
    assert every is not None
    assert every.broken == 2
