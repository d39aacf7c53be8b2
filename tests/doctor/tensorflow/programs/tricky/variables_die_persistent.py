"""A persistent tape and a variable that nobody refers to any more."""

import gc
import weakref

import tensorflow as tf

v = tf.Variable([1.0, 2.0])
with tf.GradientTape(persistent=True) as tape:
    y = tf.exp(v)
    z = tf.reduce_sum(y)
print(tape.gradient(z, v).numpy(), tape.gradient(z, y).numpy())
ends = [weakref.ref(x) for x in (v, tape)]
del v, tape, y, z
gc.collect()
print([end() is None for end in ends])
