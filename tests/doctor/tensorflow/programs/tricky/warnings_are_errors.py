"""Warnings are errors in the whole program."""

import warnings

import numpy as np
import tensorflow as tf

warnings.simplefilter("error")
np.seterr(all="raise")
v = tf.Variable([1e-3, 2.0])
for _ in range(3):
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.exp(v) / (1.0 + v))
    v.assign_sub(0.1 * tape.gradient(y, v))
print(v.numpy(), np.geterr()["over"])
try:
    np.float32(1e38) * np.float32(1e38)
except FloatingPointError as error:
    print(error)
try:
    warnings.warn("mine", stacklevel=1)
except UserWarning as error:
    print(error)
