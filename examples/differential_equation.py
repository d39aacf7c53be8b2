"""A network learns to solve u'' = -sin(x): derivatives of the model are part of the loss."""

import math

import tensorflow as tf

tf.random.set_seed(0)
x = tf.reshape(tf.linspace(0.0, math.pi, 40), [40, 1])
ends = tf.constant([[0.0], [math.pi]])

weights = [
    tf.Variable(tf.random.normal([1, 20])),
    tf.Variable(tf.zeros([20])),
    tf.Variable(0.3 * tf.random.normal([20, 1])),
]
means = [tf.Variable(tf.zeros_like(w)) for w in weights]  # Adam's memory
squares = [tf.Variable(tf.zeros_like(w)) for w in weights]


def model(x):
    w1, b1, w2 = weights
    return tf.tanh(x @ w1 + b1) @ w2


def second_derivative(x):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            u = model(x)
        derivative = inner.gradient(u, x)
    return outer.gradient(derivative, x)


for step in range(1, 501):
    with tf.GradientTape() as tape:
        residual = second_derivative(x) + tf.sin(x)
        loss = tf.reduce_mean(residual**2) + tf.reduce_mean(model(ends) ** 2)
    gradients = tape.gradient(loss, weights)
    for w, g, m, s in zip(weights, gradients, means, squares, strict=True):
        m.assign_add(0.1 * (g - m))
        s.assign_add(0.001 * (g**2 - s))
        w.assign_sub(0.01 * m / (1 - 0.9**step) / (tf.sqrt(s / (1 - 0.999**step)) + 1e-7))
    if step % 100 == 0:
        print(f"step {step:3}   loss {loss.numpy():.6f}")

worst = tf.reduce_max(tf.abs(model(x) - tf.sin(x)))
print(f"largest distance from sin(x): {worst:.3f}")
