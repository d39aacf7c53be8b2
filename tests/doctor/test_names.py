"""What sources are called: what their owners call them, in every run, with all other names."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from gradtape.doctor.report import Report

from .programs import PREAMBLE, diagnose

OWNERS = """
alpha = tf.Variable(1.0, name="rate")
beta = tf.Variable(2.0)
class Model: pass
model = Model()
model.w2 = tf.Variable(3.0)
params = [alpha, beta, model.w2, tf.Variable(4.0)]
with tf.GradientTape() as tape:
    loss = alpha * 2.0
tape.gradient(loss, params)
"""
REBOUND = """
import gradtape as tf
a = tf.Variable(1.0)
w = tf.Variable(2.0)
b = tf.Variable(3.0)
for step in range(2):
    with tf.GradientTape() as tape:
        loss = w * a * b
    grad = tape.gradient(loss, w)
    w = w - 0.1 * grad
"""


def sources(text: str) -> list[tuple[str, list[str]]]:
    session = diagnose(PREAMBLE + text)
    findings = list(session.findings.values())
    told = Report("program.py", "gradtape", session.history, findings).to_json()
    return [(r["source"], r["aliases"]) for q in told["queries"] for r in q["results"]]


def test_a_number_in_a_list_is_the_last_resort() -> None:
    assert sources(OWNERS) == [
        ("rate", ["params[0]", "alpha"]), ("beta", ["params[1]"]), ("model.w2", ["params[2]"]),
        ("params[3]", []),
    ]  # fmt: skip


def test_the_name_of_a_loop_is_no_name() -> None:
    text = "ws = [tf.Variable(1.0), tf.Variable(2.0)]\nwith tf.GradientTape() as tape:\n"
    text += "    y = 1.0\n    for w in ws:\n        y = y * w\ntape.gradient(y, ws)\n"
    assert sources(text) == [("ws[0]", []), ("ws[1]", [])]


def test_a_name_that_two_have_is_no_name() -> None:
    text = "ws = [tf.Variable(1.0, name='w'), tf.Variable(2.0, name='w')]\n"
    text += "with tf.GradientTape() as tape:\n    y = ws[0] * ws[1]\ntape.gradient(y, ws)\n"
    assert [name for name, _ in sources(text)] == ["ws[0]", "ws[1]"]


@pytest.mark.process
@pytest.mark.parametrize("seed", [0, 1, 7])
def test_where_a_variable_was_made_depends_on_no_hash(seed: int, tmp_path) -> None:
    script = tmp_path / "rebound.py"
    script.write_text(REBOUND)
    report = tmp_path / "report.json"
    command = [sys.executable, "-m", "gradtape", "doctor", "--output", str(report), str(script)]
    env = {**os.environ, "PYTHONHASHSEED": str(seed)}
    subprocess.run(command, capture_output=True, env=env)
    (finding,) = json.loads(report.read_text())["findings"]
    assert [(p["line"], p["label"]) for p in finding["also"]] == [(4, "the variable was made here")]
