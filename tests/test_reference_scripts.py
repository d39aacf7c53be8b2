"""The scripts of ``reference_scripts`` print on gradtape what they print on TensorFlow."""

import re
from pathlib import Path

import numpy as np
import pytest

from tests.commands import gradtape

FOLDER = Path(__file__).with_name("reference_scripts")
RANDOM = "004_3"

SCRIPTS = [path.stem for path in sorted(FOLDER.glob("*.py"))]
EXACT = [name for name in SCRIPTS if name != RANDOM]


def recorded(name, ending):
    path = FOLDER / f"{name}.{ending}"
    return path.read_text(encoding="utf-8") if path.exists() else ""


def test_they_are_all_here():
    assert len(SCRIPTS) == 15
    assert len(EXACT) == 14


@pytest.mark.parametrize("name", EXACT)
def test_prints_what_tensorflow_prints(name):
    error = recorded(name, "error").strip()
    process = gradtape("run", FOLDER / f"{name}.py")
    assert process.stdout == recorded(name, "out")
    assert process.stderr.strip().rpartition("\n")[2] == error
    assert process.returncode == (1 if error else 0)


def test_random_weights():
    process = gradtape("run", FOLDER / f"{RANDOM}.py")
    number = re.compile(r"-?\d+\.\d*(e[-+]\d+)?")
    layout = re.compile(r"\s*#\s*")
    shown, expected = (number.sub("#", text) for text in (process.stdout, recorded(RANDOM, "out")))
    assert (process.returncode, process.stderr) == (0, "")
    assert layout.sub("#", shown) == layout.sub("#", expected)

    printed = [float(match[0]) for match in number.finditer(process.stdout)]
    weights, bias = np.reshape(printed[:6], (3, 2)), np.array(printed[6:])
    # With r = xW + b: dW = 2 x^T r and db = 2 r, so dW = x^T db; x is [1, 2, 3].
    np.testing.assert_allclose(weights, np.outer([1.0, 2.0, 3.0], bias), rtol=1e-5)
