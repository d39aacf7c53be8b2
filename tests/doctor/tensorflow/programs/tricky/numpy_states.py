"""NumPy's generators, error state and print options."""

import numpy as np
import tensorflow as tf

np.random.seed(3)
rng = np.random.default_rng(4)
np.set_printoptions(precision=3, suppress=True)
np.seterr(divide="warn", over="ignore")
v = tf.Variable(rng.normal(size=3).astype("f4"))
for _ in range(4):
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(v * v * rng.random(3).astype("f4"))
    v.assign_sub(0.1 * tape.gradient(y, v))
print(v.numpy(), np.random.get_state()[2], rng.bit_generator.state["state"]["state"] % 10**9)
print(np.geterr(), np.get_printoptions()["precision"], np.geterrcall(), np.getbufsize())
