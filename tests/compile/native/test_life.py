"""Compiled functions among threads, forks and signals, over many calls, and when Python ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")
import gradtape as tf
from gradtape.compile.backends import choice

from .test_programs import array, close, compiled

LIMIT = 120  # seconds: a process that hangs is ended, and the test fails
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without fork")


def finishes(program: str, cache: str | Path = "0") -> None:
    """Run a program that starts on NumPy and is compiled meanwhile; it says `done` and ends, and
    nothing is complained of."""
    settings = {"GRADTAPE_FUNCTION": "auto", "GRADTAPE_CACHE": str(cache)}
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", program], env={**os.environ, **settings},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        said, _ = process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # with its children, who have its output
        said = f"it hangs: {process.communicate()[0]}"
    assert (said, process.returncode) == ("done\n", 0)


# --- threads --------------------------------------------------------------------------------------
def test_threads_that_call_a_function_while_it_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "NAME", "auto")
    x = array(40, 30)
    functions = [tf.function(lambda x, k, p=p: tf.tanh(x * k + float(p))) for p in range(8)]
    numbers = [tf.constant(np.float32(1 + k / 8)) for k in range(8)]
    together = threading.Barrier(8)

    def work(p: int) -> list:
        together.wait()
        return [(functions[0](x, numbers[p]), functions[p](x, numbers[p])) for _ in range(20)]

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(work, range(8)))
    for p, pairs in enumerate(found):
        for first, own in pairs:
            close(first, tf.tanh(x * numbers[p]))
            close(own, tf.tanh(x * numbers[p] + float(p)))


def test_updates_of_threads_are_all_there() -> None:
    total, counted = tf.Variable(tf.zeros([64])), tf.Variable(0)

    @compiled
    def step(x: Any) -> Any:
        total.assign_add(tf.nn.relu(x))
        return counted.assign_add(1)

    x, together = tf.ones([64]), threading.Barrier(8)

    def work(_: int) -> None:
        together.wait()
        for _ in range(50):
            step(x)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert int(counted) == 400
    np.testing.assert_array_equal(total, np.full(64, 400.0))


# --- many calls -----------------------------------------------------------------------------------
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="a system without /proc")
def test_memory_does_not_grow_with_calls() -> None:
    w = tf.Variable(array(8, 4))

    @compiled
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.tanh(x @ w))
        w.assign_sub(0.01 * tape.gradient(loss, w))
        return loss

    def resident() -> int:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    x = array(16, 8)
    for _ in range(1_000):
        step(x)
    before = resident()
    for _ in range(100_000):
        step(x)
    assert resident() - before < 2 << 20  # which is 21 bytes a call


# --- what ends a call before its time -------------------------------------------------------------
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="a system without timers")
def test_an_interrupt_leaves_variables_as_after_some_call() -> None:
    """The timer stands for Ctrl-C: it comes during a call, which holds Python's lock."""
    first, second = tf.Variable(0.0), tf.Variable(0.0)
    x = array(500, 500)

    @compiled
    def step() -> Any:
        y = tf.reduce_sum(x @ x @ x @ x) * 0.0 + 1.0
        first.assign_add(y)
        second.assign_add(y)
        return tf.tanh(x)

    def forever() -> None:
        while True:
            step()

    step()
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        with pytest.raises(KeyboardInterrupt):
            forever()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert float(first) == float(second) >= 1.0
    reached = float(first)
    close(step(), tf.tanh(x))
    assert float(first) == float(second) == reached + 1.0


def test_an_exception_after_native_parts_leaves_variables_as_they_were() -> None:
    v, x = tf.Variable(tf.ones([3])), array(3)

    @compiled
    def step(x: Any) -> Any:
        v.assign_add(tf.exp(x))
        tf.debugging.assert_less(tf.reduce_max(v), 50.0, "too much")
        return v.assign(tf.tanh(x) + v)

    step(x * 0.0)
    kept = v.numpy()
    with pytest.raises(tf.errors.InvalidArgumentError, match="too much"):
        step(x * 0.0 + 5.0)
    np.testing.assert_array_equal(v.numpy(), kept)
    step(x * 0.0)
    close(v, kept + 1.0)


# --- forks, and the end of Python -----------------------------------------------------------------
STEP = """
import os
import threading

import numpy as np

import gradtape as tf

x = tf.constant(np.random.default_rng(0).random((20, 30), np.float32))


def function():
    w = tf.Variable(tf.ones([30, 10]))

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.tanh(x @ w) ** 2)
        w.assign_sub(0.1 * tape.gradient(loss, w))
        return loss

    return step
"""


@needs_fork
def test_a_fork_while_functions_are_compiled() -> None:
    finishes(
        STEP
        + """
expected = function()
expected = [float(expected(x)) for _ in range(20)]
for calls in (2, 3, 4, 11, 12, 13):
    step = function()
    for _ in range(calls):
        step(x)
    pid = os.fork()
    found = [float(step(x)) for _ in range(calls, 20)]
    right = np.allclose(found, expected[calls:], rtol=1e-5)
    if not pid:
        os._exit(0 if right else 1)
    assert right
    assert os.waitpid(pid, 0)[1] == 0
print("done")
"""
    )


def test_a_program_that_ends_does_not_wait_for_what_is_compiled(tmp_path: Path) -> None:
    """A piece of work lasts until Python ends; then no other is begun, and so no code is kept."""
    finishes(
        STEP
        + """
from gradtape.compile.native import background, machine

begun, usual = threading.Event(), machine.Machine._optimise


def lasting(self, *given):
    begun.set()
    while not background._ending:
        pass
    usual(self, *given)


machine.Machine._optimise = lasting
step = function()
for _ in range(3):
    step(x)
begun.wait()
print("done")
""",
        tmp_path,
    )
    assert [*tmp_path.iterdir()] == []


def test_functions_are_called_when_python_ends() -> None:
    finishes(
        """
import atexit


@atexit.register
def last():
    found = [float(step(x)) for _ in range(20)]
    other = function()
    assert np.allclose(found, [float(other(x)) for _ in range(23)][3:], rtol=1e-5)
    print("done")
"""
        + STEP
        + """
step = function()
for _ in range(3):
    step(x)
"""
    )
