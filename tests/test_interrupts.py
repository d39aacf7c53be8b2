"""Ctrl-C arrives wherever it comes, and leaves nothing torn: a few of each kind of program.

`python -m tests.interrupts --times 2000` sends more.
"""

from __future__ import annotations

import sys
import weakref
from functools import partial

import pytest

import gradtape as tf
from gradtape.framework.lifetimes import Beside, at_death
from tests.collecting import collect
from tests.interrupts import KINDS, interrupt

posix = pytest.mark.skipif(sys.platform == "win32", reason="sends signals")


@posix
@pytest.mark.parametrize("kind", KINDS)
def test_no_interrupt_is_lost_and_nothing_is_torn(kind) -> None:
    assert interrupt(kind, 25, seed=5) == []


def test_a_death_runs_no_python_code() -> None:
    """Whoever traces Python code sees none between the last reference and what follows."""
    x = tf.Variable(2.0)
    accumulator = tf.autodiff.ForwardAccumulator(x, tf.constant(1.0))
    with tf.GradientTape(persistent=True) as tape, accumulator:
        y = x * x
        kept = weakref.ref(y)
    seen: list[object] = []
    writer = tf.io.TFRecordWriter("/dev/null", "GZIP")

    before = sys.gettrace()
    sys.settrace(lambda frame, *_: seen.append(frame.f_code))
    try:
        del y, tape, accumulator, writer
    finally:
        sys.settrace(before)
    assert kept() is None
    assert seen == []


def test_a_tape_that_is_never_left_ends_with_the_next_one() -> None:
    from gradtape.core.record import threads

    x = tf.Variable(2.0)
    tape = tf.GradientTape()
    tape.__enter__()
    y = x * x
    kept = weakref.ref(y)
    del tape, y
    assert kept() is None
    with tf.GradientTape() as other:
        assert len(threads.active) == 1
        y = x * x
    assert float(other.gradient(y, x)) == 4.0
    assert threads.active == []


def test_calls_at_a_death() -> None:
    class Thing:
        pass

    thing, calls = Thing(), list[int]()
    at_death(thing, [partial(calls.append, 1), partial(calls.append, 2)])
    del thing
    assert calls == [1, 2]
    thing = Thing()
    thing.circle = thing, at_death(thing, [partial(calls.append, 3)])  # it dies with its cycle
    del thing
    assert calls == [1, 2]
    collect()
    assert calls == [1, 2, 3]


def test_values_beside_objects_live_as_long_as_these() -> None:
    class Thing:
        __hash__ = None  # type: ignore[assignment]

    values: Beside[Thing, str] = Beside()
    one, two = Thing(), Thing()
    values.put(one, "one")
    values.put(two, "two")
    assert [values.get(one), values.get(two), values.get(Thing())] == ["one", "two", None]
    assert list(values) == [one, two]
    del one
    assert len(values) == 1
    assert two in values
    values.discard(two)
    assert two not in values
