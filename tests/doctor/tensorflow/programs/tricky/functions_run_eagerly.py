"""`run_functions_eagerly` switches, and what is traced is counted."""

import tensorflow as tf

calls = []


@tf.function
def step(v, x):
    calls.append("python")
    with tf.GradientTape() as tape:
        tape.watch(v)
        y = tf.reduce_sum(v * x)
    return tape.gradient(y, v)


v, x = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])
print(step(v, x).numpy(), step(v, x).numpy(), len(calls), tf.config.functions_run_eagerly())
tf.config.run_functions_eagerly(True)
print(step(v, x).numpy(), step(v, x).numpy(), len(calls), tf.config.functions_run_eagerly())
tf.config.run_functions_eagerly(False)
print(step(v, x).numpy(), len(calls), step.experimental_get_tracing_count())
print(step(v[:1], x[:1]).numpy(), len(calls), step.experimental_get_tracing_count())
