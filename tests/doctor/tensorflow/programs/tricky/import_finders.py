"""The finders of the import system, after TensorFlow has been imported."""

import sys

import tensorflow as tf

v = tf.Variable(2.0)
with tf.GradientTape() as tape:
    y = v * v
print(tape.gradient(y, v).numpy(), [getattr(f, "__name__", "") for f in sys.meta_path])
