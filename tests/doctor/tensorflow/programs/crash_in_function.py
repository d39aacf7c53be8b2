"""Faults inside of tf.function: caught, looked at, handled; the last one is not."""

import traceback

import tensorflow as tf

tf.random.set_seed(0)
w = tf.Variable(tf.ones([3, 2]))


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        out = tf.matmul(x, w)
        tf.debugging.assert_less(out, 100.0, message="the outputs are too large")
        loss = tf.reduce_mean((out - y) ** 2)
    w.assign_sub(0.1 * tape.gradient(loss, w))
    return loss


y = tf.zeros([4, 2])
for k in range(3):
    print(f"loss {k}: {float(step(tf.ones([4, 3]), y)):.6f}")

try:
    step(tf.ones([4, 5]), y)
except ValueError as error:
    print("ValueError:", str(error).strip().splitlines()[0][:60])
    last = traceback.extract_tb(error.__traceback__)[0]
    print("raised from line", last.lineno, "of", last.name)

try:
    step(1000.0 * tf.ones([4, 3]), y)
except tf.errors.InvalidArgumentError as error:
    print(type(error).__name__, "the outputs are too large" in error.message)

with tf.GradientTape() as tape:
    loss = tf.reduce_sum(w**2)
gradient = tape.gradient(loss, w)
print("norm", f"{float(tf.norm(gradient)):.6f}")
try:
    w.assign(tf.ones([2, 2]))
except ValueError as error:
    print("ValueError:", str(error).partition("due to")[0])

print(f"still fine: {float(step(tf.ones([4, 3]), y)):.6f}")


def inner(values):
    return tf.reshape(values, [7, 7])


def outer(values):
    return inner(values) + 1.0


outer(w)
