"""A tensor that a tape followed, and that nobody refers to any more."""

import gc
import weakref

import tensorflow as tf

v = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    y = tf.exp(v)
    z = tf.reduce_sum(y)
print(tape.gradient(z, v).numpy())
end = weakref.ref(y)
del y, z, tape
gc.collect()
print(end() is None)
