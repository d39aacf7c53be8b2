"""Every script in `examples/` runs as it stands and comes to what it promises.

Those in `examples/keras/` print what they print on the real TensorFlow: the very same losses.
"""

import re
from pathlib import Path

import pytest

from tests.commands import gradtape

EXAMPLES = Path(__file__).parents[1] / "examples"
PROMISES = {
    "attention": "100% of the tokens repeated",
    "differential_equation": "largest distance from sin(x): 0.00",
    "first_gradient": "y = 2.000 x + 1.000",
    "newton": "minimum at (1.000, 1.000)",
    "option_greeks": "implied volatility 0.343339",
    "two_tapes": "the real ones have mean 3.0, the fakes 3.",
}


def test_every_example_has_a_promise():
    assert sorted(PROMISES) == sorted(path.stem for path in EXAMPLES.glob("*.py"))


@pytest.mark.parametrize("name", PROMISES)
def test_example(name):
    process = gradtape("run", EXAMPLES / f"{name}.py")
    assert process.returncode == 0, process.stderr
    assert process.stderr == ""
    assert PROMISES[name] in process.stdout


@pytest.mark.parametrize("name", PROMISES)
def test_it_says_what_it_shows(name):
    text = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")
    assert text.startswith('"""')
    assert "import tensorflow as tf" in text
    assert len(text.splitlines()) <= 50


# --- with Keras -----------------------------------------------------------------------------------
RECORDED = Path(__file__).with_name("examples")
KERAS = sorted(path.stem for path in (EXAMPLES / "keras").glob("*.py"))
NUMBER = re.compile(r"-?\d+\.\d+")


def numbers(text):
    return [float(number) for number in NUMBER.findall(text)]


def test_what_tensorflow_prints_is_recorded():
    assert len(KERAS) == 15
    assert sorted(path.stem for path in RECORDED.glob("*.out")) == KERAS


@pytest.mark.parametrize("name", KERAS)
def test_losses_are_those_of_tensorflow(name):
    process = gradtape("run", EXAMPLES / "keras" / f"{name}.py")
    assert process.returncode == 0, process.stderr
    assert process.stderr == ""
    expected = (RECORDED / f"{name}.out").read_text(encoding="utf-8")
    assert NUMBER.sub("#", process.stdout) == NUMBER.sub("#", expected)
    # Of a number with six digits behind the point, the last may be rounded the other way.
    assert numbers(process.stdout) == pytest.approx(numbers(expected), rel=1e-4, abs=1.5e-6)


@pytest.mark.parametrize("name", KERAS)
def test_with_keras_it_is_short_and_seeded(name):
    text = (EXAMPLES / "keras" / f"{name}.py").read_text(encoding="utf-8")
    assert text.startswith('"""')
    assert "from tensorflow import keras" in text
    assert "keras.utils.set_random_seed(" in text
    assert len(text.splitlines()) <= 90
