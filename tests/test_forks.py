"""Forked processes: whatever other threads were doing, a child computes, and its parent goes on."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

import gradtape as tf

# Nothing here takes long: a process that hangs is ended, and the test fails.
LIMIT = 120
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without fork")


def finishes(program: str) -> None:
    """Run a program in a process of its own; it prints `done` at its end."""
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", program],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        said, _ = process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        said = f"it hangs: {process.communicate()[0]}"
    assert said.split()[-1:] == ["done"], said


PREPARED = """
import os
import threading

import numpy as np

import gradtape as tf

rng = np.random.default_rng(0)
images = tf.constant(rng.random((2, 14, 14, 4), np.float32))
kernel = tf.Variable(rng.random((5, 5, 4, 8), np.float32))
square = tf.Variable(rng.random((120, 120), np.float32))
total = tf.Variable(np.zeros(1000, np.float32))


def convolve():
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.nn.conv2d(images, kernel, 1, "SAME") ** 2)
    return tape.gradient(y, kernel)


def multiply():
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.exp(square @ square * 1e-4))
    return tape.gradient(y, square)


def assign():
    total.assign_add(np.ones(1000, np.float32))
    total.scatter_nd_add([[0]], [1.0])
    return tf.random.normal([10], seed=1)


def child(*works):
    pid = os.fork()
    if not pid:
        status = 1
        try:
            for work in works:
                work()
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(pid, 0)[1] == 0
"""


@needs_fork
def test_children_of_a_process_whose_threads_compute() -> None:
    finishes(
        PREPARED
        + """
stop = threading.Event()


def forever(work):
    while not stop.is_set():
        work()


works = convolve, convolve, multiply, assign
workers = [threading.Thread(target=forever, args=(work,)) for work in works]
for worker in workers:
    worker.start()
for _ in range(30):
    child(convolve, multiply, assign)
stop.set()
for worker in workers:
    worker.join()
print("done")
"""
    )


@needs_fork
def test_a_child_of_a_thread_and_a_grandchild() -> None:
    finishes(
        PREPARED
        + """
convolve()


def family():
    child(convolve, lambda: child(convolve, multiply, assign), multiply)


thread = threading.Thread(target=family)
thread.start()
multiply()
thread.join()
print("done")
"""
    )


@needs_fork
def test_a_tape_goes_on_in_the_child_and_in_the_parent() -> None:
    finishes(
        PREPARED
        + """
v = tf.Variable(3.0)
with tf.GradientTape() as tape:
    y = v * v

    def go_on():
        z = y * v
        assert float(tape.gradient(z, v)) == 27.0

    child(go_on)
    z = y * 2.0
assert float(tape.gradient(z, v)) == 12.0
print("done")
"""
    )


@needs_fork
def test_tapes_of_threads_that_are_gone_stop_in_the_child() -> None:
    finishes(
        PREPARED
        + """
import gc
from gradtape.core.record import everyone

usual = gc.get_threshold()
x, recording, stop = tf.constant(2.0), threading.Event(), threading.Event()
tapes = []


def record():
    with tf.GradientTape() as tape:
        tapes.append(tape)
        tape.watch(x)
        recording.set()
        stop.wait()


thread = threading.Thread(target=record)
thread.start()
recording.wait()


def look():
    assert gc.get_threshold() == usual, gc.get_threshold()
    assert not any(everyone.values())
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    assert float(tape.gradient(y, x)) == 4.0
    assert not tapes[0]._tape.records
    assert gc.get_threshold() == usual


child(look)
stop.set()
thread.join()
print("done")
"""
    )


@needs_fork
def test_a_gradient_of_the_users_own_forks_during_the_sweep() -> None:
    finishes(
        PREPARED
        + """
parent = os.getpid()


@tf.custom_gradient
def forking(x):
    def grad(g):
        if not os.fork():
            return g
        return g * 2.0

    return tf.identity(x), grad


wide = tf.Variable(rng.random((8, 28, 28, 8), np.float32))
first = tf.Variable(rng.random((3, 3, 8, 8), np.float32))
with tf.GradientTape() as tape:
    hidden = forking(tf.nn.conv2d(wide, first, 1, "SAME"))
    y = tf.reduce_sum(tf.nn.conv2d(hidden, first, 1, "SAME"))
found = tape.gradient(y, [wide, first])
if os.getpid() != parent:
    os._exit(0)
assert os.wait()[1] == 0
print("done")
"""
    )


@needs_fork
def test_a_child_of_a_process_that_imports_in_another_thread() -> None:
    finishes(
        PREPARED
        + """
names = "signal", "image", "linalg", "sparse", "ragged", "strings", "sets"
thread = threading.Thread(target=lambda: [getattr(tf, name) for name in names])
thread.start()
for name in names:
    child(lambda name=name: getattr(tf, name))
thread.join()
print("done")
"""
    )


@needs_fork
def test_a_fork_under_the_doctor() -> None:
    finishes(
        PREPARED
        + """
with tf.doctor.watch() as session:
    worker = threading.Thread(target=lambda: [convolve() for _ in range(5)])
    worker.start()
    for _ in range(5):
        child(convolve, assign)
    worker.join()
print("done")
"""
    )


def derivative(x: float) -> float:
    """What a process of a pool computes."""
    v = tf.Variable(np.full((200, 200), x, np.float32))
    with tf.GradientTape() as tape:
        y = tf.reduce_mean(tf.sqrt(v @ v))
    return float(tf.reduce_sum(tape.gradient(y, v)))


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_pools_of_processes(method: str) -> None:
    expected = [derivative(x) for x in (1.0, 2.0)]
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(2, context) as pool:
        assert list(pool.map(derivative, [1.0, 2.0], timeout=LIMIT)) == expected
