"""Functions of a custom gradient run as often as without the doctor."""

import tensorflow as tf

calls = []


@tf.custom_gradient
def scaled(x):
    calls.append("forward")

    def grad(g):
        calls.append("backward")
        return g * 3.0

    return x * 3.0, grad


v = tf.Variable(2.0)
for _ in range(5):
    with tf.GradientTape() as tape:
        y = scaled(v) * 1.0
    tape.gradient(y, v)
print(len(calls), calls[:4])


@tf.function
def step(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = scaled(x)
    return tape.gradient(y, x)


print([step(tf.constant(k)).numpy() for k in (1.0, 2.0)], len(calls))
