"""What a training of Keras costs under the doctor on TensorFlow: memory, and looks."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from gradtape.doctor.engines.tensorflow.engine import Engine

from .running import diagnosed, needs_tensorflow, on_tensorflow  # noqa: F401

pytestmark = [*needs_tensorflow, pytest.mark.usefixtures("on_tensorflow")]

MB = 300  # beside twice what the plain program takes
PATIENCE = 900  # seconds, on a machine that is busy with other work

CONVOLUTIONS = """
tf.keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
layers = tf.keras.layers
stack = [layers.Input(({size}, {size}, 3))]
for _ in range({depth}):
    stack += [layers.Conv2D({width}, 3, padding="same"), layers.BatchNormalization(), layers.ReLU()]
stack += [layers.GlobalAveragePooling2D(), layers.Dense(6, activation="softmax")]
model = tf.keras.Sequential(stack)
model.compile("adam", "sparse_categorical_crossentropy")
x = rng.normal(size=(16 * {steps}, {size}, {size}, 3)).astype("float32")
model.fit(x, rng.integers(0, 6, len(x)), batch_size=16, epochs=1, verbose=0)
"""

MAIN = """
import json, os, resource, sys
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
from gradtape.doctor import watch
program = {program!r}
states = {{}}
if "watched" in sys.argv:
    with watch(engine="tensorflow") as report:
        exec(program)
    assert not report.faults and not report.findings, report
    states = report.history.states
else:
    exec(program)
unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
print(json.dumps([resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit, states]))
"""


def ran(program: str, how: str) -> tuple[float, dict[str, int]]:
    """The peak of a process in MB, and the states of the gradients."""
    done = subprocess.run(
        [sys.executable, "-c", MAIN.format(program=program), how], capture_output=True, text=True,
        timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    peak, states = json.loads(done.stdout.splitlines()[-1])
    return peak, states


def test_convolutions_with_batch_normalisation_are_healthy_and_take_little_memory() -> None:
    program = CONVOLUTIONS.format(size=32, depth=8, width=32, steps=6)
    plain, _ = ran(program, "plain")
    watched, states = ran(program, "watched")
    assert set(states) == {"ok", "cancelled"}
    assert watched <= 2 * plain + MB


def test_gradients_that_are_cancelled_are_looked_into_once() -> None:
    session = diagnosed(CONVOLUTIONS.format(size=8, depth=2, width=4, steps=40))
    (record,) = session.history.records.values()
    assert session.history.states.keys() == {"ok", "cancelled"}
    # The first calls and those of a power of four, as of a sound program.
    assert set(record.examined) <= {1, 2, 3, 4, 16}


def test_silence_within_silence_does_not_end_it() -> None:
    engine = Engine(lambda asked: None)
    engine.deaf = True
    engine.quietly(lambda: None)
    assert engine.deaf  # else all that an examination computes is logged
