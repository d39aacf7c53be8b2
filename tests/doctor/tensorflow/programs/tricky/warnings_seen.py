"""Warnings are those of the program, with its lines."""

import warnings

import numpy as np
import tensorflow as tf

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    v = tf.Variable([1.0, 4.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.sqrt(v))
    tape.gradient(y, v)
    np.log(np.zeros(1))
    warnings.warn("mine", stacklevel=1)
print([(w.category.__name__, str(w.message), w.lineno) for w in caught])
print(np.geterr())
