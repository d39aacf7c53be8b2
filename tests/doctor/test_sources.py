"""Code whose source is gone, or not what runs: the doctor says less, never something false."""

from __future__ import annotations

import linecache
import re
import warnings
from itertools import count, cycle
from pathlib import Path

import pytest

from gradtape.doctor import sources
from gradtape.doctor.report import Report
from gradtape.doctor.session import Session
from gradtape.doctor.visit import Delivery, render
from tests.commands import gradtape

from .programs import PREAMBLE, run

PROGRAMS = {
    f"{file.stem} {k}": text
    for file in sorted(Path(__file__).parent.glob("*.md"))
    for k, text in enumerate(re.findall(r"^```python\n(.*?)^```", file.read_text(), re.S | re.M))
}
_serial = count()


def examined(text: str, name: str) -> tuple[Session, str]:
    """The session of a program whose code has a file of this name, and its report."""
    session = Session()
    run(text, name, session)
    report = Report(name, "gradtape", session.history, [])
    report.complete(list(session.findings.values()), session.faults)
    return session, "\n".join(render(report, Delivery(f), None) for f in ("text", "json"))


@pytest.mark.parametrize("part", range(4))
def test_no_source_and_a_wrong_one(part: int, tmp_path: Path) -> None:
    assert len(PROGRAMS) > 200
    ways = cycle(("none", "another", "none", "broken"))
    for program, way in zip(list(PROGRAMS.values())[part::8], ways, strict=False):
        name = str(tmp_path / f"program_{next(_serial)}.py")
        if way != "none":
            other = "wrong_name = wrong_function('a secret')\n" * 40
            Path(name).write_text(other if way == "another" else "a b (\n" * 40)
        session, report = examined(PREAMBLE + program, name)
        assert not session.faults, (program, session.faults)
        assert "a secret" not in report
        for finding in session.findings.values():
            assert finding.edit is None, program
            assert finding.place is None or finding.place.node is None


def test_the_name_of_something_else() -> None:
    sources.keep("<string>", "first = 1\nsecond = 2\nthird = 3\nfourth = 4\n")
    text = (
        "w = tf.Variable(1.0)\nwith tf.GradientTape() as t:\n    y = tf.round(w)\nt.gradient(y, w)"
    )
    session, report = examined(PREAMBLE + text, "<string>")
    assert [f.name for f in session.findings.values()] == ["rounding-op"]
    assert "fourth" not in report
    assert "no source" in report


SELF = """\
import os, sys
import numpy as np
import tensorflow as tf

w = tf.Variable([1.0, 2.0])
END
with tf.GradientTape() as tape:
    loss = tf.constant(np.sum(w.numpy()))
print(tape.gradient(loss, w))
"""


@pytest.mark.parametrize(
    "end",
    ["os.remove(__file__)", "open(__file__, 'w').write('wrong = 1\\n' * 20)"],
)
def test_a_script_that_is_gone_is_shown_as_it_was(end: str, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(SELF.replace("END", end))
    done = gradtape("doctor", "--engine", "gradtape", script)
    assert (done.returncode, done.stdout) == (0, "None\n")
    assert "GT103 left-the-tape" in done.stderr
    assert "tf.constant(np.sum(w.numpy()))" in done.stderr
    assert "fault" not in done.stderr
    assert "wrong" not in done.stderr.replace(end, "")


def test_a_module_that_is_rewritten_is_not_shown(tmp_path: Path) -> None:
    (tmp_path / "part.py").write_text(
        "import tensorflow as tf\n\n\ndef part(w):\n    return tf.round(w)\n"
    )
    script = tmp_path / "train.py"
    script.write_text(
        "import part, tensorflow as tf\nopen(part.__file__, 'w').write('wrong = 1\\n' * 20)\n"
        "w = tf.Variable(1.5)\nwith tf.GradientTape() as tape:\n    y = part.part(w)\n"
        "print(tape.gradient(y, w))\n"
    )
    done = gradtape("doctor", "--engine", "gradtape", script)
    assert (done.returncode, done.stdout) == (0, "None\n")
    assert "GT128 rounding-op" in done.stderr
    assert "wrong" not in done.stderr
    assert "fault" not in done.stderr


def test_the_cache_of_lines_is_the_program_s_own() -> None:
    done = gradtape("doctor", "-c", "import linecache; print(sorted(linecache.cache))")
    assert done.stdout == "[]\n"
    assert isinstance(linecache.cache, dict)


def test_reading_makes_no_warning_and_forgets_none() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        before = list(warnings.filters)
        for _ in range(2):
            warnings.warn("once at a line", stacklevel=1)
            assert sources.read(r"a = '\d' is 3" + "\n") is not None
            assert list(warnings.filters) == before
    assert [str(w.message) for w in caught] == ["once at a line"]
