"""Functions under the doctor: programs run as without it, and findings are those of eager code."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
import tracemalloc
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradtape as tf
from gradtape.doctor.entry.session import Session
from gradtape.doctor.rules import CATALOGUE
from gradtape.doctor.rules.base import Rule
from tests.collecting import collect

from .programs import PREAMBLE, diagnose, run, seed, sketch
from .sections import ACCEPT, HERE, Section, facts, file_of, sections
from .wrapping import wrapped

SECTIONS = sections(HERE / "functions.md")


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.title)
def test_a_program_is_explained(section: Section) -> None:
    seed()
    session = diagnose(PREAMBLE + section.failing)
    told = "\n\n".join(map(sketch, session.findings.values()))
    assert facts(told) == facts(section.expected)
    assert told == section.expected, f"if these are better words: {ACCEPT} functions"
    if section.cured is not None:
        assert [*map(sketch, diagnose(PREAMBLE + section.cured).findings.values())] == []


# Functions must not make variables at every call.
MAKERS = {"variable-rewrap", "recreated-variable"}
RULES = [rule for rule in CATALOGUE if not rule.needs and rule.name not in MAKERS]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_program_in_a_function_has_the_findings_of_eager_code(rule: Rule) -> None:
    programs = [program for s in sections(file_of(rule)) for program in (s.failing, s.cured)]
    for program in programs:
        eager = wrapped(program, "# eager") if program and "tf.function" not in program else None
        if eager is not None:
            function = eager.replace("# eager", "@tf.function")
            assert findings(function) == findings(eager), function


def findings(program: str) -> list[str]:
    seed()
    return [*map(sketch, diagnose(PREAMBLE + program).findings.values())]


# --- as without it --------------------------------------------------------------------------------
PROGRAMS = {
    "a training step": """
w, b = tf.Variable(tf.random.normal([3, 2])), tf.Variable(tf.zeros([2]))
runs = []

@tf.function
def step(x, y):
    runs.append(1)
    print("recording", x)
    with tf.GradientTape() as tape:
        p = tf.nn.softmax(x @ w + b)
        loss = -tf.reduce_mean(tf.reduce_sum(y * tf.math.log(p), -1))
    dw, db = tape.gradient(loss, [w, b])
    w.assign_sub(0.1 * dw)
    b.assign_sub(0.1 * db)
    tf.print("loss", loss)
    return loss

for k in range(5):
    print(step(tf.random.normal([4, 3]), tf.one_hot([0, 1, 1, 0], 2)).numpy().tobytes())
print(len(runs), w.numpy().tobytes(), b.numpy().tobytes())
""",
    "draws, guards and state of Python's": """
count, scale = tf.Variable(0), 1.0
log = []

@tf.function
def step(x):
    global scale
    log.append(scale)
    scale += 1.0
    count.assign_add(1)
    y = x + tf.random.uniform([2])
    if tf.reduce_sum(y) > 2.0:
        return y * scale
    return y - tf.random.normal([2])

for k in range(8):
    print(step(tf.constant([0.2 * k, 0.3])).numpy().tobytes(), count.numpy())
print(log, step.experimental_get_tracing_count(), tf.random.uniform([2]).numpy().tobytes())
""",
    "a tape around a function, and around that": """
w = tf.Variable([0.5, -1.5])

@tf.function
def inner(x):
    print("inner")
    return tf.tanh(w * x)

@tf.function
def outer(x):
    print("outer")
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(inner(x) ** 2)
    return tape.gradient(y, x)

for k in range(3):
    with tf.GradientTape(persistent=k == 2) as tape:
        loss = tf.reduce_sum(outer(tf.constant([1.0, 2.0 + k])) ** 2)
    g = tape.gradient(loss, w)
    print(g.numpy().tobytes())
    w.assign_sub(0.1 * g)
""",
    "loops, Python functions and gradients of one's own": """
w = tf.Variable([0.5, 0.25])

@tf.custom_gradient
def twice(x):
    print("twice")
    def grad(g):
        print("its gradient")
        return g * 2.0
    return x * 2.0, grad

def noisy(x):
    print("called with", x.numpy())
    return np.float32(x.numpy() * 3)

@tf.function
def step(x, n):
    with tf.GradientTape() as tape:
        i, y = tf.while_loop(
            lambda i, y: i < n, lambda i, y: (i + 1, tf.sin(y) + x), (0, twice(w) + x))
        z = tf.py_function(noisy, [tf.stop_gradient(y)], tf.float32)
        loss = tf.reduce_sum(y * y) + tf.reduce_sum(z)
    g = tape.gradient(loss, w)
    w.assign_sub(0.01 * g)
    return loss

for k in range(4):
    print(step(tf.constant([0.1 * k, 1.0]), tf.constant(3 + k)).numpy())
print(w.numpy())
""",
    "variables that it makes, exceptions, methods": """
class Model(tf.Module):
    def __init__(self):
        self.w = None

    @tf.function
    def __call__(self, x):
        print("recording")
        if self.w is None:
            self.w = tf.Variable(tf.random.normal([3]))
        tf.debugging.assert_positive(x)
        self.w.assign_add(x)
        return tf.reduce_sum(self.w * x)

model = Model()
for k in range(4):
    try:
        print(model(tf.constant([1.0, 2.0, 2.5 - k])).numpy())
    except tf.errors.InvalidArgumentError as error:
        print(type(error).__name__, str(error).splitlines()[0])
    print(model.w.numpy())
""",
}


def printed(text: str, watched: bool) -> str:
    """What a program prints, `tf.print` as well."""
    seed()
    out, session = io.StringIO(), Session()
    with contextlib.redirect_stderr(out):
        if watched:
            run(text, "<program>", session, out)
            assert not session.faults
        else:
            with contextlib.redirect_stdout(out):
                exec(compile(text, "<program>", "exec"), {"__name__": "__main__"})
    return out.getvalue()


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_prints_counts_and_draws_as_without_the_doctor(name: str) -> None:
    text = PREAMBLE + PROGRAMS[name]
    assert printed(text, watched=True) == printed(text, watched=False)


@pytest.mark.parametrize("name", PROGRAMS)
def test_so_it_does_as_a_process(name: str, tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    text = PREAMBLE.replace("gradtape", "tensorflow") + "tf.random.set_seed(3)\n" + PROGRAMS[name]
    file.write_text(text)
    ends = []
    for command in (["run"], ["doctor", "--engine", "gradtape", "--output", "r.json"]):
        done = subprocess.run(
            [sys.executable, "-m", "gradtape", *command, str(file)], capture_output=True, text=True,
            cwd=tmp_path,
        )  # fmt: skip
        ends.append((done.returncode, done.stdout))
    assert ends[0][0] == 0
    assert ends[0] == ends[1]


# --- what is heard --------------------------------------------------------------------------------
def test_steps_are_counted_call_by_call() -> None:
    w = tf.Variable(2.0)

    @tf.function
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.sqrt(tf.nn.relu(w * x))
        return tape.gradient(loss, w)

    with tf.doctor.watch() as report:
        for k in (3.0, 2.0, 1.0, 0.0):
            step(tf.constant(k))
    (finding,) = report.findings
    assert (finding.name, finding.steps) == ("sqrt-at-zero", [4])
    (record,) = report.history.records.values()
    assert record.steps == 4
    assert np.allclose(record.lines[0].norms.numbers[:3], [np.sqrt(k / 8) for k in (3, 2, 1)])


def test_a_function_that_was_recorded_before_is_known_by_its_ops() -> None:
    w = tf.Variable([0.5, 2.5])

    @tf.function
    def model(x: Any) -> Any:
        return tf.reduce_sum(tf.round(w * x))

    model(tf.constant(1.0))
    with tf.doctor.watch() as report:
        with tf.GradientTape() as tape:
            loss = model(tf.constant(3.0))
        tape.gradient(loss, w)
    assert [f.name for f in report.findings] == ["rounding-op"]
    assert any("recorded before" in note for note in report.notes)


def test_the_doctor_makes_no_guards() -> None:
    w = tf.Variable([0.5, 2.5])
    kinds = []

    @tf.function
    def step(x: Any) -> Any:
        kinds.append(x)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(w * x)
        return tape.gradient(loss, w)

    with tf.doctor.watch(audit=True):
        for k in range(6):
            step(tf.constant(float(k)))
    assert len(kinds) == 1
    assert "guard" not in str(next(iter(step._trees.values())).takes[0].program)


def test_objects_live_no_longer_than_the_log() -> None:
    class Model(tf.Module):
        def __init__(self) -> None:
            self.w = tf.Variable(1.0)

        @tf.function
        def step(self, x: Any) -> Any:
            with tf.GradientTape() as tape:
                loss = self.w * x
            return tape.gradient(loss, self.w)

    model = Model()
    with tf.doctor.watch():
        model.step(tf.constant(2.0))
    gone = weakref.ref(model)
    del model
    collect()
    assert gone() is None


def test_what_a_function_takes_from_the_world_does_not_change_what_it_computes() -> None:
    """Steps of `fit` take their batch from an iterator: watched or not, they are the same program,
    fused and rounded in the same way."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(40, 8, 16)).astype(np.float32)

    def trained() -> bytes:
        w = tf.Variable(tf.linspace(-0.5, 0.5, 16)[:, None])
        batches = iter(tf.data.Dataset.from_tensor_slices(rows))

        @tf.function
        def step() -> Any:
            x = next(batches)
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.nn.gelu(x @ w) ** 2 + tf.exp(-tf.abs(x @ w)) / 3.0)
            w.assign_sub(0.1 * tape.gradient(loss, w))
            return loss

        for _ in range(30):
            step()
        return w.numpy().tobytes()

    with tf.doctor.watch() as report:
        watched = trained()
    assert report.history.gradients == 30
    assert watched == trained()


class _Heard(contextlib.AbstractContextManager):
    """A session while something is recorded, with the templates of it."""

    def __enter__(self) -> Session:
        self.session = Session()
        self.session.start()
        return self.session

    def __exit__(self, *exception: object) -> None:
        self.session.stop()


def _take(function: Any) -> Any:
    return next(iter(function._trees.values())).takes[0]


def test_what_was_heard_of_a_function_holds_nothing_of_its_recording() -> None:
    kept = []

    def inner(x):
        hidden = tf.tanh(x * 2.0)
        kept.append(weakref.ref(hidden))
        return tf.reduce_sum(hidden * 3.0)

    step = tf.function(inner)
    outer = tf.function(lambda x: step(x) + 1.0)
    with _Heard():
        outer(tf.ones([300, 300]))
        heard = [_take(f).heard for f in (step, outer)]
        collect()
        assert [template.recording for template in heard] == [None, None]
        assert [w() for w in kept] == [None] * len(kept)


def test_a_large_value_is_let_go_behind_its_last_use() -> None:
    """While a function is recorded, and while it is played in the recording of another one."""
    peaks: list[int] = []

    def inner(x):
        for _ in range(60):  # of 360 kB each
            x = tf.tanh(x)
        peaks.append(tracemalloc.get_traced_memory()[1])
        return x

    def outer(x):
        y = step(x)
        peaks.append(tracemalloc.get_traced_memory()[1])
        return tf.reduce_sum(y)

    step = tf.function(inner)
    tracemalloc.start()
    try:
        with _Heard():
            tf.function(outer)(tf.ones([300, 300]))
    finally:
        tracemalloc.stop()
    assert len(peaks) == 2
    assert max(peaks) < 10e6


def test_a_loop_whose_work_moves_out_of_it_stays_a_loop() -> None:
    def program() -> int:
        w = tf.Variable(np.ones((3, 4), "f4"))

        @tf.function
        def step(x):
            rows = tf.TensorArray("float32", 50).unstack(x)

            def body(k, h):
                return k + 1, tf.tanh(h + tf.matmul(rows.read(k), w))

            with tf.GradientTape() as tape:
                _, h = tf.while_loop(lambda k, h: k < 50, body, (0, tf.zeros([2, 4])))
                loss = tf.reduce_sum(h)
            return tape.gradient(loss, w)

        step(tf.ones([50, 2, 3]))
        return len(_take(step).program.equations)

    plain = program()
    with _Heard():
        assert program() == plain
    assert plain < 50
