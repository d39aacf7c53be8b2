"""What a training loop makes dies with its step."""

import gc
import weakref

import tensorflow as tf

w = tf.Variable(tf.ones([3, 2]))
ends = []
for k in range(12):
    x = tf.fill([4, 3], 0.1 * (k + 1))
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((x @ w - 1.0) ** 2)
    grad = tape.gradient(loss, w)
    w.assign_sub(0.1 * grad)
    ends.append([weakref.ref(o) for o in (x, loss, grad, tape)])
    del x, loss, grad, tape
gc.collect()
for k, step in enumerate(ends):
    print(k, [end() is None for end in step])
