"""Runs Keras's own tests plain and under the doctor, and compares them test by test.

    python -m tests.doctor.tensorflow.keras_tests            layers, optimizers, losses, saving
    python -m tests.doctor.tensorflow.keras_tests layers/core losses/loss_test.py
    python -m tests.doctor.tensorflow.keras_tests -k dense layers

The tests come with the wheel of Keras (`keras/src/**/*_test.py`) and run on TensorFlow: each part
in two processes, one as it is and one with `doctor.watch` around every test. What goes another way
there, or fails with other words, is printed, and the exit code is 1. Tests that need more than
TensorFlow and pytest (JAX, PyTorch, pandas) fail or are skipped in both alike. It takes long.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

WHOLE = ("losses", "saving", "optimizers", "layers")
OUTCOMES, WATCHED = "GRADTAPE_KERAS_OUTCOMES", "GRADTAPE_KERAS_WATCHED"
ROOT = Path(__file__).parents[3]


# --- the plugin, in the process of the tests ------------------------------------------------------
def pytest_runtest_logreport(report: Any) -> None:
    """Write down how each phase of a test went, and of a failure its last line."""
    if report.when == "call" or not report.passed:
        crash = getattr(report.longrepr, "reprcrash", None)
        words = "" if crash is None else crash.message.partition("\n")[0][:300]
        name = report.nodeid.rpartition("keras/src/")[2]
        with open(os.environ[OUTCOMES], "a", encoding="utf-8") as file:
            file.write(json.dumps([name, report.when, report.outcome, words]) + "\n")


def _watching(item: Any) -> Iterator[None]:
    from gradtape import doctor

    with doctor.watch(engine="tensorflow") as report:
        yield
    for fault in report.faults:
        with open(os.environ[OUTCOMES], "a", encoding="utf-8") as file:
            file.write(json.dumps([item.nodeid, "fault", "fault", str(fault)]) + "\n")


if os.environ.get(WATCHED):
    import pytest

    # Around fixtures and `setUp`, too: what they make belongs to the test.
    pytest_runtest_protocol = pytest.hookimpl(hookwrapper=True)(_watching)


# --- the comparison -------------------------------------------------------------------------------
def main(words: list[str] | None = None) -> int:
    """Compare; the exit code says whether there is a difference."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("-k", default="", help="of the tests, those that pytest selects by this")
    parser.add_argument("parts", nargs="*", help="folders and files below keras/src")
    options = parser.parse_args(words)
    worst = 0
    for part in options.parts or WHOLE:
        plain, watched = (outcomes([part], options.k, watch) for watch in (False, True))
        worst |= compare(part, plain, watched)
    return worst


def compare(part: str, plain: dict, watched: dict) -> int:
    """Print how two runs of a part differ."""
    faults = {k: v for k, v in watched.items() if k[1] == "fault"}
    watched = {k: v for k, v in watched.items() if k not in faults}
    differing = [k for k in {**plain, **watched} if plain.get(k) != watched.get(k)]
    passed = sum(outcome[0] == "passed" for outcome in plain.values())
    same = "the same" if not differing else f"{len(differing)} differ"
    print(f"{part}: {len(plain)} tests, {passed} pass: {same} under the doctor", flush=True)
    for name in differing:
        print(f"  {name}\n    plain    {plain.get(name)}\n    watched  {watched.get(name)}")
    for (name, _), (_, words) in faults.items():
        print(f"  a fault of the doctor's own in {name}: {words}")
    return int(bool(differing or faults or not plain))


def outcomes(parts: Sequence[str], choice: str = "", watch: bool = False) -> dict:
    """How the tests of some parts went: (test, phase) -> (outcome, words of a failure)."""
    spec = importlib.util.find_spec("keras")
    assert spec is not None, "Keras is not installed"
    assert spec.origin is not None
    tests = [str(Path(spec.origin).parent / "src" / part) for part in parts]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "outcomes")
        file.touch()
        variables = {
            **os.environ, "KERAS_BACKEND": "tensorflow", "TF_CPP_MIN_LOG_LEVEL": "3",
            OUTCOMES: str(file), WATCHED: "1" if watch else "",
            "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
        }  # fmt: skip
        command = [
            sys.executable, "-m", "pytest", "-q", "--no-header", "-p", "no:cacheprovider",
            "-p", "tests.doctor.tensorflow.keras_tests", "-o", "python_files=*_test.py",
            "--rootdir", folder, "-c", os.devnull, "-W", "ignore", "--tb=line", "-k", choice,
            "--continue-on-collection-errors",  # some files need what the wheel does not bring
            *tests,
        ]  # fmt: skip
        done = subprocess.run(
            command, env=variables, cwd=folder, capture_output=True, text=True, check=False
        )
        lines = [json.loads(line) for line in file.read_text().splitlines()]
    if not lines:
        print(done.stdout[-3000:], done.stderr[-3000:], file=sys.stderr)
    return {(name, phase): (outcome, words) for name, phase, outcome, words in lines}


if __name__ == "__main__":
    sys.exit(main())
