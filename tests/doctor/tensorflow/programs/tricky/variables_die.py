"""What is deleted dies at once or with the next collection."""

import gc
import weakref

import tensorflow as tf

for size in (1, 1000, 100_000):
    v = tf.Variable(tf.ones([size]))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(v * v)
    grad = tape.gradient(loss, v)
    v.assign_sub(0.1 * grad)
    ends = [weakref.ref(x) for x in (v, tape)]
    del v, tape, loss, grad
    gc.collect()
    print(size, [end() is None for end in ends])
