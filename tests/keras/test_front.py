"""The doors to Keras: `tf.keras`, imports as programs write them, and what is said in the way."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands import gradtape, python

IMPORTS = """\
import sys

import tensorflow as tf

assert "keras" not in sys.modules, "Keras is imported before anybody asks for it"
import keras
import tensorflow.keras as k
import tensorflow.keras.layers as L
from keras import layers
from tensorflow import keras as again
from tensorflow.keras import Model, Sequential
from tensorflow.keras.layers import Dense, LSTM
from tensorflow.keras.optimizers.schedules import ExponentialDecay
from tensorflow.keras.preprocessing.sequence import pad_sequences
from tensorflow.keras.utils import to_categorical

assert k is again is tf.keras
assert L.Dense is Dense is layers.Dense is tf.keras.layers.Dense
assert tf.losses.MeanSquaredError is keras.losses.MeanSquaredError
assert tf.metrics.Mean is keras.metrics.Mean
assert tf.optimizers.Adam is keras.optimizers.Adam
assert tf.initializers.GlorotUniform is keras.initializers.GlorotUniform
assert keras.config.backend() == "tensorflow"
x = tf.ones([2, 3])
model = Sequential([tf.keras.Input((3,)), Dense(1, kernel_initializer="ones")])
with tf.GradientTape() as tape:
    y = tf.reduce_sum(model(x))
print([g.numpy().tolist() for g in tape.gradient(y, model.trainable_variables)])
print(tf.__name__)
"""
ALONE = """\
import gradtape as tf
from gradtape.keras.layers import Dense
import gradtape.keras.models as models

assert Dense is tf.keras.layers.Dense
model = models.Sequential([tf.keras.Input((3,)), Dense(1, kernel_initializer="ones")])
print(model(tf.ones([1, 3])).numpy().tolist())
"""


def test_keras_under_gradtape_run(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(IMPORTS)
    process = gradtape("run", script)
    assert process.stderr == ""
    assert process.stdout == "[[[2.0], [2.0], [2.0]], [2.0]]\ngradtape\n"


def test_keras_of_gradtape_alone(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(ALONE)
    process = python("-W", "ignore", script)
    assert process.stderr == ""
    assert process.stdout == "[[3.0]]\n"


def _another_tensorflow(folder: Path) -> None:
    """A package of that name where Python looks first."""
    (folder / "tensorflow").mkdir()
    (folder / "tensorflow" / "__init__.py").write_text("")


def test_an_installed_tensorflow_is_told_of(tmp_path: Path) -> None:
    _another_tensorflow(tmp_path)
    words = "import gradtape as tf; tf.keras; import tensorflow; print(tensorflow is tf)"
    process = python("-c", words, cwd=tmp_path)
    assert process.stdout == "True\n"
    assert "`import tensorflow` gives gradtape too" in process.stderr


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ("import tensorflow", "the real TensorFlow is imported in this process"),
        ("import os; os.environ['KERAS_BACKEND'] = 'jax'", "KERAS_BACKEND asks for 'jax'"),
        ("import keras.src.backend.config", "keras was imported before, on its 'jax' backend"),
        ("import os; os.environ['TF_USE_LEGACY_KERAS'] = '1'", "asks for Keras 2: unset it"),
    ],
)
def test_what_is_in_the_way_is_said(before: str, said: str, tmp_path: Path) -> None:
    _another_tensorflow(tmp_path)
    if "import keras" in before:  # one that needs no JAX
        (tmp_path / "keras/src/backend").mkdir(parents=True)
        (tmp_path / "keras/__init__.py").write_text("")
        (tmp_path / "keras/src/backend/config.py").write_text("def backend(): return 'jax'\n")
    program = f"{before}\nimport gradtape as tf\nx = tf.constant(1.0)\ntf.keras\n"
    process = python("-c", program, cwd=tmp_path)
    assert process.returncode == 1
    assert process.stderr.splitlines()[-1].startswith("ImportError: tf.keras on gradtape is Keras")
    assert said in process.stderr
