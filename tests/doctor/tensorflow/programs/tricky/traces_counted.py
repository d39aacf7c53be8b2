"""Python runs in a function as often as without the doctor."""

import tensorflow as tf

traced = []


@tf.function
def step(x, scale=1.0, flag=True):
    traced.append((x.dtype.name, tuple(x.shape), scale, flag))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(x * x) * scale if flag else tf.reduce_sum(x) * scale
    return tape.gradient(y, x)


for x in ([1.0], [1.0, 2.0], [3.0]):
    for flag in (True, False):
        print(step(tf.constant(x), flag=flag).numpy())
print(step(tf.constant([1.0]), 2.0).numpy(), step(tf.constant([1.0]), scale=2.0).numpy())
print(traced, step.experimental_get_tracing_count(), step.__name__)
