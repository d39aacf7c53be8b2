"""What the doctor does while a program on TensorFlow runs: eager, in functions and in `fit`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.commands import gradtape

from ..programs import diagnose, seed
from ..test_live import Asking, Followed, told
from .running import PREAMBLE, needs_tensorflow, on_tensorflow  # noqa: F401

pytestmark = [*needs_tensorflow, pytest.mark.usefixtures("on_tensorflow")]

STEP = """\
w, v = tf.Variable([0.5, 2.0]), tf.Variable(1.0)

{decorator}
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.sqrt(w - x)) + tf.stop_gradient(v)
    gradients = tape.gradient(loss, [w, v])
    w.assign_sub(0.001 * gradients[0])

for k in range(200):
    step(tf.constant(0.0 if k < 150 else 1.0))
"""
FIT = """\
import numpy as np
import tensorflow as tf

class Stopping(tf.keras.layers.Layer):
    def call(self, x):
        return tf.stop_gradient(x)

layers = tf.keras.layers
model = tf.keras.Sequential([layers.Input((4,)), layers.Dense(8), Stopping(), layers.Dense(1)])
model.compile("sgd", "mse")
x = np.ones((64, 4), "float32")
try:
    model.fit(x, x[:, :1], epochs=50, batch_size=16, verbose=0)
finally:
    print("finally")
"""


@pytest.mark.parametrize("decorator", ["", "@tf.function"])
def test_to_be_asked_changes_nothing(decorator: str, monkeypatch: Any) -> None:
    text = PREAMBLE + STEP.format(decorator=decorator)
    found = []
    for kind in (None, Asking):
        if kind is not None:
            monkeypatch.setattr("tests.doctor.programs.Truthful", kind)
        seed()
        found.append(told(diagnose(text, "tensorflow")))
    assert found[1] == found[0]


@pytest.mark.parametrize("decorator", ["", "@tf.function"])
def test_faults_are_said_at_first_sight(decorator: str, monkeypatch: Any) -> None:
    monkeypatch.setattr("tests.doctor.programs.Truthful", Followed)
    session: Any = diagnose(PREAMBLE + STEP.format(decorator=decorator), "tensorflow")
    first, *others = session.said.getvalue().splitlines()
    assert first.startswith("gradtape: step 1: d loss/d v is None, stop-gradient (GT124), ")
    assert any(re.match(r"gradtape: step 151: d loss/d w contains NaN, ", line) for line in others)


def test_fail_fast_in_fit(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(FIT)
    process = gradtape("doctor", "--fail-fast", "--output", "r.json", path.name, cwd=tmp_path)
    assert (process.returncode, process.stdout) == (3, "finally\n")
    assert "Traceback" not in process.stderr
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["exit"]["kind"] == "stopped"
    assert [(f["code"], f["steps"]) for f in report["findings"]] == [("GT124", [1])]


@pytest.mark.parametrize("decorator", ["", "@tf.function"])
def test_fail_fast_stops_at_its_step(decorator: str, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text("import tensorflow as tf\n" + STEP.format(decorator=decorator))
    gradtape("doctor", "--fail-fast=none", "--output", "r.json", path.name, cwd=tmp_path)
    report = json.loads((tmp_path / "r.json").read_text())
    assert [(f["code"], f["steps"]) for f in report["findings"]] == [("GT124", [1])]
    assert report["queries"][0]["step"] == 1
