"""What a function tells of its machine code: `source("llvm")`, `explain()`, `profile()`."""

from __future__ import annotations

import inspect
import re
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")
import gradtape as tf
from gradtape.compile.backends import choice, llvm
from gradtape.compile.native.timing import shares

rng = np.random.default_rng(0)


def array(*shape: int) -> Any:
    return tf.constant(rng.normal(size=shape).astype("float32"))


def line(function: Any, text: str) -> str:
    """The place of the first line of a function that holds a text, as reports have it."""
    lines, first = inspect.getsourcelines(function.python_function)
    (found, *_) = [first + k for k, written in enumerate(lines) if text in written]
    return f"test_explaining.py:{found}"


@pytest.fixture
def weights() -> Any:
    return tf.Variable(rng.normal(size=(8, 16)).astype("float32"))


@pytest.fixture
def step(weights: Any) -> Any:
    @tf.function
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            hidden = tf.tanh(x @ weights)
            sums = tf.cumsum(hidden, axis=1)
            loss = tf.reduce_mean(tf.square(sums))
        weights.assign_sub(0.1 * tape.gradient(loss, weights))
        return loss

    return step


# --- source ---------------------------------------------------------------------------------------
def test_the_text_names_the_lines(step: Any) -> None:
    step(array(4, 8))
    text = step.source("llvm")
    product, loop = re.findall(r"^; part_\d+: a (?:product|loop), .*", text, re.MULTILINE)[:2]
    assert line(step, "tanh") in product
    assert line(step, "tanh") in loop
    assert re.search(rf"^;   v\d+:f4\[4,16\] = tanh\(v\d+\)  # {line(step, 'tanh')}$", text, re.M)
    assert "define ptr @" in text
    assert f"; cumsum at {line(step, 'cumsum')}, called by Python" in text


def test_every_function_of_items_has_a_heading(step: Any) -> None:
    step(array(4, 8))
    lines = step.source("llvm").splitlines()
    for k, written in enumerate(lines):
        if written.startswith("define") and "part_" in written:
            assert lines[k - 1].startswith(";   ")


def test_items_that_are_alike_share_a_heading() -> None:
    @tf.function
    def twice(x: Any, w: Any) -> Any:
        x = x @ w
        return x @ w

    twice(array(8, 8), array(8, 8))
    first, second = (f"test_explaining.py:{n}" for n in _lines(twice, "x @ w"))
    assert re.search(rf"; part_0: a product, {first}\n.*\n;   and 1 more like it, {second}\n",
                     twice.source("llvm"))  # fmt: skip


def _lines(function: Any, text: str) -> list[int]:
    lines, first = inspect.getsourcelines(function.python_function)
    return [first + k for k, written in enumerate(lines) if text in written]


def test_python_is_shown_as_before(step: Any) -> None:
    assert step.source("llvm") == "; not called yet\n"
    step(array(4, 8))
    assert step.source() == step.source("numpy")
    assert "def play(" in step.source()


def test_other_forms_are_refused(step: Any) -> None:
    with pytest.raises(ValueError, match=r"'numpy'.*'llvm'"):
        step.source("x86")


def test_what_is_on_numpy_is_compiled_for_the_asking(step: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(choice, "NAME", "numpy")
    step(array(4, 8))
    text = step.source("llvm")
    assert "; runs on NumPy" in text
    assert "define ptr @" in text
    assert "native" not in step.source()


def test_without_llvmlite_it_says_how_to_get_it(step: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(choice, "NAME", "numpy")
    _without_llvmlite(monkeypatch)
    step(array(4, 8))
    assert "pip install 'gradtape[llvm]'" in step.source("llvm")
    assert "llvmlite is not installed" in str(step.explain())


def _without_llvmlite(monkeypatch: Any) -> None:
    monkeypatch.delenv("GRADTAPE_FUNCTION", raising=False)
    monkeypatch.setattr(choice, "find_spec", lambda name: None)


# --- explain --------------------------------------------------------------------------------------
def test_where_it_runs_and_why(step: Any) -> None:
    step(array(4, 8))
    assert "runs as machine code from the first call on: GRADTAPE_FUNCTION=llvm" in told(step)


def test_a_function_that_asks_for_it(weights: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(choice, "NAME", "auto")
    step = tf.function(lambda x: tf.exp(x @ weights), jit_compile=True)
    step(array(4, 8))
    assert "from the first call on: jit_compile=True" in told(step)


def test_a_function_that_rises(step: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(choice, "NAME", "auto")
    x = array(4, 8)
    step(x)
    assert f"takes over at call {llvm.CHANGE} (1 call so far)" in told(step)
    for _ in range(llvm.CHANGE):
        step(x)
    assert f"runs as machine code since call {llvm.CHANGE}" in told(step)


def test_a_failure_is_told(step: Any, monkeypatch: Any) -> None:
    def fails(*_: Any) -> None:
        raise NotImplementedError("no such luck")

    monkeypatch.setattr(choice, "NAME", "auto")
    monkeypatch.setattr(llvm, "STRICT", False)
    monkeypatch.setattr(llvm, "compiled", fails)
    for _ in range(llvm.CHANGE + 1):
        step(array(4, 8))
    assert "on NumPy: compiling it failed with NotImplementedError: no such luck" in told(step)


def test_on_numpy_there_are_no_parts(step: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(choice, "NAME", "numpy")
    monkeypatch.setenv("GRADTAPE_FUNCTION", "numpy")
    step(array(4, 8))
    assert "runs on NumPy: GRADTAPE_FUNCTION=numpy" in told(step)
    assert "in order" not in told(step)


def test_parts_and_calls_between_them(step: Any, weights: Any) -> None:
    step(array(4, 8))
    before = weights.numpy()
    story = told(step)
    assert (weights.numpy() == before).all()
    assert re.search(r"\d+% native_\d+: \d+ equations in .*1 product", story)
    assert re.search(
        rf"\d+% cumsum at {line(step, 'cumsum')}, called by Python: "
        "no native code for cumsum of float32", story,
    )  # fmt: skip


def test_effects_are_not_performed_to_be_timed(capfd: Any) -> None:
    @tf.function
    def show(x: Any) -> Any:
        tf.print("seen")
        return tf.exp(x)

    show(array(5))
    capfd.readouterr()
    assert "not timed" in told(show)
    assert "seen" not in "".join(capfd.readouterr())


def test_what_stand_ins_do_not_suit_is_listed() -> None:
    @tf.function
    def solve(a: Any) -> Any:
        return tf.linalg.inv(a) * 2.0

    solve(array(3, 3))
    story = told(solve)  # ones have no inverse
    assert "not timed, as it depends on its arguments" in story
    assert "called by Python: no native code for" in story


@pytest.mark.parametrize(
    ("dtype", "reason"),
    [("complex64", "no native code for complex64"), ("float16", "no native code for float16")],
)
def test_dtypes_without_native_code(dtype: str, reason: str) -> None:
    @tf.function
    def both(x: Any) -> Any:
        return tf.exp(x) + tf.cast(tf.cast(x, dtype) + tf.cast(1, dtype), x.dtype)

    both(array(5))
    assert reason in told(both)


def test_guards_are_pythons() -> None:
    @tf.function
    def follow(x: Any) -> Any:
        return tf.exp(x) if tf.reduce_sum(x) > 0 else x

    follow(tf.ones(3))
    assert "called by Python: Python reads the value" in told(follow)


def told(function: Any) -> str:
    return str(function.explain())


# --- profile --------------------------------------------------------------------------------------
def times(function: Any, *args: Any) -> dict[str, float]:
    report = str(function.profile(*args))
    found = re.findall(r"^ +([\d.]+) us +\d+%  (\S+)$", report, re.MULTILINE)
    return {where: float(time) for time, where in found}


def test_lines_of_native_parts_have_their_times(step: Any, weights: Any) -> None:
    x = array(64, 8)
    step(x)
    before = weights.numpy()
    found = times(step, x)
    assert (weights.numpy() == before).all()
    lines = {line(step, text) for text in ("tanh", "cumsum", "square", "assign_sub")}
    assert lines <= {*found}
    assert "as machine code" in str(step.profile(x))


def test_the_time_of_items_goes_to_their_lines() -> None:
    @tf.function
    def work(x: Any, a: Any) -> Any:
        y = tf.reduce_sum(x * 2.0)
        z = a @ a
        return y, z

    work(array(4), array(30, 30))
    (tree,) = work._trees.values()
    (native,) = [e.op for e in tree.takes[0].runner.program.equations]
    first, second = line(work, "* 2.0"), line(work, "a @ a")
    assert len(native.items) == 2
    assert shares(native.items, [1, 1], [100, 300]) == {first: 0.25, second: 0.75}
    assert shares(native.items, [1, 3], [100, 300]) == {first: 0.5, second: 0.5}
    assert sum(shares(native.items, [1, 1], [0, 0]).values()) == pytest.approx(1.0)


def test_equations_share_a_loop_by_weight() -> None:
    @tf.function
    def work(x: Any) -> Any:
        y = tf.exp(x)
        return y + 1.0

    found = times(work, array(1000, 1000))
    exp, add = found[line(work, "exp")], found[line(work, "+ 1.0")]
    assert exp / add == pytest.approx(8.0, rel=0.01)


def test_random_streams_stay() -> None:
    generator = tf.random.Generator.from_seed(1)

    @tf.function
    def draw() -> Any:
        return generator.uniform([100]) * 2.0

    draw()
    state = generator.state.numpy()
    assert times(draw)
    draw.explain()
    assert (generator.state.numpy() == state).all()


def test_the_next_call_is_profiled(step: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(choice, "NAME", "auto")
    x = array(4, 8)
    step(x)
    assert "on NumPy" in str(step.profile(x))
    for _ in range(llvm.CHANGE - 2):
        step(x)
    assert "as machine code" in str(step.profile(x))


def test_arguments_that_go_another_way() -> None:
    @tf.function
    def follow(x: Any) -> Any:
        if tf.reduce_sum(x) > 0:
            return tf.exp(x)
        return tf.sin(x)

    follow(tf.ones(3))
    found = times(follow, -tf.ones(3))
    assert line(follow, "sin") in found
    assert line(follow, "exp") not in found


def test_a_part_that_numpy_computes_is_profiled() -> None:
    """Where the arguments do not lie as native code wants them, it is called again."""

    @tf.function
    def work(x: Any) -> Any:
        return tf.exp(x) * 2.0

    turned = tf.constant(np.asfortranarray(rng.normal(size=(20, 30)).astype("float32")))
    assert line(work, "exp") in times(work, turned)
