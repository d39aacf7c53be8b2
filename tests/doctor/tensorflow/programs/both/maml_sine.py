"""MAML: a start for sine waves from which one step of gradient descent goes far."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(3)
INNER_RATE, OUTER_RATE, TASKS = 0.05, 0.02, 4


def init(shape):
    return tf.Variable((rng.normal(size=shape) / np.sqrt(shape[0])).astype("float32"))


theta = [init((1, 20)), tf.Variable(tf.zeros([20])), init((20, 20)), tf.Variable(tf.zeros([20])),
         init((20, 1)), tf.Variable(tf.zeros([1]))]  # fmt: skip


def network(weights, x):
    w1, b1, w2, b2, w3, b3 = weights
    h = tf.nn.tanh(x @ w1 + b1)
    h = tf.nn.tanh(h @ w2 + b2)
    return h @ w3 + b3


def task():
    amplitude, phase = rng.uniform(0.5, 2.0), rng.uniform(0, np.pi)

    def draw(count):
        x = rng.uniform(-3, 3, size=(count, 1))
        return tf.constant(x, tf.float32), tf.constant(amplitude * np.sin(x + phase), tf.float32)

    return draw


def mse(weights, x, y):
    return tf.reduce_mean((network(weights, x) - y) ** 2)


def adapt(weights, x, y):
    """One step on the task's few points; the outer tape sees through it."""
    with tf.GradientTape() as tape:
        tape.watch(weights)
        loss = mse(weights, x, y)
    gradients = tape.gradient(loss, weights)
    return [w - INNER_RATE * g for w, g in zip(weights, gradients)]


momenta = [tf.Variable(tf.zeros_like(v), trainable=False) for v in theta]
for iteration in range(31):
    with tf.GradientTape() as outer:
        losses = []
        for _ in range(TASKS):
            draw = task()
            fast = adapt([tf.convert_to_tensor(v) for v in theta], *draw(10))
            losses.append(mse(fast, *draw(10)))
        meta_loss = tf.add_n(losses) / TASKS
    for v, m, g in zip(theta, momenta, outer.gradient(meta_loss, theta)):
        m.assign(0.8 * m + g)
        v.assign_sub(OUTER_RATE * m)
    if iteration % 10 == 0:
        print(f"iteration {iteration:2d}: loss after adapting {float(meta_loss):.3f}")

draw = task()
x, y = draw(10)
before = mse(theta, *draw(50))
after = mse(adapt([tf.convert_to_tensor(v) for v in theta], x, y), *draw(50))
print("adapting helps:", bool(after < before))
