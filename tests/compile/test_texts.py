"""Texts in functions: how many words there are is looked at, and not which."""

from __future__ import annotations

import pytest

import gradtape as tf


def test_a_function_of_texts_is_recorded_once_for_texts_of_as_many_words() -> None:
    runs = []

    @tf.function
    def lengths(texts):
        runs.append(1)
        words = tf.strings.split(tf.strings.lower(texts))
        return tf.strings.length(words.to_tensor(default_value="none"))

    assert lengths(tf.constant(["A bb", "ccc"])).numpy().tolist() == [[1, 2], [3, 4]]
    assert lengths(tf.constant(["dddd e", "f"])).numpy().tolist() == [[4, 1], [1, 4]]
    assert len(runs) == 1
    assert lengths(tf.constant(["a b c", "d"])).numpy().tolist() == [[1, 1, 1], [1, 4, 4]]
    assert lengths(tf.constant(["a", "bb ccc"])).numpy().tolist() == [[1, 4], [2, 3]]
    assert len(runs) == 2


def test_splits_that_do_not_rise_are_found_at_every_call() -> None:
    @tf.function
    def made(splits):
        return tf.RaggedTensor.from_row_splits(tf.range(3), splits).to_tensor(shape=[2, 3])

    assert made(tf.constant([0, 1, 3])).numpy().tolist() == [[0, 0, 0], [1, 2, 0]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="row_splits must rise"):
        made(tf.constant([0, 4, 3]))
    assert made(tf.constant([0, 2, 3])).numpy().tolist() == [[0, 1, 0], [2, 0, 0]]
