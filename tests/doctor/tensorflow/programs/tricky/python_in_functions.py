"""Python that a function calls runs as often as without the doctor."""

import numpy as np
import tensorflow as tf

calls = []


def noise(x):
    calls.append(x.shape)
    return np.float32(x * 0.5)


def batches():
    calls.append("begun")
    for k in range(4):
        yield np.float32([k + 1.0])
    calls.append("ended")


v = tf.Variable([1.0])


@tf.function
def step(x):
    target = tf.numpy_function(noise, [x], tf.float32)
    target.set_shape([1])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum((v - target) ** 2)
    v.assign_sub(0.1 * tape.gradient(y, v))


data = tf.data.Dataset.from_generator(batches, output_signature=tf.TensorSpec([1]))
for x in data:
    step(x)
print(v.numpy(), calls)
