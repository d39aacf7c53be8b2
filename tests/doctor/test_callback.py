"""`gradtape.doctor.Callback`: a training of Keras under the doctor, the same to the last bit."""

from __future__ import annotations

import contextlib
import gc
import json

import numpy as np
import pytest

import gradtape as tf
from gradtape import doctor
from gradtape.doctor.entry.session import RUNNING

from .fitting import fitted, found, otherwise
from .programs import PREAMBLE
from .sections import Section
from .test_healthy import TRAININGS

pytestmark = pytest.mark.filterwarnings("ignore:::keras", "ignore:Keras runs on gradtape")


@pytest.fixture(scope="module")
def keras():
    return tf.keras


class Training:
    """A model of which some weights lose their gradients, trained for some steps."""

    def __init__(self, keras, lost: bool = True) -> None:
        class Stop(keras.layers.Layer):
            def call(self, x):
                return tf.stop_gradient(x) if lost else x

        keras.utils.set_random_seed(1)
        self.model = keras.Sequential(
            [keras.Input((4,)), keras.layers.Dense(4, name="first"), Stop(), keras.layers.Dense(1)]
        )
        self.model.compile("sgd", "mse")
        x = np.linspace(-1.0, 1.0, 64, dtype="float32").reshape(16, 4)
        self.data = x, x.sum(1, keepdims=True)

    def fit(self, *callbacks, epochs=2):
        history = self.model.fit(
            *self.data, epochs=epochs, batch_size=4, verbose=0, callbacks=[*callbacks]
        )
        return history.history["loss"], [w.tolist() for w in self.model.get_weights()]


def test_training_is_the_same_and_the_report_follows(keras, capsys) -> None:
    callback = doctor.Callback()
    assert isinstance(callback, keras.callbacks.Callback)
    assert issubclass(doctor.Callback, keras.callbacks.Callback)
    assert doctor.Callback is doctor.Callback
    losses, weights = Training(keras).fit(callback)
    with doctor.watch():
        assert (losses, weights) == Training(keras).fit()
    plain = Training(keras).fit()
    assert losses == pytest.approx(plain[0], rel=1e-6)
    for mine, its in zip(weights, plain[1], strict=True):
        np.testing.assert_allclose(mine, its, rtol=1e-5)
    said = capsys.readouterr().err
    assert said.startswith("gradtape: step 1: d loss/d (sequential")
    assert said.count("gradtape: ") == 1
    assert "\ngradtape doctor: 1 finding in 32 gradients\n" in said
    assert [f.name for f in callback.report.findings] == ["stop-gradient"]
    assert not RUNNING


def test_a_healthy_training_says_one_line(keras, capsys) -> None:
    callback = doctor.Callback(strict=True, fail_fast=True)
    Training(keras, lost=False).fit(callback)
    assert capsys.readouterr().err == "gradtape doctor: 32 gradients, all healthy\n"


def test_it_stops_at_the_first_fault(keras, capsys) -> None:
    callback, training = doctor.Callback(fail_fast="none,nan"), Training(keras)
    with pytest.raises(
        doctor.FaultFound, match=r"GT124 stop-gradient \(.*test_callback.py:\d+\)"
    ) as at:
        training.fit(callback)
    assert at.value.report is callback.report
    assert callback.report.history.gradients == 4  # of one step
    assert not RUNNING
    untouched = doctor.Callback(fail_fast="exploding")
    Training(keras).fit(untouched)
    assert len(untouched.report.findings) == 1


def test_it_is_strict_at_the_end(keras, tmp_path, capsys) -> None:
    path = tmp_path / "report.json"
    callback = doctor.Callback(path, strict=True, quiet=True)
    with pytest.raises(doctor.FaultFound):
        Training(keras).fit(callback)
    assert capsys.readouterr().err == f"gradtape doctor: 1 finding in 32 gradients: {path}\n"
    assert [f["code"] for f in json.loads(path.read_text())["findings"]] == ["GT124"]


def test_a_training_that_ends_otherwise_has_its_report(keras, capsys) -> None:
    class Fails(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            raise ZeroDivisionError

    with contextlib.suppress(ZeroDivisionError):
        Training(keras).fit(doctor.Callback(), Fails())
    gc.collect()  # what the exception held
    assert "1 finding in 16 gradients" in capsys.readouterr().err
    assert not RUNNING


def test_each_training_has_a_report_of_its_own(keras, capsys) -> None:
    callback, training = doctor.Callback(quiet=True), Training(keras)
    training.fit(callback, epochs=1)
    first = callback.report
    training.fit(callback, epochs=2)
    assert (first.history.gradients, callback.report.history.gradients) == (16, 32)
    assert [f.name for f in callback.report.findings] == ["stop-gradient"]


@pytest.mark.parametrize("section", fitted()[::5], ids=lambda section: section.title)
def test_the_end_of_a_model_is_known_from_inside_of_fit(section: Section, keras) -> None:
    assert not otherwise(section, "gradtape")


@pytest.mark.parametrize("title", ["rare classes with weights of classes", "two heads: a class"])
def test_a_sound_end_of_a_model(title, keras) -> None:
    text = next(text for known, text in TRAININGS if known.startswith(title))
    assert found(PREAMBLE + text) == []


def test_the_labels_are_known_to_a_session_around_it_as_well(keras) -> None:
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1, activation="sigmoid")])
    model.compile("sgd", "binary_crossentropy")
    x, callback = np.random.default_rng(0).normal(size=(64, 4)), doctor.Callback(quiet=True)
    with doctor.watch() as report:
        model.fit(x, np.ones(64), epochs=2, verbose=0, callbacks=[callback])
    for each in (report, callback.report):
        assert [f.name for f in each.findings] == ["one-class"]
        assert each.findings[0].place.brief.startswith("model.fit(")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"output": "report.pdf"}, "'report.pdf' names no format; give a file that ends in"),
        ({"fail_fast": "lost"}, "'lost' is no state of a gradient; give True, or some of none"),
    ],
)
def test_options_that_cannot_be_meant(options, said, keras) -> None:
    with pytest.raises(ValueError, match=said):
        doctor.Callback(**options)
