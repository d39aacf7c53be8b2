"""A weight that does not learn: `gradtape doctor examples/doctor/lost_gradient.py` says why."""

import numpy as np
import tensorflow as tf

x = tf.random.stateless_normal([64, 3], seed=[1, 2])
y = tf.reduce_sum(x, axis=1, keepdims=True)
w = tf.Variable(tf.random.stateless_normal([3, 1], seed=[3, 4]))
b = tf.Variable([0.0])

for _ in range(10):
    with tf.GradientTape() as tape:
        features = np.tanh(x @ w)
        loss = tf.reduce_mean((features + b - y) ** 2)
    dw, db = tape.gradient(loss, [w, b])
    b.assign_sub(0.1 * db)
    if dw is not None:
        w.assign_sub(0.1 * dw)
print(f"loss {float(loss):.4f}")
