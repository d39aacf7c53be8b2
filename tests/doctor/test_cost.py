"""What looking costs: work that grows with the program and not faster, and memory under a bound.

Nothing is timed: calls of functions are counted, and bytes.
"""

import cProfile
import tracemalloc

import numpy as np
import pytest

import gradtape as tf
from gradtape.doctor import watch
from gradtape.doctor.entry import session
from gradtape.doctor.entry.session import RUNNING

LINEAR = 2.2  # times the calls for twice the variables
MB = 1 << 20


def summed(n):
    """Products of n variables, added up one by one."""
    variables = [tf.Variable(0.5 + k / n) for k in range(n)]
    with tf.GradientTape() as tape:
        total = variables[0] * 1.5
        for v in variables[1:]:
            total = total + v * 1.5
    tape.gradient(total, variables)


def residual(n):
    """A residual network of n layers."""
    weights = [tf.Variable(np.eye(2, dtype="float32") * 1e-3) for _ in range(n)]
    with tf.GradientTape() as tape:
        h = tf.ones((1, 2))
        for w in weights:
            h = h + tf.tanh(h @ w)
        loss = tf.reduce_mean(h)
    tape.gradient(loss, weights)


def trained(n):
    """Two steps, the second with variables that the first has changed."""
    variables = [tf.Variable(0.5 + k / n) for k in range(n)]
    for _ in range(2):
        with tf.GradientTape() as tape:
            total = tf.add_n([v * v for v in variables])
        for v, g in zip(variables, tape.gradient(total, variables), strict=True):
            v.assign_sub(g * 0.01)


def asked_one_by_one(n):
    """A tape of its own for every variable."""
    for v in [tf.Variable(0.5 + k / n) for k in range(n)]:
        with tf.GradientTape() as tape:
            loss = v * v
        tape.gradient(loss, v)


def taken_out(n):
    """All variables leave the tape as numbers."""
    variables = [tf.Variable(0.5 + k / n) for k in range(n)]
    with tf.GradientTape() as tape:
        total = tf.constant(0.0)
        for v in variables:
            total = total + tf.constant(float(v.numpy())) * 1.5
    tape.gradient(total, variables)


def stopped(n):
    variables = [tf.Variable(0.5 + k / n) for k in range(n)]
    with tf.GradientTape() as tape:
        total = tf.constant(0.0)
        for v in variables:
            total = total + tf.stop_gradient(v)
    tape.gradient(total, variables)


def unused(n):
    variables, other = [tf.Variable(0.5 + k / n) for k in range(n)], tf.Variable(2.0)
    with tf.GradientTape() as tape:
        total = other * other
    tape.gradient(total, variables)


def dead(n):
    variables = [tf.Variable(0.5 + k / n) for k in range(n)]
    with tf.GradientTape() as tape:
        total = tf.constant(0.0)
        for v in variables:
            total = total + (tf.nn.relu(v * -1.5) - 1.0) ** 2
    tape.gradient(total, variables)


def broken(n):
    variables = [tf.Variable(0.0) for _ in range(n)]
    with tf.GradientTape() as tape:
        total = tf.constant(0.0)
        for v in variables:
            total = total + tf.sqrt(v * v)
    tape.gradient(total, variables)


def calls(program, n):
    """How many calls of functions a program takes under the doctor, the report included."""
    profile = cProfile.Profile()
    profile.enable()
    with watch() as report:
        program(n)
    report.to_text()
    profile.disable()
    assert not report.faults
    return sum(entry.callcount for entry in profile.getstats()), report


@pytest.mark.parametrize("program", [summed, residual, trained, asked_one_by_one])
def test_a_healthy_step_is_looked_at_in_time_that_grows_with_it(program):
    calls(program, 50)
    few, _ = calls(program, 150)
    many, report = calls(program, 300)
    assert not report.findings
    assert many <= LINEAR * few


@pytest.mark.parametrize(
    ("program", "name"),
    [
        (taken_out, "python-scalar"), (stopped, "stop-gradient"), (unused, "wrong-sources"),
        (dead, "dead-relu"), (broken, "sqrt-at-zero"),
    ],
)  # fmt: skip
def test_one_fault_of_many_variables_is_one_finding_in_time_that_grows_with_them(program, name):
    calls(program, 50)
    few, _ = calls(program, 150)
    many, report = calls(program, 300)
    (finding,) = report.findings
    assert finding.name == name
    assert len(finding.sources) == 300
    assert many <= LINEAR * few


def test_variables_of_two_fates_in_one_query_have_a_finding_each():
    half = [tf.Variable(1.0) for _ in range(100)]
    rest = [tf.Variable(2.0) for _ in range(100)]
    with watch() as report:
        with tf.GradientTape() as tape:
            total = tf.constant(0.0)
            for a, b in zip(half, rest, strict=True):
                total = total + tf.stop_gradient(a) * tf.round(b)
        tape.gradient(total, half + rest)
    found = {finding.name: len(finding.sources) for finding in report.findings}
    assert found == {"stop-gradient": 100, "rounding-op": 100}


# --- memory ---------------------------------------------------------------------------------------
def shifted(steps=3, end=tf.reduce_sum, size=1 << 20):
    """Steps of 300 MB that a tape needs next to nothing of."""
    x = tf.Variable(np.ones((size,), "float32"))
    for _ in range(steps):
        with tf.GradientTape() as tape:
            h = x + 0.0
            for _ in range(75):
                h = h + 1.0
            loss = end(h)
        tape.gradient(loss, x)


def peak(work):
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("end", [tf.reduce_sum, tf.reduce_mean], ids=["sound", "vanishing"])
def test_memory_is_at_most_half_as_much_again_and_200_MB(end):
    plain = peak(lambda: shifted(end=end))

    def watched():
        with watch() as report:
            shifted(end=end)
        assert not report.faults

    assert peak(watched) <= 1.5 * plain + 200 * MB


def chain(n, stop=lambda y: y):
    """A chain of n ops in one tape."""
    x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = stop(x * 1.0)
        for _ in range(n - 1):
            y = y * 1.0
    tape.gradient(y, x)


def test_a_sound_step_that_is_too_large_to_be_read_is_told(monkeypatch):
    monkeypatch.setattr(session, "WHOLE", 100)
    with watch() as report:
        chain(200)
    assert not report.findings
    assert report.history.states == {"ok": 1}
    assert any("looked into only when a gradient is not sound" in note for note in report.notes)
    with watch() as report:
        chain(200, tf.stop_gradient)
    assert [finding.name for finding in report.findings] == ["stop-gradient"]


def test_sound_steps_are_read_again_as_far_as_there_is_work_left(monkeypatch):
    def looks(n):
        read = []
        examine = session.Session._examine
        count = lambda self, asked, record: (
            read.append(record.steps) or examine(self, asked, record)
        )
        with monkeypatch.context() as patch, watch() as report:
            patch.setattr(session.Session, "_examine", count)
            variables = [tf.Variable(0.5 + k / n) for k in range(n)]
            for _ in range(20):
                with tf.GradientTape() as tape:
                    total = tf.add_n([v * v for v in variables])
                for v, g in zip(variables, tape.gradient(total, variables), strict=True):
                    v.assign_sub(g * 0.01)
        assert not report.faults
        return read

    assert looks(10) == [1, 2, 3, 4, 16]
    assert looks(3_000) == [1, 16]


def test_what_was_let_go_is_computed_once_more_for_a_finding():
    with watch() as report:
        shifted(1, lambda h: tf.reduce_sum(tf.sqrt(tf.nn.relu(h - 1e6))), 1 << 18)
    assert not report.faults
    (finding,) = report.findings
    assert finding.name == "sqrt-at-zero"
    assert any(spot.value is not None and spot.value.high > 70.0 for spot in finding.spots)


def test_two_tapes_of_a_large_step_are_both_known_when_they_are_asked():
    x = tf.Variable(np.ones((1 << 20,), "float32"))
    y = tf.Variable(np.ones((1 << 20,), "float32"))
    with watch() as report:
        with tf.GradientTape() as first, tf.GradientTape() as second:
            a, b = x * 1.0, y * 1.0
            for _ in range(15):
                a, b = a + 1.0, b + 1.0
            one, two = tf.reduce_mean(a), tf.reduce_mean(tf.stop_gradient(b))
        first.gradient(one, x)
        second.gradient(two, y)
    assert [finding.name for finding in report.findings] == ["stop-gradient"]


def test_work_outside_of_tapes_does_not_pile_up():
    x = tf.constant(1.0)
    with watch():
        for _ in range(60_000):
            x = x * 1.0
        assert len(RUNNING[-1].engine.log) <= 45_000
