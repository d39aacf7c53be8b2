"""Sends Ctrl-C into running programs, and says which of them were lost or left something torn.

    python -m tests.interrupts --times 2000              # shared among all kinds of programs
    python -m tests.interrupts --times 500 tapes nested

A child process computes without end. Its parent waits for a random moment and sends SIGINT, exactly
once; the child catches the KeyboardInterrupt, looks whether everything is as before, and goes on.
An interrupt is lost when the program goes on after its handler has raised the exception. What
arrives where Keras has a bare `except:` is lost by Keras, here as on TensorFlow: it does not count.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import functools
import gc
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import numpy as np

from tests.commands import environment

LIMIT = 120  # seconds without an answer, on any machine: the interrupt was swallowed
LONGEST = 0.012  # seconds until an interrupt


# --- programs that compute ------------------------------------------------------------------------
def tapes() -> Callable[[], bytes]:
    """Tapes that are asked once, and tapes that are not asked at all."""
    import gradtape as tf

    w, x = tf.Variable(tf.linspace(0.1, 1.0, 5)), tf.constant([1.0, 2.0, 3.0, 4.0, 5.0])

    def run() -> bytes:
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.exp(w) * x)
        with tf.GradientTape():
            y = y + tf.reduce_sum(w * w)
        return tape.gradient(y, w, unconnected_gradients="zero").numpy().tobytes()

    return run


def persistent() -> Callable[[], bytes]:
    """Persistent tapes, which are dropped with what they hold; one pauses."""
    import gradtape as tf

    w, x = tf.Variable(tf.ones([8, 8]) / 9.0), tf.ones([4, 8])

    def run() -> bytes:
        with tf.GradientTape(persistent=True) as tape:
            y = tf.tanh(x @ w)
            with tape.stop_recording():
                scale = tf.reduce_mean(w)
            loss = tf.reduce_sum(y * y) * scale
        found = tape.gradient(loss, w), tape.gradient(y, w)
        return b"".join(part.numpy().tobytes() for part in found)

    return run


def nested() -> Callable[[], bytes]:
    """Tapes in tapes, a Jacobian, and a forward accumulator."""
    import gradtape as tf

    x = tf.Variable([0.3, 0.7])

    def run() -> bytes:
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = tf.reduce_sum(tf.sin(x) * x**3)
            slope = inner.gradient(y, x)
        bend = outer.jacobian(slope, x)
        with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.0])) as acc:
            y = tf.exp(tf.sin(x))
        return bend.numpy().tobytes() + acc.jvp(y).numpy().tobytes()

    return run


def functions() -> Callable[[], bytes]:
    """Functions, called, recorded anew, and with a tape inside and outside."""
    import gradtape as tf

    w = tf.Variable([0.5, -0.5])

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(x * w))
        return tape.gradient(loss, w)

    def run() -> bytes:
        again = tf.function(lambda x: tf.reduce_sum(tf.exp(x) * w))
        x = tf.constant([1.0, 2.0])
        with tf.GradientTape() as tape:
            y = again(x)
        return step(x).numpy().tobytes() + tape.gradient(y, w).numpy().tobytes()

    return run


def datasets() -> Callable[[], bytes]:
    """Passes that are gone through, and passes that are left: with threads, and of files."""
    import gradtape as tf

    data = tf.data.Dataset
    file = str(Path(tempfile.mkdtemp()) / "some.tfrecord")
    with tf.io.TFRecordWriter(file) as writer:
        for k in range(40):
            writer.write(b"%d" % k)

    def run() -> bytes:
        found = []
        ahead = data.range(40).map(lambda x: x * 2).batch(4).prefetch(2)
        shared = data.range(40).map(lambda x: x + 1, num_parallel_calls=2)
        for some in (ahead, shared, tf.data.TFRecordDataset(file), data.range(9).shuffle(9, 1)):
            for k, element in enumerate(some):
                found.append(element.numpy())
                if k == 5:
                    break
        packed = str(Path(file).with_name("packed"))
        with tf.io.TFRecordWriter(packed, "GZIP") as writer:
            writer.write(b"packed")
        found += [x.numpy() for x in tf.data.TFRecordDataset(packed, "GZIP")]
        return repr(found[:-10]).encode()

    return run


def fit() -> Callable[[], bytes]:
    """Keras's `fit`, with a new model each time."""
    import keras

    x = np.linspace(-1, 1, 48, dtype="f4").reshape(24, 2)
    y = x[:, :1] * 2

    def run() -> bytes:
        keras.utils.set_random_seed(3)
        model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3), keras.layers.Dense(1)])
        model.compile("sgd", "mse", run_eagerly=True)
        model.fit(x, y, batch_size=8, epochs=2, verbose=0, shuffle=False)
        return b"".join(np.asarray(w).tobytes() for w in model.get_weights())

    return run


KINDS = {f.__name__: f for f in (tapes, persistent, nested, functions, datasets, fit)}


# --- the child ------------------------------------------------------------------------------------
def torn(run: Callable[[], bytes], expected: bytes, before: tuple) -> str:
    """What is not as it was."""
    from gradtape.core.record import threads

    if (found := run()) != expected:
        return f"the numbers are others: {found!r}, not {expected!r}"
    gc.collect()
    run()  # what was lost is cleared up by the next tape
    if threads.active or threads.watching is not None or threads.recording is not None:
        return f"somebody still records: {threads.active}"
    after = np.geterr(), gc.get_threshold(), gc.isenabled()
    if after != before:
        return f"{after}, not {before}"
    for thread in threading.enumerate():
        if thread.name.startswith(("gradtape-prefetch", "gradtape-map")):
            with contextlib.suppress(RuntimeError):  # it was about to start
                thread.join(LIMIT)
            if thread.is_alive():
                return f"the thread {thread.name} goes on"
    return ""


@functools.cache
def _bare_excepts(file: str) -> list[range]:
    """The lines of a file that stand in a `try` whose `except:` takes everything."""
    tries = [n for n in ast.walk(ast.parse(Path(file).read_text())) if isinstance(n, ast.Try)]
    bare = [n for n in tries if any(handler.type is None for handler in n.handlers)]
    return [range(n.body[0].lineno, (n.body[-1].end_lineno or 0) + 1) for n in bare]


def _is_taken_by_keras(frame: FrameType | None) -> bool:
    while frame is not None:
        file, line = frame.f_code.co_filename, frame.f_lineno
        if "/keras/src/" in file and any(line in lines for lines in _bare_excepts(file)):
            return True
        frame = frame.f_back
    return False


def child(kind: str) -> None:
    """Compute until the parent closes the pipe; one line for every interrupt."""

    raised: list[str] = []  # where it was when Ctrl-C came
    taken: list[bool] = []

    def handle(_: int, frame: FrameType | None) -> None:
        taken[:] = [_is_taken_by_keras(frame)]
        raised.extend(traceback.format_stack(frame))
        raise KeyboardInterrupt

    before = np.geterr(), gc.get_threshold(), gc.isenabled()
    run = KINDS[kind]()
    expected = run()
    signal.signal(signal.SIGINT, handle)
    while True:
        arrived = False
        try:
            print("go", flush=True)
            while not raised:
                run()
        except KeyboardInterrupt:
            arrived = True
        if arrived or taken == [True]:
            said = torn(run, expected, before)
        else:
            said = f"lost: {raised[-4:]}"
        raised.clear()
        print(said, flush=True)


# --- the parent -----------------------------------------------------------------------------------
def interrupt(kind: str, times: int, seed: int) -> list[str]:
    """What was lost or torn in so many interrupts."""
    draw, found = random.Random(seed), []
    command = [sys.executable, "-m", "gradtape", "run", "-m", "tests.interrupts", "--child", kind]
    process = subprocess.Popen(
        command, env=environment(), text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
    )
    assert process.stdout is not None

    def answer() -> str:
        late = threading.Timer(LIMIT, process.kill)
        late.start()
        line = process.stdout.readline()  # type: ignore[union-attr]
        late.cancel()
        if not line:
            raise EOFError(f"{kind}: no answer after an interrupt")
        return line.strip()

    try:
        for _ in range(times):
            assert answer() == "go"
            time.sleep(draw.uniform(0, LONGEST))
            process.send_signal(signal.SIGINT)
            if said := answer():
                found.append(f"{kind}: {said}")
    except EOFError as end:
        found.append(str(end))
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kinds", nargs="*", choices=[*KINDS, []], help="of programs; all of them")
    parser.add_argument("--times", type=int, default=2000, help="interrupts, of all kinds together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--child", choices=list(KINDS), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.child)
    kinds, bad = options.kinds or list(KINDS), 0
    for kind in kinds:
        times = -(-options.times // len(kinds))
        found = interrupt(kind, times, options.seed)
        bad += len(found)
        print(f"{kind}: {times} interrupts, {len(found)} lost or torn", flush=True)
        for words in found:
            print(f"  {words}")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
