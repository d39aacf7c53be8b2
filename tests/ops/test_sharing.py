"""What threads of ours share in eager ops and on the NumPy backend: whoever computes a part, and in
whatever order, the numbers are the same to the last bit."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise, permutations
from typing import Any

import numpy as np
import pytest

import gradtape as tf
from gradtape.compile.backends import choice
from gradtape.ops.kernels import jobs, parallel

HANDS = 3
ORDERS = [*permutations(range(HANDS))]
rng = np.random.default_rng(0)


def array(*shape: int, dtype: str = "float32") -> Any:
    return tf.constant(rng.uniform(0.5, 1.5, shape).astype(dtype))


def with_gradients(function: Callable[..., Any]) -> Callable[..., Any]:
    def both(*operands: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(operands)
            y = function(*operands)
            loss = tf.reduce_sum(y * y)
        return y, *tape.gradient(loss, operands)

    return both


def draws() -> Any:
    generator = tf.random.Generator.from_seed(3)
    return generator.uniform([700_001]), generator.normal([300_003], dtype=tf.float64)


def on_numpy(x: Any) -> Any:
    return tf.tanh(x) * 2.0 + tf.exp(-x * x) / (1.0 + tf.abs(x))


LONG = (3, 120_007)
PROGRAMS: dict[str, tuple[Callable[..., Any], Sequence[tuple[int, ...]]]] = {
    "one operand": (with_gradients(lambda x: tf.exp(tf.sin(x))), [LONG]),
    "sigmoid": (with_gradients(tf.sigmoid), [LONG]),
    "gelu": (with_gradients(tf.nn.gelu), [LONG]),
    "erf": (with_gradients(tf.math.erf), [LONG]),
    "where": (with_gradients(lambda x: tf.where(x > 1.0, x, -x)), [LONG]),
    "softmax": (with_gradients(tf.nn.softmax), [(4001, 90)]),
    "draws": (draws, []),
    "max pool": (with_gradients(lambda x: tf.nn.max_pool2d(x, 3, 2, "SAME")), [(80, 31, 30, 17)]),
    "mean pool": (with_gradients(lambda x: tf.nn.avg_pool2d(x, 3, 1, "SAME")), [(90, 31, 30, 17)]),
    "convolution": (
        with_gradients(lambda x, f: tf.nn.conv2d(x, f, 1, "SAME")),
        [(33, 15, 14, 16), (3, 3, 16, 24)],
    ),
    "convolution with strides": (
        with_gradients(lambda x, f: tf.nn.conv2d(x, f, 2, "VALID")),
        [(65, 31, 30, 16), (5, 5, 16, 24)],
    ),
    "depthwise convolution": (
        with_gradients(lambda x, f: tf.nn.depthwise_conv2d(x, f, [1] * 4, "SAME")),
        [(33, 15, 14, 16), (3, 3, 16, 2)],
    ),
    "stacks of products": (with_gradients(tf.matmul), [(5, 9, 65, 70), (5, 9, 70, 66)]),
    "the NumPy backend": (tf.function(on_numpy), [LONG]),
}


@pytest.fixture(autouse=True)
def three_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "limit", HANDS)
    monkeypatch.setattr(choice, "NAME", "numpy")


def bits(program: str, operands: Sequence[Any]) -> list[bytes]:
    found = PROGRAMS[program][0](*operands)
    return [np.asarray(y).tobytes() for y in tf.nest.flatten(found)]


def replace_everywhere(monkeypatch: pytest.MonkeyPatch, name: str, old: Any, new: Any) -> None:
    """Where a module has it by name, too."""
    for module in [*sys.modules.values()]:
        if vars(module).get(name) is old:
            monkeypatch.setattr(module, name, new)


@pytest.mark.parametrize("program", PROGRAMS)
def test_who_computes_which_part_in_which_order_changes_no_bit(
    program: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    operands = [array(*shape) for shape in PROGRAMS[program][1]]
    expected = bits(program, operands)
    order: Sequence[int] = ()
    shared = 0

    def share(task: Callable[[int, int], Any], size: int, row: int = 1) -> None:
        """Seven parts, the hands' one after the other."""
        nonlocal shared
        shared += 1
        edges = [size * k // 7 for k in range(8)]
        parts = [*pairwise(edges)]
        for hand in order:
            for start, stop in parts[hand::HANDS]:
                if start < stop:
                    task(start, stop)

    class Effort:
        def __init__(
            self, work: Callable[[Iterator], None], some: Sequence, products: bool = False
        ) -> None:
            nonlocal shared
            shared += 1
            self.work, self.jobs, self.products = work, some, products

        def complete(self) -> None:
            if self.jobs:
                found, self.jobs = self.jobs, ()
                for hand in order:
                    with jobs.blas:
                        self.work(iter(found[hand::HANDS]))

        finish = complete

    if not jobs.blas.found():
        pytest.skip("NumPy has another BLAS")
    replace_everywhere(monkeypatch, "share", parallel.share, share)
    replace_everywhere(monkeypatch, "Effort", jobs.Effort, Effort)
    for permutation in ORDERS:
        order = permutation
        assert bits(program, operands) == expected
    assert shared


@pytest.mark.parametrize("program", PROGRAMS)
def test_threads_change_no_bit_from_call_to_call(program: str) -> None:
    operands = [array(*shape) for shape in PROGRAMS[program][1]]
    expected = bits(program, operands)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for _ in range(10):
            assert bits(program, operands) == expected
    finally:
        sys.setswitchinterval(interval)
