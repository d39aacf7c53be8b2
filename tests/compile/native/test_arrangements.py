"""Ops that move, count, look up and draw numbers in compiled functions: all native, as eagerly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")
import gradtape as tf
from gradtape.compile.backends import choice
from gradtape.compile.native.parts import is_look
from gradtape.compile.native.unit import Native

from .test_programs import array, close, compiled

rng = np.random.default_rng(0)


def hosts(function: Any) -> list[str]:
    """The ops that Python computes."""
    (tree,) = function._trees.values()
    equations = tree.takes[0].runner.program.equations
    return [e.op.name for e in equations if not isinstance(e.op, Native) and not is_look(e)]


PLACES = tf.constant(rng.integers(0, 8, size=(5, 2)))
EACH = tf.constant(rng.integers(0, 8, size=(6, 3)))
PULLED = {
    "pad": lambda x: tf.pad(x, [[1, 2], [0, 3]]),
    "pad with a number": lambda x: tf.pad(x, [[0, 2], [4, 0]], constant_values=1.5),
    "mirrored": lambda x: tf.pad(x, [[2, 1], [0, 3]], "REFLECT"),
    "symmetric": lambda x: tf.pad(x, [[2, 1], [1, 3]], "SYMMETRIC"),
    "tile": lambda x: tf.tile(x, [2, 3]),
    "repeat": lambda x: tf.repeat(x, 3, axis=1),
    "roll": lambda x: tf.roll(x, [1, -3], [0, 1]),
    "reverse": lambda x: tf.reverse(x, [0, 1]),
    "slice": lambda x: x[1:4, 2:],
    "steps": lambda x: x[::2, 7:0:-3],
    "row": lambda x: x[-2],
    "single numbers": lambda x: tf.exp(x[1, 2]) * x[-1, 5],
    "numbers of a row": lambda x: tf.stack([tf.exp(y) for y in tf.unstack(x[4])]),
    "new axis": lambda x: x[None, ..., 3],
    "band": lambda x: tf.linalg.band_part(x, 1, 0),
    "take": lambda x: tf.gather(x, PLACES, axis=1),
    "take rows": lambda x: tf.convert_to_tensor(tf.gather(x, PLACES[:, 0] // 2, axis=0)),
    "take a row": lambda x: tf.gather(x, 2),
    "take a column": lambda x: tf.gather(x, 5, axis=1),
    "take the only one": lambda x: tf.gather(x[None], 0) + tf.gather(x[None], [0, 0])[1],
    "take by rows": lambda x: tf.gather(x, EACH, axis=1, batch_dims=1),
    "einsum": lambda x: tf.einsum("ij,kj->ki", x, x),
    "einsum of all": lambda x: tf.einsum("ij,ij->", x, x),
    "outer": lambda x: tf.einsum("i,j->ji", x[0], x[:, 1]),
    "attention": lambda x: tf.einsum(
        "bqhd,bkhd->bhqk", tf.reshape(x, [2, 3, 2, 4]), tf.reshape(x, [2, 3, 2, 4])
    ),
    "elu": tf.nn.elu,
    "selu": tf.nn.selu,
    "softsign": tf.nn.softsign,
    "logsumexp": lambda x: tf.reduce_logsumexp(x, axis=1),
    "logsumexp of all": lambda x: tf.reduce_logsumexp(x, keepdims=True),
    "norm": lambda x: tf.norm(x) * tf.ones_like(x),
}


@pytest.mark.parametrize("name", PULLED)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_values_and_gradients(name: str, dtype: str) -> None:
    function, x = PULLED[name], array(6, 8, dtype=dtype)
    weights = array(*function(x).shape, dtype=dtype)

    def pulled(x: Any, weights: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
            loss = tf.reduce_sum(y * weights)
        return y, tf.convert_to_tensor(tape.gradient(loss, x))

    step = compiled(pulled)
    for found, expected in zip(step(x, weights), pulled(x, weights), strict=True):
        close(found, expected, 2e-6 if dtype == "float32" else 1e-14)
    assert hosts(step) == []


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "uint8"])
def test_positions_and_whole_numbers(axis: int, dtype: str) -> None:
    numbers = rng.integers(0, 5, size=(7, 37)).astype(dtype)  # so that there are ties
    if numbers.dtype.kind == "f":
        numbers[rng.random(numbers.shape) < 0.2] = np.nan
        numbers[3] = numbers[:, 3] = np.nan
        numbers[5] = -np.inf

    def found(x: Any) -> Any:
        places = tf.argmax(x, axis=axis), tf.argmin(x, axis=axis, output_type=tf.int32)
        if x.dtype.is_floating:
            return places
        ends = tf.reduce_max(x, axis=axis), tf.reduce_min(x), tf.reduce_sum(x, axis=axis)
        return *places, *ends, tf.reduce_any(x > 3, axis=axis), tf.reduce_all(x > 0, axis=axis)

    x = tf.constant(numbers)
    step = compiled(found)
    for one, other in zip(step(x), found(x), strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype
    assert hosts(step) == []


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_places_of_a_long_table(dtype: str) -> None:
    table, places = array(256, 3), tf.constant(np.array([255, 0, 128, 127], dtype))
    step = compiled(lambda t, p: tf.gather(t * 2.0, p))
    close(step(table, places), tf.gather(table * 2.0, places))


def test_arrays_without_numbers() -> None:
    x, pads = tf.ones([0, 3]), [[0, 0], [1, 2]]
    for function in (
        lambda x: tf.pad(x, pads), lambda x: tf.pad(x, pads, "SYMMETRIC"), tf.nn.softmax,
        lambda x: tf.tile(x, [2, 2]), lambda x: tf.repeat(x, 2, axis=0), tf.reduce_logsumexp,
        lambda x: tf.reduce_sum(tf.exp(x), axis=0), lambda x: tf.transpose(x) @ x,
        lambda x: tf.gather(tf.ones([4, 2]), tf.cast(x, tf.int32)), tf.nn.gelu, tf.nn.l2_loss,
        lambda x: tf.nn.conv2d(tf.ones([0, 5, 5, 2]), tf.ones([2, 2, 2, 3]), 1, "SAME"),
    ):  # fmt: skip
        found, expected = compiled(function)(x).numpy(), function(x).numpy()
        np.testing.assert_array_equal(found, expected, strict=True)


def test_remainders() -> None:
    for dtype in ("int32", "int64", "uint8"):
        x = tf.constant(rng.integers(-100, 100, size=37).astype(dtype))
        step = compiled(lambda x: tf.math.floormod(x, 7))
        np.testing.assert_array_equal(step(x), tf.math.floormod(x, 7))
        assert hosts(step) == []


def test_places_out_of_range_are_told_as_eagerly() -> None:
    x = array(6, 8)
    for pick in (
        lambda x, i: tf.gather(x, i, axis=1),
        lambda x, i: tf.gather(x, i, axis=1, batch_dims=1),
    ):
        step = compiled(pick)
        good, bad = EACH, tf.constant(EACH.numpy() - 4)
        close(step(x, good), pick(x, good))
        for function in (step, pick):
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"is not in \[0, 8\)"):
                function(x, bad)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(), (5,), (3, 32), (1000,)])
def test_draws_are_those_of_numpy(
    shape: tuple[int, ...], dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def drawn() -> list[Any]:
        tf.random.set_seed(3)
        steps.append(tf.function(lambda: tf.random.uniform(shape, dtype=dtype), jit_compile=True))
        return [steps[-1]() for _ in range(3)]

    steps: list[Any] = []
    found = drawn()
    monkeypatch.setattr(choice, "NAME", "numpy")
    for one, other in zip(found, drawn(), strict=True):
        np.testing.assert_array_equal(one, other)
    assert not np.array_equal(*found[:2])
    assert [hosts(step) for step in steps] == [["place"], ["random_uniform"]]


def test_draws_at_the_end_of_the_counter() -> None:
    from gradtape.compile.native import chance
    from gradtape.ops.chance import uniform

    dtype = np.dtype(np.float32)
    for counter in (2**64 - 3, 2**128 - 2):
        place = {"key": 2**64 - 5, "counter": counter}
        expected = uniform.forward(**place, shape=(100,), dtype=dtype)
        words = chance.place.forward(**place)
        np.testing.assert_array_equal(
            chance.uniform.forward(words, shape=(100,), dtype=dtype), expected
        )
        step = compiled(lambda x, place=place: x + uniform(**place, shape=(100,), dtype=dtype))
        np.testing.assert_array_equal(step(tf.zeros([100])), expected)
