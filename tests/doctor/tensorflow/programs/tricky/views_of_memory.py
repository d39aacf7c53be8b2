"""Arrays of tensors and variables, their memory and flags."""

import numpy as np
import tensorflow as tf

v, t = tf.Variable([1.0, 2.0]), tf.constant([3.0, 4.0])
with tf.GradientTape() as tape:
    tape.watch(t)
    y = tf.reduce_sum(v * t)
grads = tape.gradient(y, [v, t])
before = v.numpy()
v.assign_add([1.0, 1.0])
print(before, v.numpy(), [g.numpy().flags.writeable for g in grads], t.numpy().flags.writeable)
print(np.shares_memory(t.numpy(), t.numpy()), np.shares_memory(v.numpy(), v.numpy()))
array = np.array([1.0, 2.0], np.float32)
w = tf.Variable(array)
array[0] = 9.0
print(w.numpy(), tf.constant(array).numpy(), [g.numpy().strides for g in grads])
