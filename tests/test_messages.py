"""Messages that a newcomer meets: they name what is wrong and what was expected."""

import pytest

import gradtape as tf

zeros = tf.zeros

MISTAKES = {
    "an image without its batch": (
        lambda: tf.nn.conv2d(zeros([5, 5, 3]), zeros([3, 3, 3, 1]), 1, "SAME"),
        "[5, 5, 3]; its axes are [batch, *sizes, channels]",
    ),
    "a filter for other channels": (
        lambda: tf.nn.conv2d(zeros([1, 5, 5, 3]), zeros([3, 3, 2, 1]), 1, "SAME"),
        "3 vs 2; the filter [3, 3, 2, 1] is [*sizes, channels in, channels out]",
    ),
    "a filter for fewer channels": (
        lambda: tf.nn.conv2d(zeros([1, 5, 5, 3]), zeros([3, 3, 1, 1]), 1, "SAME"),
        "the input has 3 channels, the filter [3, 3, 1, 1]",
    ),
    "pooling of a matrix": (
        lambda: tf.nn.max_pool2d(zeros([2, 2]), 2, 2, "VALID"),
        "[2, 2]; its axes are [batch, *sizes, channels]",
    ),
    "tensors without a list": (
        lambda: tf.concat([zeros([2]), zeros([2])], [0, 1]),
        "got shape [2]; tf.concat takes a list of tensors, then the axis",
    ),
    "a shape that does not fit": (
        lambda: tf.ensure_shape(zeros([2, 2]), [None, 3]),
        "Shape of tensor input [2,2] is not compatible with expected shape [?,3].",
    ),
    "an assertion": (
        lambda: tf.debugging.Assert(tf.constant(False), [tf.constant(1)]),
        "Expected 'tf.Tensor(False, shape=(), dtype=bool)' to be true. Summarized data: 1",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_message(name):
    mistake, words = MISTAKES[name]
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        mistake()
    assert words in str(caught.value)
