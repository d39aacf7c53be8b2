"""Variables whose gradient a function took die with the function."""

import gc
import weakref

import tensorflow as tf


def once(k):
    v = tf.Variable([float(k), 1.0])

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(x * v)
        return tape.gradient(y, [v, x])

    grads = step(tf.constant([1.0, 2.0]))
    print([g.numpy() for g in grads])
    return [weakref.ref(v), weakref.ref(grads[0])]


for k in range(3):
    ends = once(k + 1)
    gc.collect()
    print([end() is None for end in ends])
