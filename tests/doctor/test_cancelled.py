"""Gradients that a later operation cancels are told apart from those that vanish."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gradtape.doctor.entry.session import Session
from gradtape.doctor.report import Report
from gradtape.doctor.report.data import data

from .programs import PREAMBLE, diagnose

TEXT = (Path(__file__).parent / "cancelled.md").read_text()
PROGRAMS = [
    pytest.param(program, wanted.split("\n")[:-1], id=title)
    for title, program, wanted in re.findall(
        r"^## (.*?)\n.*?^```python\n(.*?)^```$.*?^```cancelled\n(.*?)^```$", TEXT, re.M | re.S
    )
]


def reasons(session: Session) -> list[str]:
    """The sources that are cancelled in every step, with the reason."""
    lines = [line for record in session.history.records.values() for line in record.lines]
    assert all(set(line.states) == {"cancelled"} for line in lines if line.reason)
    return [f"{line.name}: {line.reason}" for line in lines if line.reason]


@pytest.mark.parametrize(("program", "wanted"), PROGRAMS)
def test_the_table_names_the_operation_that_removes_a_source(
    program: str, wanted: list[str]
) -> None:
    session = diagnose(PREAMBLE + program)
    assert reasons(session) == wanted
    assert not session.findings or not wanted


def test_a_program_with_such_gradients_is_healthy_and_is_not_examined_for_them() -> None:
    program = PROGRAMS[0].values[0].replace("range(3)", "range(40)")
    session = diagnose(PREAMBLE + program)
    report = Report("program.py", "gradtape", session.history, [])
    assert report.to_text().endswith("160 gradients, all healthy\n")
    (record,) = session.history.records.values()
    # As of any sound step: the first three, and then those of a power of four.
    assert record.examined == [1, 2, 3, 4, 16]


def test_the_report_as_data_gives_the_reason() -> None:
    session = diagnose(PREAMBLE + PROGRAMS[0].values[0])
    found = data(Report("program.py", "gradtape", session.history, []))
    rows = {row["source"]: row for row in found["queries"][0]["results"]}
    assert rows["bias"]["state"] == "cancelled"
    assert rows["bias"]["reason"].startswith("no effect: removed by `tf.nn.batch_normalization")
    assert rows["kernel"]["reason"] is None


def test_a_source_that_is_lost_with_all_that_could_learn_beside_it_keeps_its_finding() -> None:
    session = diagnose(
        PREAMBLE
        + """\
x = tf.constant(np.random.RandomState(0).randn(8, 4).astype("float32"))
kernel, bias = tf.Variable(tf.ones([4, 1])), tf.Variable([0.1])
with tf.GradientTape() as tape:
    shares = tf.nn.softmax(x @ kernel + bias)
    loss = tf.reduce_mean((shares - 0.25) ** 2)
gradients = tape.gradient(loss, [kernel, bias])
"""
    )
    assert reasons(session) == []
    assert [f.name for f in session.findings.values()] == ["constant-function"]
