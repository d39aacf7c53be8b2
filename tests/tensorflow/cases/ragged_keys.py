"""What stands between the brackets of a ragged tensor: rows, slices of rows, errors."""

from __future__ import annotations

import numpy as np

from tests.tensorflow.harness import attempt, cases

KEYS = [
    "[::-1]", "[::2]", "[1:]", "[:-1]", "[3:0:-2]", "[5:]", "[::0]", "[-9:2]", "[0]", "[-1]",
    "[2]", "[4]", "[-5]", "[:,0]", "[:,:1]", "[:,1:]", "[0,0]", "[:,::-1]", "[...]", "[None]",
    "[1.0]", "[tf.constant(1)]", "[np.int64(1)]", "[:,:,0:1]", "[0,:1]", "[1:,:1]", "[:,-1:]",
    "[True]", "[...,0:1]", "[tf.constant(1):]", "[:,None]",
]  # fmt: skip


@cases(key=KEYS, depth=[1, 2])
def between_brackets(tf, key, depth):
    rows = [[1.0, 2.0], [], [3.0], [4.0, 5.0, 6.0]] if depth == 1 else [[[1], [2, 3]], [], [[4]]]
    x = tf.ragged.constant(rows)
    return attempt(lambda: eval(f"x{key}", {"x": x, "tf": tf, "np": np}))


@cases(key=["[::-1]", "[1:,:1]", "[3]", "[:,::2]"])
def gradient(tf, key):
    values = tf.Variable([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    with tf.GradientTape() as tape:
        x = tf.RaggedTensor.from_row_splits(values * 1.0, [0, 2, 2, 3, 6])
        y = eval(f"x{key}", {"x": x})
        flat = y.flat_values if isinstance(y, tf.RaggedTensor) else y
        total = tf.reduce_sum(flat * flat)
    return tape.gradient(total, values)
