"""`tape.explain` where nobody listens: of every rule's programs, the right cause or none at all.

Where there is none, the report says how far the tape followed, and what to run.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import re
from collections.abc import Iterator
from itertools import count
from typing import Any, NamedTuple

import pytest

import gradtape as tf
from gradtape.doctor.entry.session import RUNNING
from gradtape.doctor.rules import CATALOGUE

from . import classes
from .programs import PREAMBLE, seed
from .sections import file_of, sections

# Rules of which at least one program is proven by the tape's record alone. What is not here needs a
# listener: what the tape did not record, the steps before, what a constant was made of.
PROVEN = """
clipped-value custom-gradient-arity division-by-zero domain-boundary exp-overflow float16-underflow
inf-mask log-of-zero no-gradient-registered norm-at-zero not-a-tensor rounding-op
saturated-activation sqrt-at-zero zero-mask
"""
# What a note on an answer says of the tape's path: where it ends, or that it is whole.
PATH = re.compile(
    r"This tape (has a whole path|followed|watched|never saw|has watch_accessed_variables=False"
    r"|has forgotten)|this tape (did not watch|was not told to watch) it|a tape follows real"
    r"|is no tensor|Asking for the gradient raises|is being recorded"
)
# Asks the tape why, before the program asks it for the gradient: as a function of gradtape's, so
# that the place is the program's own.
ASK = """
def gradient(self, target, sources, *args, **kwargs):
    if not args and not kwargs:
        reports.append(self.explain(target, sources))
    return original(self, target, sources, *args, **kwargs)
"""
_serial = count()


class Program(NamedTuple):
    rule: str
    title: str
    text: str
    cured: bool


def programs() -> Iterator[Program]:
    for rule in CATALOGUE:
        if rule.needs:
            continue
        yield Program(rule.name, "example", rule.failing, False)
        yield Program(rule.name, "example, cured", rule.cured, True)
        for section in sections(file_of(rule)):
            if "tf.queue" in section.failing or "keras" in section.failing:
                continue
            yield Program(rule.name, section.title, section.failing, False)
            if section.cured is not None:
                yield Program(rule.name, f"{section.title}, cured", section.cured, True)


def explained(text: str, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What every tape of a program explains before it is asked for gradients."""
    reports: list[Any] = []
    scope = {
        "reports": reports,
        "original": tf.GradientTape.gradient,
        "__package__": "gradtape.asking",
    }
    exec(ASK, scope)
    name = f"<explained {next(_serial)}>"
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    seed()
    with monkeypatch.context() as patch, contextlib.redirect_stdout(io.StringIO()):
        patch.setattr(tf.GradientTape, "gradient", scope["gradient"])
        with contextlib.suppress(Exception):  # some of the programs end so
            exec(compile(text, name, "exec"), {"__name__": "__main__", "__file__": name})
    assert not RUNNING
    return reports


@pytest.fixture(scope="module")
def table() -> list[tuple[Program, list[Any]]]:
    """All programs with what their tapes say."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        return [(p, explained(PREAMBLE + p.text, monkeypatch)) for p in programs()]


def test_a_proven_cause_is_the_right_one(table) -> None:
    wrong = [
        (program.rule, program.title, finding.name)
        for program, reports in table for report in reports for finding in report.findings
        if finding.name != program.rule or program.cured
    ]  # fmt: skip
    assert not wrong


def test_the_tape_proves_these_rules_by_itself(table) -> None:
    proven = {
        program.rule for program, reports in table
        if any(f.name == program.rule for report in reports for f in report.findings)
    }  # fmt: skip
    assert proven == set(PROVEN.split())
    assert sum(any(r.findings for r in reports) for p, reports in table if not p.cured) >= 55


def test_a_class_of_faults_has_no_wrong_cause(monkeypatch: pytest.MonkeyPatch) -> None:
    for program in classes.programs():
        if "keras" in program.section.failing:
            continue
        for report in explained(PREAMBLE + (program.section.cured or ""), monkeypatch):
            assert not report.findings, program.id
        text = PREAMBLE + program.section.failing
        causes = {cause for _, names in classes.marks(text) for cause in names}
        for report in explained(classes.MARK.sub("", text), monkeypatch):
            assert all({f.name, f.cause} & causes for f in report.findings), program.id


def test_what_is_not_proven_has_its_path_and_what_to_run(table) -> None:
    for program, reports in table:
        for report in reports:
            assert not report.faults, (program, report.faults)
            lines = [line for record in report.history.records.values() for line in record.lines]
            known = {source for finding in report.findings for source in finding.sources}
            missing = [line.name for line in lines if line.state != "ok" and line.name not in known]
            if missing:
                *notes, last = report.notes
                assert "The doctor was not listening" in last, program
                assert len(notes) >= len(missing), program
                assert all(PATH.search(note) for note in notes), (program, notes)
            assert all(f.sure for f in report.findings), program


def test_a_path_that_ends_has_its_last_lines() -> None:
    w = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        h = tf.stop_gradient(w * 3.0)
        loss = h * h
    report = tape.explain(loss, w)
    assert not report.findings
    first, last = report.notes
    assert re.fullmatch(
        r"This tape followed `w` up to mul at [\w/]*test_explain\.py:\d+ \(`w \* 3\.0`\); "
        r"nothing on it leads from there to `loss`\.", first,
    )  # fmt: skip
    assert "run the program with `gradtape doctor`" in last
    assert "with gradtape.doctor.watch():" in last


def test_ops_of_a_derivative_are_nobodys_fault() -> None:
    """The sign that the derivative of `abs` is has none itself, and nobody wrote a sign."""
    w = tf.Variable([1.0, -2.0])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            cost = tf.reduce_sum(tf.abs(w))
        slope = inner.gradient(cost, w)
    report = outer.explain(slope, w)
    assert not report.findings
    assert report.notes


def test_in_a_function_that_is_recorded_no_number_is_looked_at() -> None:
    told = []

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.math.log(v * x)
        told.append(tape.explain(loss, v))
        return tape.gradient(loss, v)

    v = tf.Variable(0.0)
    for x in (1.0, 2.0, 3.0):
        step(tf.constant(x))
    assert len(told) == 1  # it was recorded once
    assert "is being recorded" in told[0].notes[0]


def test_nothing_is_consumed_and_nothing_is_recorded() -> None:
    v = tf.Variable(2.0)
    with tf.GradientTape() as outer, tf.GradientTape() as tape:
        loss = tf.math.log(v - 2.0)
        before = [len(t._tape.records) for t in (outer, tape)]
        report = tape.explain(loss, v)
        assert [len(t._tape.records) for t in (outer, tape)] == before
    assert [f.name for f in report.findings] == ["log-of-zero"]
    assert tape.explain(loss, v).findings[0].message == report.findings[0].message
    assert tape.gradient(loss, v).numpy() == float("inf")


def test_numbers_that_are_not_known_are_not_guessed() -> None:
    """Of what is added the tape keeps nothing; the gradient's own way is known all the same."""
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.nn.relu(v + tf.constant([-5.0, -5.0])))
    report = tape.explain(loss, v)
    assert not report.findings
    assert report.notes[0].startswith(
        "This tape has a whole path from `v` to `loss`: the gradient is zero from relu at "
    )


def test_a_variable_that_changed_while_the_tape_recorded_proves_nothing() -> None:
    v = tf.Variable(0.0)
    with tf.GradientTape() as tape:
        loss = tf.math.log(v)
        v.assign(2.0)
        loss += tf.square(v)
    report = tape.explain(loss, v)
    assert not report.findings
    assert report.notes[0].startswith("This tape has a whole path from `v` to `loss`")


def test_a_variable_that_was_read_again_after_the_tape() -> None:
    v, u = tf.Variable([0.0, 1.0]), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.math.log(v)) + u
    assert float(u) + float(v[0]) == 3.0
    assert [f.name for f in tape.explain(loss, v).findings] == ["log-of-zero"]
    v.assign([5.0, 5.0])
    assert float(v[0]) == 5.0
    report = tape.explain(u, v)
    assert not report.faults
    assert report.notes[0].startswith("This tape followed `v` up to add at ")


def test_a_fault_of_earlier_steps_is_not_the_tapes() -> None:
    for value in (float("nan"), 1e30):
        v = tf.Variable([value, 1.0])
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.exp(v))
        report = tape.explain(loss, v)
        assert not report.findings
        assert report.notes


def test_a_healthy_gradient_has_nothing_to_say() -> None:
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        loss = v * v
    report = tape.explain(loss, v)
    assert (report.findings, report.notes, report.history.states) == ([], [], {"ok": 1})
