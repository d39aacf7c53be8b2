"""`tape.explain` where nobody listens: of every rule's programs, the right cause or none at all."""

from __future__ import annotations

import contextlib
import io
import linecache
from collections.abc import Iterator
from itertools import count
from typing import Any, NamedTuple

import pytest

import gradtape as tf
from gradtape.doctor.entry.session import RUNNING
from gradtape.doctor.rules import CATALOGUE

from .programs import PREAMBLE, seed
from .sections import file_of, sections

# Rules of which at least one program is told by the tape itself. What is not here needs a listener
# or a library, which asks the tape by itself: the steps before, a function's Python, what a
# constant was made of.
TOLD = """
auto-watch-off clipped-value comparison-op constant-copy custom-gradient-arity
dead-relu degenerate-spectrum discrete-index division-by-zero domain-boundary
exp-overflow exploding-recurrence float16-underflow gather-index inf-mask
integer-cast integer-source left-the-tape log-of-zero no-gradient-registered
nontrainable-variable norm-at-zero not-a-tensor not-watched outside-tape python-scalar
rounding-op sampling-op saturated-activation sqrt-at-zero steep-derivative stop-gradient
variable-rewrap watch-too-late vanishing-recurrence zero-init zero-mask
"""
# Asks the tape why, before the program asks it for the gradient: as a function of gradtape's, so
# that the place is the program's own.
ASK = """
def gradient(self, target, sources, *args, **kwargs):
    if not args and not kwargs:
        told.append(self.explain(target, sources))
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
    """What every tape of a program says of itself before it is asked."""
    told: list[Any] = []
    scope = {"told": told, "original": tf.GradientTape.gradient, "__package__": "gradtape.asking"}
    exec(ASK, scope)
    name = f"<explained {next(_serial)}>"
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    seed()
    with monkeypatch.context() as patch, contextlib.redirect_stdout(io.StringIO()):
        patch.setattr(tf.GradientTape, "gradient", scope["gradient"])
        with contextlib.suppress(Exception):  # some of the programs end so
            exec(compile(text, name, "exec"), {"__name__": "__main__", "__file__": name})
    assert not RUNNING
    return told


@pytest.fixture(scope="module")
def table() -> list[tuple[Program, list[Any]]]:
    """All programs with what their tapes say."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        return [(p, explained(PREAMBLE + p.text, monkeypatch)) for p in programs()]


def test_a_cause_that_is_told_is_the_right_one(table) -> None:
    wrong = [
        (program.rule, program.title, finding.name)
        for program, reports in table for report in reports for finding in report.findings
        if finding.name != program.rule or program.cured
    ]  # fmt: skip
    assert not wrong


def test_of_these_rules_the_tape_tells_by_itself(table) -> None:
    told = {
        program.rule for program, reports in table
        if any(f.name == program.rule for report in reports for f in report.findings)
    }  # fmt: skip
    assert told == set(TOLD.split())
    found = sum(any(r.findings for r in reports) for p, reports in table if not p.cured)
    assert found >= 145  # programs


def test_what_cannot_be_told_is_said_to_be_so(table) -> None:
    for program, reports in table:
        for report in reports:
            assert not report.faults, (program, report.faults)
            lines = [line for record in report.history.records.values() for line in record.lines]
            known = {source for finding in report.findings for source in finding.sources}
            if any(line.state != "ok" and line.name not in known for line in lines):
                assert "The doctor was not listening" in report.notes[-1], program
                assert len(report.notes) > 1, program
            assert all(f.sure or f.verdict.why for f in report.findings), program


def test_what_was_read_from_the_text_is_never_certain() -> None:
    w = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        h = tf.stop_gradient(w * 3.0)
        loss = h * h
    (finding,) = tape.explain(loss, w).findings
    assert (finding.name, finding.sure) == ("stop-gradient", False)
    assert "from the program's text" in finding.verdict.why
    assert finding.place.text == "tf.stop_gradient(w * 3.0)"


def test_functions_are_read_where_they_are_called() -> None:
    def own(x, factor=2.0):
        y = tf.stop_gradient(x)
        return y * factor

    w = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        loss = own(w * 3.0) + 1.0
    (finding,) = tape.explain(loss, w).findings
    assert (finding.name, finding.place.text) == ("stop-gradient", "tf.stop_gradient(x)")


def test_a_line_that_may_do_anything_ends_the_reading() -> None:
    def own(x):
        if x > 0.0:
            x = tf.stop_gradient(x)
        return x

    w = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        h = own(w * 3.0)
        loss = h * h
    report = tape.explain(loss, w)
    assert not report.findings
    assert report.notes[0].startswith("The last that this tape recorded of what was computed from")


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

    def shifted(x):
        return tf.nn.relu(x + tf.constant([-5.0, -5.0]))

    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(shifted(v))
    report = tape.explain(loss, v)
    assert not report.findings
    assert report.notes[0].startswith("The gradient of `v` is zero, from relu at ")


def test_a_healthy_gradient_has_nothing_to_say() -> None:
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        loss = v * v
    report = tape.explain(loss, v)
    assert (report.findings, report.notes, report.history.states) == ([], [], {"ok": 1})
