"""`gradtape.numpy` where TensorFlow has no answer to compare with: the namespace and its limits."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pytest

import gradtape as tf
from gradtape import numpy as tnp
from gradtape.numpy import behavior
from tests.tensorflow import harness
from tests.tensorflow.cases import numpy_api

NAMES = harness.read("numpy_api")["numpy_api::names"]


@pytest.fixture
def numpy_like() -> Iterator[None]:
    tnp.experimental_enable_numpy_behavior()
    yield
    behavior.restore()


# --- the namespace --------------------------------------------------------------------------------
def test_it_is_one_namespace() -> None:
    assert tf.experimental.numpy is tnp is tf.numpy
    assert "numpy" not in tf.__all__, "a star import must leave NumPy alone"


def test_it_is_imported_when_asked_for() -> None:
    code = "import sys, gradtape; assert 'gradtape.numpy' not in sys.modules; gradtape.numpy.exp(1)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_name_of_tensorflow_is_there() -> None:
    assert set(NAMES[0]) <= set(tnp.__all__)
    values = {name: getattr(tnp, name) for name in NAMES[0]}
    assert [name for name, one in values.items() if callable(one) and not one.__doc__] == []


def test_every_name_has_a_case() -> None:
    called = {ast.unparse(_called(call)) for call in numpy_api.CALLS}
    # A module, and what the cases themselves call.
    called |= {"n.random", "n.experimental_enable_numpy_behavior"}
    names = [*NAMES[0], *(f"random.{name}" for name in NAMES[1])]
    assert [name for name in names if f"n.{name}" not in called] == []


def _called(call: str) -> ast.AST:
    """The name of the namespace in a call: the innermost beginning of it."""
    node: ast.AST = ast.parse(f"n.{call}", mode="eval").body
    while True:
        if isinstance(node, ast.Call):
            node = node.func
        elif isinstance(node, ast.Compare):
            node = node.left
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Call):
            node = node.value
        else:
            return node


def test_star_import_gives_the_names() -> None:
    world: dict[str, object] = {}
    exec("from gradtape.numpy import *", world)
    assert set(NAMES[0]) <= set(world)


# --- what it takes --------------------------------------------------------------------------------
GIVEN = {
    "list": [0.5, 1.5],
    "tuple": (0.5, 1.5),
    "array": np.array([0.5, 1.5]),
    "tensor": tf.constant([0.5, 1.5]),
    "variable": tf.Variable([0.5, 1.5]),
    "list of tensors": [tf.constant(0.5), 1.5],
}
ONE = "exp log2 log10 rad2deg deg2rad isinf isneginf isposinf angle abs sign sum mean sort ravel"
TWO = "add hypot logaddexp logaddexp2 maximum power arctan2 equal isclose dot kron outer"


@pytest.mark.parametrize("name", ONE.split())
@pytest.mark.parametrize("given", GIVEN)
def test_one_argument_of_any_kind(name: str, given: str) -> None:
    found = np.asarray(getattr(tnp, name)(GIVEN[given]))
    expected = getattr(np, name)(np.array([0.5, 1.5]))
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("name", TWO.split())
@pytest.mark.parametrize("given", ["list", "array", "tensor"])
def test_two_arguments_of_one_kind(name: str, given: str) -> None:
    found = getattr(tnp, name)(GIVEN[given], GIVEN[given]).numpy()
    expected = getattr(np, name)(np.array([0.5, 1.5]), np.array([0.5, 1.5]))
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_the_tape_sees_lists_of_tensors() -> None:
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = tnp.sum(tnp.array([x * x, 1.0, [3.0, x][1]]))
    assert tape.gradient(y, x).numpy() == 5.0


def test_numpy_itself_leaves_the_tape() -> None:
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.constant(np.exp(x))
    assert isinstance(np.exp(tf.constant(1.0)), np.floating)
    assert tape.gradient(y, x) is None


# --- what enabling changes ------------------------------------------------------------------------
def test_it_can_be_taken_back() -> None:
    before = dict(vars(tf.Tensor)), dict(vars(tf.Variable))
    for mode in ("legacy", "all", "safe", "off", "legacy"):
        tnp.experimental_enable_numpy_behavior(True, mode)
    behavior.restore()
    for owner, methods in zip((tf.Tensor, tf.Variable), before, strict=True):
        assert dict(vars(owner)) == methods
    with pytest.raises(AttributeError):
        _ = tf.constant([1.0]).T
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.constant(1) + tf.constant(1.0)


def test_a_wrong_mode_changes_nothing() -> None:
    with pytest.raises(ValueError, match="'safe' or"):
        tnp.experimental_enable_numpy_behavior(dtype_conversion_mode="loud")
    assert behavior.settings.mode == "off"


@pytest.mark.parametrize(
    "key",
    [
        [0, 1, 1], ([0, 1], [1, 2]), (slice(None), [2, 0]), ([1], slice(None), [0, 3]),
        (..., [0, 0]),
        np.array([[0, 1], [1, 0]]), (None, [0, 1]), (slice(1), [0, 1], [1, 1]), ([True, False], 1),
    ],
    ids=str,
)  # fmt: skip
def test_indices_are_numpys(numpy_like: None, key: object) -> None:
    array = np.arange(24.0).reshape(2, 3, 4)
    x = tf.constant(array)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x[key]
    np.testing.assert_array_equal(y.numpy(), array[key])
    derivative = np.zeros_like(array)
    np.add.at(derivative, key, 1.0)
    np.testing.assert_array_equal(tape.gradient(y, x).numpy(), derivative)


def test_an_index_beyond_its_axis_is_an_error(numpy_like: None) -> None:
    x = tf.constant(np.arange(6).reshape(2, 3))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"index 5 is not in \[0, 3\)"):
        x[[0], [5]]  # TensorFlow gives x[1, 2]


def test_objects_that_know_tensors_get_their_turn(numpy_like: None) -> None:
    class Unit:
        def __radd__(self, other: object) -> str:
            return "mine"

    assert tf.constant(1) + Unit() == "mine"
    with pytest.raises((TypeError, ValueError)):
        tf.constant(1) + object()


def test_gradients_come_back_in_the_dtype_of_their_source(numpy_like: None) -> None:
    v = tf.Variable([1.0, 2.0], dtype=tf.float32)
    with tf.GradientTape() as tape:
        y = (v * np.array([1.5, 2.5]) + tf.constant([1, 2])).T.reshape(-1).max()
    gradient = tape.gradient(y, v)
    assert (y.dtype, gradient.dtype) == (tf.float64, tf.float32)
    np.testing.assert_array_equal(gradient, [0.0, 2.5])


def test_enabled_behaviour_leaves_the_engine_alone(numpy_like: None) -> None:
    x = tf.constant([0.5, 1.5])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_sum(tf.nn.softmax(x) * x[::-1] ** 3)
        first = inner.gradient(y, x)
    assert outer.jacobian(first, x).dtype == tf.float32
