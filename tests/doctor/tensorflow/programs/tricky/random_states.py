"""Random numbers are those of the seeds."""

import random

import numpy as np
import tensorflow as tf

random.seed(1)
np.random.seed(2)
tf.random.set_seed(3)
v = tf.Variable(tf.random.normal([3]))
for _ in range(3):
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(v * tf.random.uniform([3])) * random.random() * np.random.rand()
    print(tape.gradient(y, v).numpy().tobytes().hex(), random.random(), np.random.rand())
