"""Every script in `examples/` runs as it stands and comes to what it promises."""

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
