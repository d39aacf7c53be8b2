"""Has TensorFlow write a checkpoint of all kinds of values, which gradtape is to read.

    python -m tests.checkpoints.tensorflow_writes PREFIX

`written/` holds what TensorFlow 2.21 wrote, for those who do not have it.
"""

from __future__ import annotations

import sys
from typing import Any


def objects(tf: Any, filled: bool) -> dict[str, Any]:
    """The same objects on both, with their values or with zeros."""
    module = tf.Module()
    scale = 1 if filled else 0
    module.w = tf.Variable([[1.5 * scale, -2.0 * scale, 0.0], [3.0 * scale] * 3], name="w")
    module.parts = [
        tf.Variable(scale, dtype=tf.int32),
        {"a": tf.Variable(["text", ""] if filled else ["", ""]), "b/c": tf.Variable(2.5 * scale)},
    ]
    module.pair = (tf.Variable(filled), tf.Variable(complex(3 * scale, 4 * scale)))
    module.small = tf.Variable(tf.cast(0.1 * scale, tf.bfloat16))
    module.shared = module.w
    many = [tf.Variable(float(k * scale), dtype=tf.float64) for k in range(300)]  # several blocks
    return {"model": module, "many": many, "step": tf.Variable(7 * scale, dtype=tf.int64)}


if __name__ == "__main__":
    import tensorflow

    print(tensorflow.train.Checkpoint(**objects(tensorflow, True)).save(sys.argv[1]))
