"""Values of others' making that TensorFlow's recorded answers say nothing of."""

from __future__ import annotations

import numpy as np
import pytest

import gradtape as tf

pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # np.matrix


def test_a_list_of_matrices_is_their_stack() -> None:
    rows = [np.matrix([[1.0, 2.0]]), np.matrix([[3.0, 4.0]])]
    for made in (tf.constant(rows), tf.stack(rows), tf.convert_to_tensor(rows)):
        assert type(made.numpy()) is np.ndarray
        np.testing.assert_array_equal(made, [[[1.0, 2.0]], [[3.0, 4.0]]])


def test_a_memory_with_two_axes_is_told() -> None:
    with pytest.raises(ValueError, match="unsupported type"):
        tf.constant(memoryview(np.ones((2, 2), np.float32)))


def test_the_gradient_beside_a_matrix_is_that_of_entries() -> None:
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        y = v * np.matrix([[1.0, 2.0], [3.0, 4.0]], np.float32)
    np.testing.assert_array_equal(y, [[1.0, 4.0], [9.0, 16.0]])
    np.testing.assert_array_equal(tape.gradient(y, v), [[1.0, 2.0], [3.0, 4.0]])


def test_the_rows_of_a_matrix_are_ragged_rows() -> None:
    made = tf.ragged.constant(np.matrix([[1.0, 2.0], [3.0, 4.0]]))
    assert made.to_list() == [[1.0, 2.0], [3.0, 4.0]]
