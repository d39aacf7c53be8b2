"""How compiling grows with the program: twice the program, twice the work, and up to a bound."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")
import gradtape as tf
from gradtape.compile.backends import choice, llvm

from .test_programs import compiled, natives

COMPILER = str(Path(tf.__file__).parent / "compile")


def lines_run(work: Callable[[], Any]) -> int:
    """How many lines of the compiler are run, turns of loops included."""
    count = 0

    def line(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal count
        count += event == "line"
        return line

    def call(frame: FrameType, event: str, arg: Any) -> Any:
        return line if frame.f_code.co_filename.startswith(COMPILER) else None

    before = sys.gettrace()
    sys.settrace(call)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def chain(n: int, shape: tuple[int, ...]) -> tuple[Callable[..., Any], list[Any]]:
    def gradient(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in range(n):
                y = tf.sin(y) + 1.0
        return tape.gradient(y, x)

    return gradient, [tf.fill(shape, 0.5)]


def results(n: int, shape: tuple[int, ...]) -> tuple[Callable[..., Any], list[Any]]:
    return lambda x: [tf.sin(x * float(k)) for k in range(n)], [tf.fill(shape, 0.5)]


def arguments(n: int, shape: tuple[int, ...]) -> tuple[Callable[..., Any], list[Any]]:
    return lambda *xs: tf.add_n([*xs]), [tf.fill(shape, float(k)) for k in range(n)]


@pytest.mark.parametrize("shape", [(), (9,)], ids=str)
@pytest.mark.parametrize("program", [chain, results, arguments])
def test_twice_the_program_is_twice_the_work(
    program: Any, shape: tuple[int, ...], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR, "gradtape")

    def work(n: int) -> int:
        function, operands = program(n, shape)
        step = compiled(function)
        return lines_run(lambda: step(*operands))

    work(4)  # what is done once
    once, twice = work(150), work(300)
    assert twice < 2.2 * once


def test_beyond_a_bound_the_numpy_backend_is_kept(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(llvm, "MOST", 40)
    small, large = (compiled(chain(n, (3,))[0]) for n in (5, 50))
    x = tf.constant([0.25, 0.5, 1.0])
    small(x)
    assert not caplog.records
    for _ in range(llvm.CHANGE + 1):
        np.testing.assert_array_equal(large(x), chain(50, (3,))[0](x))
    assert natives(small)
    assert "up to 40 are compiled" in caplog.text
    assert len(caplog.records) == 1
    (tree,) = large._trees.values()
    assert choice.reason(tree.takes[0].runner).startswith("on NumPy: it has ")
