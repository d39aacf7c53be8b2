"""How the doctor behaves on TensorFlow: the program is the same with it, and afterwards without."""

from __future__ import annotations

import re
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtape.doctor.engines.tensorflow import reading
from gradtape.doctor.session import Session
from tests.commands import gradtape, python

from ..programs import diagnose
from .running import PREAMBLE, diagnosed, needs_tensorflow, on_tensorflow  # noqa: F401

pytestmark = [*needs_tensorflow, pytest.mark.usefixtures("on_tensorflow")]

FAULTY = """\
x = tf.constant(3.0)
with tf.GradientTape() as tape:
    y = x * x
print("slope", tape.gradient(y, x))
"""
# Random numbers of all kinds, a model with state, functions, and a count of how often they trace.
PROGRAM = """\
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(7)
layers = tf.keras.layers
model = tf.keras.Sequential([
    tf.keras.Input((4,)), layers.Dense(8, "relu"), layers.BatchNormalization(),
    layers.Dropout(0.3), layers.Dense(1),
])
optimizer = tf.keras.optimizers.Adam(0.01)
traces = []


def step(x, y):
    traces.append(1)
    with tf.GradientTape() as tape:
        noise = tf.random.normal(tf.shape(x), stddev=0.1)
        error = tf.reduce_mean(tf.square(model(x + noise, training=True) - y))
        slope = tf.sqrt(tf.square(error - error))  # its gradient is not a number
    broken = tape.gradient(slope, model.trainable_variables)
    with tf.GradientTape() as tape:
        error = tf.reduce_mean(tf.square(model(x + noise, training=True) - y))
    gradients = tape.gradient(error, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return error, broken[0]


x = np.random.normal(size=(64, 4)).astype("float32")
y = x[:, :1] ** 2
for take in (step, tf.function(step)):
    for _ in range(6):
        error, broken = take(tf.constant(x), tf.constant(y))
        print(float(error).hex(), np.isnan(broken).all())
model.compile(optimizer, "mse")
history = model.fit(x, y, epochs=2, batch_size=16, verbose=0)
print([loss.hex() for loss in history.history["loss"]])
print([float(w.sum()).hex() for w in model.get_weights()])
print(len(traces), float(tf.random.normal([])).hex(), np.random.random().hex())
"""


def test_a_program_prints_the_same_bit_for_bit(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(PROGRAM)
    plain = python(script, timeout=300)
    watched = gradtape("doctor", "--engine", "tensorflow", script, timeout=300)
    assert plain.returncode == 0, plain.stderr
    assert watched.stdout == plain.stdout
    assert watched.returncode == 0
    assert "GT302 sqrt-at-zero" in watched.stderr
    assert "fault" not in watched.stderr


@pytest.mark.parametrize("line", ["tf.truncatemod(w, 1.5)", "w * h.numpy()"])
@pytest.mark.parametrize("decorator", ["@tf.function", ""])
def test_a_traceback_has_no_frames_of_the_doctor(line: str, decorator: str, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(
        "import tensorflow as tf\n\nw = tf.Variable([0.5, 2.0])\n\n\n"
        f"{decorator}\ndef step(h):\n    with tf.GradientTape() as tape:\n        y = {line}\n"
        "    return tape.gradient(y, w)\n\n\nstep(tf.constant(1.0))\n"
    )
    plain = python(script, timeout=300)
    watched = gradtape("doctor", "--engine", "tensorflow", script, timeout=300)
    assert watched.returncode == plain.returncode
    shown = plain.stderr.partition("Traceback")[2].strip()
    assert re.sub(r"generated_file\w+", "", shown) in re.sub(
        r"generated_file\w+", "", watched.stderr
    )


def _hooks() -> dict[str, Any]:
    """All that the doctor puts something of its own in the place of."""
    import keras
    from tensorflow.python.autograph.impl import api
    from tensorflow.python.eager import context
    from tensorflow.python.eager.backprop import GradientTape
    from tensorflow.python.eager.polymorphic_function import atomic_function
    from tensorflow.python.framework import constant_op, func_graph, ops
    from tensorflow.python.ops import custom_gradient, resource_variable_ops, script_ops

    owners = (
        GradientTape, atomic_function, atomic_function.AtomicFunction, constant_op, api,
        func_graph.FuncGraph, ops._EagerTensorBase, resource_variable_ops.BaseResourceVariable,
        custom_gradient, script_ops, script_ops.EagerFunc, keras.layers.Layer, threading.Thread,
        keras.src.backend.tensorflow.trainer.TensorFlowTrainer,
        keras.src.backend.tensorflow.core.Variable,
    )  # fmt: skip
    found = {f"{o.__name__}.{k}": v for o in owners for k, v in vars(o).items()}
    return {
        **found, "callbacks": list(context.context().op_callbacks), "finders": list(sys.meta_path),
    }  # fmt: skip


def test_nothing_is_left_behind() -> None:
    import tensorflow as tf

    before = _hooks()
    session = Session("tensorflow")
    session.start()
    during = _hooks()
    session.stop()
    after = _hooks()
    assert {k for k in before if before[k] is not during[k] and before[k] != during[k]}
    changed = {k for k in before if before[k] is not after[k] and before[k] != after[k]}
    assert changed == set()
    assert memoryview(tf.constant([1.0, 2.0])).nbytes == 8  # NumPy takes the memory again
    assert np.exp(tf.constant(0.0)) == 1.0


def test_a_fault_of_the_doctor_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(self: Any) -> None:
        raise KeyError("a fault\nof ours")

    monkeypatch.setattr(reading.Reader, "read", broken)
    session = Session("tensorflow")
    session.start()
    exec(compile(PREAMBLE + FAULTY, "<faulty>", "exec"), {"__name__": "__main__"})
    session.stop()
    assert capsys.readouterr().out == "slope None\n"
    assert len(session.faults) == 1
    assert "KeyError" in session.faults[0]
    assert "\n" not in session.faults[0]


@pytest.mark.parametrize(
    "moved",
    [
        "tensorflow.python.eager.polymorphic_function.atomic_function",
        "tensorflow.python.ops.script_ops",
        "tensorflow.python.ops.custom_gradient",
    ],
)
def test_what_a_version_does_not_have_is_told(moved: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import tensorflow as tf

    parent, _, name = moved.rpartition(".")
    monkeypatch.setitem(sys.modules, moved, None)  # type: ignore[arg-type]
    monkeypatch.delattr(sys.modules[parent], name)
    session = diagnosed(FAULTY)
    assert [f.name for f in session.findings.values()] == ["not-watched"]
    assert [note for note in session.notes if tf.__version__ in note]


def test_a_module_that_imports_tensorflow_late(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "model.py").write_text(
        "def slope(at):\n"
        "    import tensorflow as tf\n\n"
        "    x = tf.constant(at)\n"
        "    with tf.GradientTape() as tape:\n"
        "        y = x * x\n"
        "    return tape.gradient(y, x)\n"
    )
    (package / "train.py").write_text("from .model import slope\n\nprint(slope(3.0))\n")
    done = gradtape("doctor", "-m", "package.train", cwd=tmp_path, timeout=300)
    assert done.stdout == "None\n"
    assert "GT101 not-watched" in done.stderr
    assert "model.py:5" in done.stderr


def test_under_pytest(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    test = tmp_path / "test_slope.py"
    test.write_text(
        "import tensorflow as tf\n\n\n"
        "def test_slope():\n"
        "    x = tf.constant(3.0)\n"
        "    with tf.GradientTape() as tape:\n"
        "        y = x * x\n"
        "    tape.gradient(y, x)\n"
    )
    known = request.config.pluginmanager.has_plugin("gradtape")  # as the installed package
    plugin = () if known else ("-p", "gradtape.testing.plugin")
    done = python("-m", "pytest", *plugin, "--gradtape-doctor", test, cwd=tmp_path, timeout=300)
    assert done.returncode == 1
    assert "GT101 not-watched" in done.stdout


def test_in_a_notebook(capsys: pytest.CaptureFixture[str]) -> None:
    shells = pytest.importorskip("IPython.core.interactiveshell", reason="IPython is not there")
    shell = shells.InteractiveShell.instance()
    shell.run_line_magic("load_ext", "gradtape")
    shell.run_cell("import tensorflow as tf")
    shell.run_cell_magic("doctor", "", FAULTY)
    out = capsys.readouterr().out
    assert out.startswith("slope None\n")
    assert "GT101 not-watched" in out


def test_a_part_of_a_program() -> None:
    from gradtape import doctor

    with doctor.watch(engine="tensorflow") as report:
        exec(compile(PREAMBLE + FAULTY, "<part>", "exec"), {"__name__": "__main__"})
    assert [f.name for f in report.findings] == ["not-watched"]
    assert report.engine == "tensorflow"


def test_the_two_engines_do_not_hear_each_other() -> None:
    quiet = diagnose(PREAMBLE + FAULTY, "gradtape")
    assert not quiet.findings
