"""Special functions of tf.math.special, and Sobol's sequence."""

from __future__ import annotations

from tests.tensorflow.cases._common import INF, NAN, fill, first_only, grads, tensor
from tests.tensorflow.harness import attempt, cases

# Where each function is to be asked for its slopes.
RANGES = {
    "bessel_j0": (-8.0, 8.0),
    "bessel_j1": (-8.0, 8.0),
    "bessel_k0": (0.1, 5.0),
    "bessel_k0e": (0.1, 5.0),
    "bessel_k1": (0.1, 5.0),
    "bessel_k1e": (0.1, 5.0),
    "bessel_y0": (0.1, 9.0),
    "bessel_y1": (0.1, 9.0),
    "dawsn": (-3.0, 3.0),
    "expint": (0.1, 9.0),
    "fresnel_cos": (-3.0, 3.0),
    "fresnel_sin": (-3.0, 3.0),
    "spence": (0.1, 3.0),
}
OLDER = ["bessel_i0", "bessel_i0e", "bessel_i1", "bessel_i1e"]


@cases(op=list(RANGES), shape=[(), (2, 3), (0,)])
def values(tf, op, shape):
    call = getattr(tf.math.special, op)
    return grads(tf, call, tensor(tf, fill(shape, *RANGES[op]), "float64"))


@cases(op=list(RANGES), dtype=["float16", "bfloat16", "float32", "int32"])
def kinds(tf, op, dtype):
    call = getattr(tf.math.special, op)
    return attempt(lambda: first_only(tf, call, tensor(tf, fill((4,), *RANGES[op]), dtype)))


@cases(op=list(RANGES))
def edges(tf, op):
    x = tf.constant([-2.0, -1.0, 0.0, 1.0, 2.0, 40.0, INF, -INF, NAN], tf.float64)
    return first_only(tf, getattr(tf.math.special, op), x)


@cases(op=OLDER)
def older(tf, op):
    return first_only(tf, getattr(tf.math.special, op), tensor(tf, fill((3,)), "float64"))


@cases(
    given={
        "plain": lambda tf: tf.math.sobol_sample(3, 9),
        "skip": lambda tf: tf.math.sobol_sample(2, 6, skip=5, dtype=tf.float64),
        "large": lambda tf: tf.math.sobol_sample(40, 20, 100),
        "dim": lambda tf: tf.math.sobol_sample(0, 4),
        "count": lambda tf: tf.math.sobol_sample(2, 0),
        "negative": lambda tf: tf.math.sobol_sample(2, 1, -1),
        "integers": lambda tf: tf.math.sobol_sample(2, 4, dtype=tf.int32),
        "tensors": lambda tf: tf.math.sobol_sample(tf.constant(2), tf.constant(3)),
    }
)
def sobol(tf, given):
    return attempt(lambda: given(tf))
