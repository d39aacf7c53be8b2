"""Optimizers' states and numbers after steps with and without tapes."""

import tensorflow as tf

tf.keras.utils.set_random_seed(2)
v = tf.Variable([1.0, -1.0])
optimizer = tf.keras.optimizers.Adam(0.1)
for _ in range(5):
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.square(v - [0.5, 0.5]))
    optimizer.apply_gradients([(tape.gradient(y, v), v)])
print(v.numpy().tobytes().hex(), int(optimizer.iterations), len(optimizer.variables))
print([x.path for x in optimizer.variables], optimizer.variables[-1].numpy().tobytes().hex())
print(sorted(optimizer.get_config())[:5], sorted(vars(optimizer))[:5])
