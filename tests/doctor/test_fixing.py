"""What `--fix` and `--diff` change: the lines that a trial has confirmed, and not a byte beside."""

from __future__ import annotations

import linecache
import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from gradtape.doctor.entry.session import Session
from gradtape.doctor.fixing.files import Refused, SourceFile, replace
from gradtape.doctor.fixing.patch import as_bytes
from gradtape.doctor.fixing.plan import confirmed, rewritten
from gradtape.doctor.report import Report
from gradtape.doctor.source import place, sources
from gradtape.doctor.trace.finding import CONFIRMED, Finding, Verdict

from .programs import PREAMBLE, run, seed
from .sections import HERE, sections
from .test_rules import CASES

pytestmark = pytest.mark.filterwarnings("ignore:::keras")
FILED = [(case.id, case.section) for case in CASES]
FILED += [(f"functions: {s.title}", s) for s in sections(HERE / "functions.md")]
EDITED = {name: s.failing for name, s in FILED if "\nedit" in s.expected}

LOST = """\
import numpy as np
import gradtape as tf

w = tf.Variable([1.0, 2.0])  # weights
for _ in range(3):
    with tf.GradientTape() as tape:
        y = np.tanh(w)  # leaves
        loss = tf.reduce_sum(y * y)
    grad = tape.gradient(loss, w)
"""
CURED = LOST.replace("np.tanh", "tf.tanh")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def visited(path: Path) -> Report:
    """The report on a program of a file, as the command makes it."""
    for kept in (sources._kept, linecache.cache):
        kept.pop(str(path), None)
    place.tree.cache_clear()
    place._by_span.cache_clear()
    place.nodes.cache_clear()
    seed()
    session = Session()
    run(SourceFile(str(path)).data, str(path), session)  # type: ignore[arg-type]
    assert not session.faults
    return Report(str(path), "gradtape", session.history, list(session.findings.values()))


def fixed(path: Path) -> Report:
    """The report on a program that is fixed."""
    for file, (_, after) in visited(path).plan().contents().items():
        replace(file, after)
    return visited(path)


@pytest.mark.parametrize("text", EDITED.values(), ids=EDITED)
def test_what_is_confirmed_is_fixed(text: str, here: Path) -> None:
    path = here / "program.py"
    path.write_text(PREAMBLE + text)
    report = visited(path)
    found = {finding.key for finding in report.findings}
    ready = [f for f in report.findings if f.edit is not None and confirmed(f)]
    plan = report.plan()
    assert plan.findings == ready[: len(plan.findings)] or plan.left
    assert bool(ready) == bool(plan.lines)
    before = path.read_text().splitlines()
    told = {p.line for f in plan.findings for p in [f.place, *(p for p, _ in f.further)]}
    after = fixed(path)
    now = path.read_text().splitlines()
    changed = {k + 1 for k, (a, b) in enumerate(zip(before, now, strict=True)) if a != b}
    assert changed == told
    left = {finding.key for finding in after.findings}
    assert not left & {finding.key for finding in plan.findings}
    assert left <= found
    assert after.history.gradients or not report.history.gradients  # it still runs
