"""NumPy's numbers where a whole number of Python's is meant: TensorFlow casts them if it can."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.tensorflow.harness import attempt, cases

SCALARS = {
    "float64": np.float64(1), "float16": np.float16(1), "bool": np.bool_(True),
    "uint8": np.uint8(1), "uint64": np.uint64(1), "int8": np.int8(1), "int64": np.int64(1),
    "complex": np.complex64(1),
}  # fmt: skip
FUNCTIONS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "sum": lambda tf, n, x: tf.reduce_sum(x, n),
    "variance": lambda tf, n, x: tf.math.reduce_variance(x, n),
    "moments": lambda tf, n, x: tf.nn.moments(x, n),
    "logsumexp": lambda tf, n, x: tf.reduce_logsumexp(x, n),
    "expand_dims": lambda tf, n, x: tf.expand_dims(x, n),
    "cumsum": lambda tf, n, x: tf.cumsum(x, n),
    "concat": lambda tf, n, x: tf.concat([x, x], n),
    "gather": lambda tf, n, x: tf.gather(x, [0], axis=n),
    "split": lambda tf, n, x: tf.split(x, 1, axis=n),
    "reverse": lambda tf, n, x: tf.reverse(x, [n]),
    "roll": lambda tf, n, x: tf.roll(x, 1, n),
    "ones": lambda tf, n, x: tf.ones(n),
    "fill": lambda tf, n, x: tf.fill(n, 1.0),
    "top_k": lambda tf, n, x: tf.math.top_k(x, n),
    "one_hot": lambda tf, n, x: tf.one_hot(1, n),
    "repeat": lambda tf, n, x: tf.repeat(x, n, axis=0),
    "reshape": lambda tf, n, x: tf.reshape(x, [n, 6]),
}


@cases(function=FUNCTIONS, scalar=SCALARS)
def scalars(tf: Any, function: Callable[[Any, Any, Any], Any], scalar: Any) -> Any:
    return attempt(lambda: function(tf, scalar, tf.ones([2, 3])))
