"""Numbers, truth values, lengths and iterations of what a tape follows."""

import operator

import numpy as np
import tensorflow as tf

v, n = tf.Variable([1.0, 2.0, 4.0]), tf.constant(3)
with tf.GradientTape() as tape:
    y = v * v
    print(float(y[0]), bool(y[1] > 1.0), len(y), [float(k) for k in y], operator.index(n))
    print(y.numpy().tolist(), np.asarray(y).dtype, np.array(v).sum(), 4.0 in y.numpy())
    print((y == v * v).numpy(), max(y.numpy()), range(n), [1, 2, 3, 4][n], int(n), complex(y[0]))
    total = tf.reduce_sum(y)
print(tape.gradient(total, v).numpy())
