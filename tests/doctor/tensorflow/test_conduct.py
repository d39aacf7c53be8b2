"""How the doctor behaves on TensorFlow: the program is the same with it, and afterwards without."""

from __future__ import annotations

import atexit
import gc
import hashlib
import linecache
import os
import re
import signal
import sys
import threading
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtape import doctor
from gradtape.doctor.engines import ears
from gradtape.doctor.engines.tensorflow import reading
from gradtape.doctor.entry.session import Session
from tests.commands import gradtape, python

from ..fitting import fitted, otherwise
from ..looking import seen
from ..programs import diagnose
from ..sections import Section
from ..test_doors import starting, with_variable
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
    plain = python(script)
    watched = gradtape("doctor", "--engine", "tensorflow", script)
    assert plain.returncode == 0, plain.stderr
    assert watched.stdout == plain.stdout
    assert watched.returncode == 0
    assert "GT302 sqrt-at-zero" in watched.stderr
    assert "fault" not in watched.stderr


def test_what_is_stored_copied_and_spread_is_the_same(tmp_path: Path) -> None:
    script = Path(__file__).with_name("saving.py")
    ways = {"plain": python, "twice": python, "watched": partial(gradtape, "doctor")}
    done, files = {}, {}
    for name, way in ways.items():
        (tmp_path / name).mkdir()
        done[name] = way(script, tmp_path / name, timeout=600)
        found = [f for f in (tmp_path / name).rglob("*") if f.is_file()]
        files[name] = {str(f.relative_to(tmp_path / name)): f.read_bytes() for f in found}
    plain, watched = done["plain"], done["watched"]
    assert plain.returncode == 5, plain.stderr
    assert watched.stdout == plain.stdout
    assert watched.returncode == 5
    assert "fault" not in watched.stderr
    assert files["watched"].keys() == files["plain"].keys()
    # Some hold the time, or names that are drawn at random.
    fixed = {name for name, data in files["plain"].items() if data == files["twice"].get(name)}
    # A graph that is saved names its functions by TensorFlow's count of all functions of the
    # process, those of the doctor among them.
    fixed -= {"saved/saved_model.pb", "saved/fingerprint.pb"}
    assert len(fixed) >= 4
    assert [name for name in fixed if files["watched"][name] != files["plain"][name]] == []


@pytest.mark.parametrize("line", ["tf.truncatemod(w, 1.5)", "w * h.numpy()"])
@pytest.mark.parametrize("decorator", ["@tf.function", ""])
def test_a_traceback_has_no_frames_of_the_doctor(line: str, decorator: str, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(
        "import tensorflow as tf\n\nw = tf.Variable([0.5, 2.0])\n\n\n"
        f"{decorator}\ndef step(h):\n    with tf.GradientTape() as tape:\n        y = {line}\n"
        "    return tape.gradient(y, w)\n\n\nstep(tf.constant(1.0))\n"
    )
    plain = python(script)
    watched = gradtape("doctor", "--engine", "tensorflow", script)
    assert watched.returncode == plain.returncode
    shown = plain.stderr.partition("Traceback")[2].strip()
    assert re.sub(r"generated_file\w+", "", shown) in re.sub(
        r"generated_file\w+", "", watched.stderr
    )


def _around() -> dict[str, Any]:
    """What stands in the classes and modules that the doctor listens to, and in its other ways."""
    import keras
    from tensorflow.python.autograph.impl import api
    from tensorflow.python.eager import context
    from tensorflow.python.eager.backprop import GradientTape
    from tensorflow.python.eager.polymorphic_function import atomic_function
    from tensorflow.python.framework import constant_op, func_graph, ops
    from tensorflow.python.ops import custom_gradient, resource_variable_ops, script_ops
    from tensorflow.python.util import traceback_utils

    owners = (
        GradientTape, atomic_function, atomic_function.AtomicFunction, constant_op, api,
        func_graph.FuncGraph, ops._EagerTensorBase, resource_variable_ops.BaseResourceVariable,
        custom_gradient, script_ops, script_ops.EagerFunc, keras.layers.Layer, threading.Thread,
        keras.src.backend.tensorflow.trainer.TensorFlowTrainer, traceback_utils, context, signal,
        keras.src.backend.tensorflow.core.Variable, sys, threading, linecache, atexit,
    )  # fmt: skip
    found = {f"{o.__name__}.{k}": id(v) for o in owners for k, v in vars(o).items()}
    return {
        **found, "callbacks": list(context.context().op_callbacks), "finders": list(sys.meta_path),
        "path": list(sys.path), "filters": list(warnings.filters), "hook": sys.excepthook,
        "trace": sys.gettrace(), "profile": sys.getprofile(), "collector": gc.get_threshold(),
        "signals": [signal.getsignal(k) for k in (signal.SIGTERM, signal.SIGINT)],
        "buffer": bytes(memoryview(tf_constant())), "environment": dict(os.environ),
        "limit": sys.getrecursionlimit(),
    }  # fmt: skip


def tf_constant() -> Any:
    import tensorflow as tf

    return tf.constant([1.0, 2.0])


def test_whoever_looks_at_what_is_listened_to_sees_no_difference() -> None:
    session = Session("tensorflow")
    session.start()
    touched = [ear.function for ear in ears.heard.values()]
    session.stop()
    assert len(touched) > 30
    assert not ears.heard
    codes = [function.__code__ for function in touched]
    before, around = [*map(seen, touched)], _around()
    session = Session("tensorflow")
    session.start()
    heard = [ear.function for ear in ears.heard.values()]
    during, meanwhile = [*map(seen, touched)], _around()
    session.stop()
    assert heard == touched
    assert during == before
    assert {k for k in around if around[k] != meanwhile.get(k)} == {"callbacks"}
    assert [*map(seen, touched)] == before
    assert _around() == around
    assert all(f.__code__ is code for f, code in zip(touched, codes, strict=True))


def test_a_layer_without_an_init_of_its_own() -> None:
    session = diagnosed(
        """\
class Double(tf.keras.layers.Layer):
    def call(self, x):
        return 2.0 * x


layer = Double()
twin = Double.from_config(layer.get_config())
w = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(layer(w) + twin(w))
tape.gradient(loss, w)
"""
    )
    assert not session.findings
    assert not session.faults


def test_the_memory_of_a_tensor_is_the_same() -> None:
    import tensorflow as tf

    def taken() -> list[Any]:
        x = tf.constant([1.0, 2.0])
        array = np.asarray(x)
        return [
            array.tobytes(), array.flags.writeable, type(array.base), array.base.obj is x,
            bytes(memoryview(x)), hashlib.sha256(x).hexdigest(), np.frombuffer(x, "f4").tolist(),
            np.array(x, dtype="f8").tolist(), np.exp(x).tolist(), np.asarray(tf.constant("a")),
        ]  # fmt: skip

    plain = taken()
    with doctor.watch(engine="tensorflow") as report:
        watched = taken()
    assert watched == plain
    assert not report.faults


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


def test_a_program_that_does_not_come_as_far_as_tensorflow(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("import a_module_that_is_missing\nimport tensorflow as tf\n")
    plain, watched = python(script), gradtape("doctor", script)
    assert plain.returncode == watched.returncode == 1
    assert watched.stderr == plain.stderr


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
    done = gradtape("doctor", "-m", "package.train", cwd=tmp_path)
    assert done.stdout == "None\n"
    assert "GT101 not-watched" in done.stderr
    assert "model.py:5" in done.stderr


ITERATORS = """\
import weakref
import tensorflow as tf

w = tf.Variable([1.0, 2.0])


def rows(count):
    try:
        for k in range(count):
            yield [float(k), 1.0]
    finally:
        print("closed", count)


def data(count):
    signature = tf.TensorSpec([2], tf.float32)
    return tf.data.Dataset.from_generator(rows, args=[count], output_signature=signature)


@tf.function
def step(iterator):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((w * next(iterator) - 1.0) ** 2)
    w.assign_sub(0.01 * tape.gradient(loss, w))
    return loss


for turn in range(2):
    iterator = iter(data(6))
    for _ in range(4):
        print(float(step(iterator)))
    handle = weakref.ref(iterator._iterator_resource)
    del iterator
    print("gone:", handle() is None)
    for x in data(3):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(w * x)
        tape.gradient(loss, w)
        if turn:
            break
print("end")
"""


def test_an_iterator_ends_when_the_program_lets_it_go(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(ITERATORS)
    plain = python(script, timeout=300)
    watched = gradtape("doctor", "--engine", "tensorflow", script, timeout=300)
    assert "gone: True" in plain.stdout
    assert watched.stdout == plain.stdout
    assert "all healthy" in watched.stderr


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
    done = python("-m", "pytest", *plugin, "--gradtape-doctor", test, cwd=tmp_path)
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
    with doctor.watch(engine="tensorflow") as report:
        exec(compile(PREAMBLE + FAULTY, "<part>", "exec"), {"__name__": "__main__"})
    assert [f.name for f in report.findings] == ["not-watched"]
    assert report.engine == "tensorflow"


def test_the_two_engines_do_not_hear_each_other() -> None:
    quiet = diagnose(PREAMBLE + FAULTY, "gradtape")
    assert not quiet.findings


# --- the environment ------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "first", ["", "import keras\n", "import importlib.util as u; u.find_spec('tensorflow')\n"]
)
def test_the_environment_asks_for_a_report_of_a_plain_program(first, tmp_path) -> None:
    """As where gradtape is installed: nobody imports it."""
    path = tmp_path / "plain.py"
    path.write_text(f"{first}import tensorflow as tf\n{FAULTY}")
    process = with_variable("1", *starting(tmp_path), path)
    assert (process.returncode, process.stdout) == (0, "slope None\n")
    assert "GT101 not-watched  `d y/d x` is None" in process.stderr
    assert process.stderr.endswith("gradtape doctor: 1 finding in 1 gradient\n")  # and no notes
    refused = with_variable("ture", *starting(tmp_path), path)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "GRADTAPE_DOCTOR: 'ture' is neither 1 or 0" in refused.stderr


# --- Keras ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", ["arrays", "dataset"])
def test_a_callback_changes_no_bit(kind: str, capsys) -> None:
    import tensorflow as tf

    def train(*callbacks: Any) -> tuple[Any, Any]:
        tf.keras.utils.set_random_seed(3)
        layers = tf.keras.layers
        model = tf.keras.Sequential([
            tf.keras.Input((4,)), layers.Dense(6, "relu"), layers.Dropout(0.2), layers.Dense(1),
        ])  # fmt: skip
        model.compile("adam", "mse")
        x = np.linspace(-1.0, 1.0, 64, dtype="float32").reshape(16, 4)
        given = {"x": x, "y": x[:, :1] ** 2, "batch_size": 4}
        if kind == "dataset":
            rows = tf.data.Dataset.from_tensor_slices((x, x[:, :1] ** 2)).shuffle(16)
            given = {"x": rows.map(lambda a, b: (2 * a, b)).batch(4)}
        fit = model.fit(**given, epochs=2, verbose=0, callbacks=callbacks)
        return fit.history["loss"], [w.tobytes() for w in model.get_weights()]

    callback = doctor.Callback(quiet=True)
    assert isinstance(callback, tf.keras.callbacks.Callback)
    assert train(callback) == train()
    assert callback.report.engine == "tensorflow"
    assert callback.report.history.states == {"ok": 32}
    assert not callback.report.notes
    assert capsys.readouterr().err == "gradtape doctor: 32 gradients, all healthy\n"


@pytest.mark.parametrize("section", fitted()[::8], ids=lambda section: section.title)
def test_a_callback_knows_the_end_of_a_model(section: Section) -> None:
    assert not otherwise(section, "tensorflow")


def test_a_model_that_was_made_before(capsys) -> None:
    """Its variables are known by the function that reads them."""
    import tensorflow as tf

    model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    with doctor.watch(engine="tensorflow") as report:
        model.fit(np.ones((4, 2)), np.ones((4, 1)), epochs=2, verbose=0)
    assert report.history.states == {"ok": 4}
