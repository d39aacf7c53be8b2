"""By position and by keywords."""

import tensorflow as tf

x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
with tf.GradientTape(persistent=True) as tape:
    tape.watch(x)
    y = x * x
print(tape.batch_jacobian(y, x).numpy())
print(tape.batch_jacobian(target=y, source=x).numpy())
