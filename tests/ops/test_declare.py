"""Who listens to ops hears all of them, and nothing else of the program is changed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import gradtape as tf
from gradtape.core.op import Op, registry
from gradtape.ops.declare import elementwise, listen

Heard = list[tuple[Op, tuple, dict, Any]]


@pytest.fixture
def heard() -> Iterator[Heard]:
    """What is applied while a test runs."""
    log: Heard = []

    def around(op: Op, apply: Any) -> Any:
        def listening(*operands: Any, **params: Any) -> Any:
            result = apply(*operands, **params)
            log.append((op, operands, params, result))
            return result

        return listening

    end = listen(around)
    yield log
    end()


def labels(heard: Heard) -> list[str]:
    return [op.label for op, *_ in heard]


def test_an_op_declared_later_is_heard(heard: Heard) -> None:
    made = elementwise("declared_later", np.sinh, lambda g, a: g * np.cosh(a), label="Sinh")
    try:
        made.apply(tf.constant(1.0))
        assert [op for op, *_ in heard] == [made]
    finally:
        del registry["declared_later"]


def test_listening_ends() -> None:
    before = {op: op.apply for op in registry.values()}
    listen(lambda op, apply: lambda *a, **p: apply(*a, **p))()
    assert all(op.apply is apply for op, apply in before.items())


DRAWS: dict[str, Callable[[], Any]] = {
    "StatelessRandomNormalV2": lambda: tf.random.normal([2, 3]),
    "StatelessTruncatedNormalV2": lambda: tf.random.stateless_truncated_normal([3], [1, 2]),
    "StatelessRandomUniformV2": lambda: tf.random.Generator.from_seed(1).uniform([3]),
    "StatelessRandomUniformIntV2": lambda: tf.random.uniform([4], 2, 9, tf.int32),
    "StatelessRandomUniformFullIntV2": lambda: tf.random.split([1, 2]),
    "Multinomial": lambda: tf.random.categorical([[0.0, 1.0]], 5),
    "StatelessMultinomial": lambda: tf.random.stateless_categorical([[0.0, 1.0]], 5, [1, 2]),
    "RandomPoissonV2": lambda: tf.random.poisson([4], [1.0, 20.0]),
    "StatelessRandomPoisson": lambda: tf.random.stateless_poisson([4], [1, 2], 3.0),
    "StatelessRandomBinomial": lambda: tf.random.stateless_binomial([4], [1, 2], 9.0, 0.5),
    "StatefulRandomBinomial": lambda: tf.random.Generator.from_seed(1).binomial([4], 9.0, 0.5),
    "RandomGamma": lambda: tf.random.gamma([4], [0.5, 2.0]),
    "RandomShuffle": lambda: tf.random.shuffle([1, 2, 3, 4]),
    "StatelessShuffle": lambda: tf.random.experimental.stateless_shuffle([1, 2, 3, 4], [1, 2]),
}  # fmt: skip


@pytest.mark.parametrize("label", DRAWS)
def test_a_draw_is_an_op_that_plays_again(label: str, heard: Heard) -> None:
    DRAWS[label]()
    (found,) = [event for event in heard if event[0].label == label]
    op, operands, params, result = found
    again = op.forward(*[tf.convert_to_tensor(a).numpy() for a in operands], **params)
    np.testing.assert_array_equal(again, result.numpy())
    params["counter"] += 1
    other = op.forward(*[tf.convert_to_tensor(a).numpy() for a in operands], **params)
    assert other.shape == result.shape


@pytest.mark.parametrize(
    ("use", "label"),
    [
        (lambda x, k: x[k], "StridedSlice"),
        (lambda x, k: x[1:k], "StridedSlice"),
        (lambda x, k: tf.slice(x, [k], [1]), "StridedSlice"),
        (lambda x, k: tf.strided_slice(x, [0], [k]), "StridedSlice"),
        (lambda x, k: tf.repeat(x, k), "Tile"),
        (lambda x, k: tf.repeat(x, tf.stack([k, k, k])), "GatherV2"),
        (lambda x, k: tf.dynamic_partition(x, tf.stack([k, k, k]), 3)[0], "DynamicPartition"),
    ],
)
def test_positions_are_operands(use: Any, label: str, heard: Heard) -> None:
    x, k = tf.constant([1.0, 2.0, 3.0]), tf.constant(2)
    use(x, k)
    made = [result for _, _, _, result in heard if not isinstance(result, tuple)]
    known = {id(k), *map(id, made)}  # what the position is, or was made into
    assert any(
        op.label == label and any(id(a) in known and a is not x for a in operands)
        for op, operands, *_ in heard
    )


def test_what_computes_above_the_ops_is_heard(heard: Heard) -> None:
    x = tf.constant([[1.0, 0.0], [2.0, 3.0]])
    tf.math.count_nonzero(x)
    tf.math.zero_fraction(x)
    tf.math.is_non_decreasing(x)
    tf.math.is_strictly_increasing(x)
    tf.math.in_top_k([0, 1], x, 1)
    tf.math.bincount(x)
    tf.math.confusion_matrix([0, 1], [1, 1])
    tf.linalg.matrix_rank(x)
    tf.stop_gradient(x)
    tf.numpy_function(np.sin, [x], tf.float32)
    tf.py_function(tf.sin, [x], tf.float32)
    wanted = {
        "NotEqual", "Sub", "LessEqual", "Less", "InTopKV2", "DenseBincount", "ScatterNd", "Greater",
        "StopGradient", "PyFunc", "EagerPyFunc",
    }  # fmt: skip
    assert wanted <= set(labels(heard))


def test_the_doctor_replaces_no_function_of_a_module() -> None:
    def functions() -> dict[str, Any]:
        return {
            f"{name}.{key}": value
            for name, module in list(sys.modules.items())
            if name.partition(".")[0] in ("gradtape", "tensorflow")
            for key, value in list(getattr(module, "__dict__", {}).items())
            if callable(value)
        }

    before = functions()
    with tf.doctor.watch():
        during = functions()
    changed = {name for name, value in before.items() if during.get(name) is not value}
    assert changed <= {"gradtape.framework.convert.array"}  # heard, because it makes no op
