"""Whatever is examined, the doctor takes a bounded part of the machine: memory, and counted work.

Each program runs in a process of its own, plain and watched. Time is not asserted: what is examined
is counted in operations, and a process that hangs is ended after minutes.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import gradtape as tf
from gradtape.doctor import watch
from gradtape.doctor.facts import budget

MB = 300  # beside twice what the plain program takes
PATIENCE = 600  # seconds, on a machine that is busy with other work

MAIN = """
import json, resource, sys
import numpy as np
import gradtape as tf
rng = np.random.RandomState(0)
def normal(*shape, size=0.1):
    return tf.Variable((rng.randn(*shape) * size).astype("float32"))
def data(*shape):
    return tf.constant(rng.randn(*shape).astype("float32"))
def work():
{program}
found = []
if "watched" in sys.argv:
    from gradtape.doctor import watch
    with watch(engine="gradtape") as report:
        work()
    assert not report.faults, report.faults
    found = [[finding.name, finding.state] for finding in report.findings]
else:
    work()
unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
print(json.dumps([peak, found]))
"""

RECURRENCE = """
    w, u, x = normal(64, 64, size=0.01), normal(16, 64), data({steps}, 32, 16)
    with tf.GradientTape() as tape:
        h = tf.zeros((32, 64))
        for t in range({steps}):
            h = {step}
        loss = {loss}
    tape.gradient(loss, [w, u])
"""
DEEP = """
    weights, x = [normal(32, 32, size=0.2) for _ in range({layers})], data(16, 32)
    with tf.GradientTape() as tape:
        h = x
        for w in weights:
            h = {step}
        loss = {loss}
    tape.gradient(loss, weights)
"""
WIDE = """
    x, first, last = data({rows}, 64), normal(64, {width}), normal({width}, 4)
    with tf.GradientTape() as tape:
        h = {step}
        loss = {loss}
    tape.gradient(loss, [first, last])
"""


def programs() -> list[Any]:
    """Recurrences, deep and wide networks and large batches, in every bad state."""
    found = []
    ends = {
        "sound": "tf.reduce_mean(h ** 2)",
        "none": "tf.constant(float(tf.reduce_mean(h)))",
        "zero": "tf.reduce_mean(h * 0.0)",
        "inf": "tf.reduce_sum(tf.exp(tf.abs(h) * 1e3 + 200.0))",
        "nan": "tf.reduce_mean(tf.sqrt(tf.nn.relu(h) - tf.nn.relu(h)))",
        "vanishing": "tf.reduce_mean(h ** 2) * 1e-12",
        "exploding": "tf.reduce_mean(h ** 2) * 1e12",
    }
    step = "tf.nn.softplus(h @ w + x[t] @ u)"
    for state, loss in ends.items():
        found.append((f"recurrence-{state}", RECURRENCE.format(steps=120, step=step, loss=loss)))
        found.append(
            (f"deep-{state}", DEEP.format(layers=60, step="h + tf.tanh(h @ w)", loss=loss))
        )
        wide = {"step": "tf.nn.relu(x @ first) @ last", "loss": loss}
        found.append((f"wide-{state}", WIDE.format(rows=64, width=20_000, **wide)))
        found.append((f"batch-{state}", WIDE.format(rows=60_000, width=64, **wide)))
    # Which grew by 350 MB a second, until it was ended at 24 GB.
    root = "tf.sqrt(tf.nn.relu(h @ w + x[t] @ u))"
    found.append((
        "recurrence-of-roots", RECURRENCE.format(steps=500, step=root, loss="tf.reduce_mean(h**2)"),
    ))  # fmt: skip
    return [pytest.param(text, id=name) for name, text in found]


def ran(program: str, how: str) -> tuple[float, list[list[str]]]:
    """The peak of a process in MB, and what was found in it."""
    text = MAIN.replace("{program}", program.strip("\n"))
    done = subprocess.run(
        [sys.executable, "-c", text, how], capture_output=True, text=True, timeout=PATIENCE,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    peak, found = json.loads(done.stdout.splitlines()[-1])
    return peak, found


@pytest.mark.parametrize("program", programs())
def test_the_doctor_takes_a_bounded_part_of_the_memory(program: str) -> None:
    plain, _ = ran(program, "plain")
    watched, found = ran(program, "watched")
    assert watched <= 2 * plain + MB
    if "tf.sqrt(tf.nn.relu(h @ w" in program:
        assert found == [["sqrt-at-zero", "nan"]]


# --- what is counted ------------------------------------------------------------------------------
def roots(steps: int) -> None:
    """A recurrence whose gradient is NaN."""
    rng = np.random.RandomState(0)
    w = tf.Variable(rng.randn(8, 8).astype("float32") * 0.01)
    u = tf.Variable(rng.randn(4, 8).astype("float32") * 0.1)
    x = tf.constant(rng.randn(steps, 4, 4).astype("float32"))
    with tf.GradientTape() as tape:
        h = tf.zeros((4, 8))
        for t in range(steps):
            h = tf.sqrt(tf.nn.relu(h @ w + x[t] @ u))
        loss = tf.reduce_mean(h**2)
    tape.gradient(loss, [w, u])


def test_an_examination_computes_a_few_times_what_the_step_computed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    paid: list[int] = []
    pay = budget.Budget.pay

    def counting(self: budget.Budget, numbers: int) -> None:
        paid.append(numbers)
        pay(self, numbers)

    monkeypatch.setattr(budget.Budget, "pay", counting)
    counts = []
    for steps in (50, 100):
        paid.clear()
        with watch(engine="gradtape") as report:
            roots(steps)
        assert [finding.name for finding in report.findings] == ["sqrt-at-zero"]
        counts.append(len(paid))
    assert counts[1] < 2.5 * counts[0]
    assert counts[1] < 40 * 6 * 100


@pytest.mark.parametrize(
    ("limit", "words"),
    [("OPERATIONS", "as many operations as are allowed"), ("SECONDS", "after 0 s")],
)
def test_what_was_found_is_told_when_the_budget_is_spent(
    monkeypatch: pytest.MonkeyPatch, limit: str, words: str
) -> None:
    monkeypatch.setattr(budget, limit, 0)
    monkeypatch.setattr(budget, "TIMES", 0)
    with watch(engine="gradtape") as report:
        x = tf.Variable([0.0, 4.0])
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.sqrt(x) * 0.0)
        tape.gradient(loss, x)
    assert not report.faults
    assert any("the examination stopped" in note and words in note for note in report.notes)
