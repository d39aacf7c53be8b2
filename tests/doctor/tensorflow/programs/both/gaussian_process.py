"""Gaussian process regression: the marginal likelihood by Cholesky, hyperparameters by a tape."""

import math

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(8)
x = np.sort(rng.uniform(-3, 3, size=30))
y = np.sin(1.5 * x) + 0.1 * rng.normal(size=30)
x, y = tf.constant(x), tf.constant(y)
jitter = 1e-6 * tf.eye(30, dtype=tf.float64)


class GP(tf.Module):
    def __init__(self):
        super().__init__()
        self.log_length = tf.Variable(0.0, dtype=tf.float64)
        self.log_scale = tf.Variable(0.0, dtype=tf.float64)
        self.log_noise = tf.Variable(-1.0, dtype=tf.float64)

    def kernel(self, a, b):
        distance = (a[:, None] - b[None, :]) ** 2
        return tf.exp(2 * self.log_scale - 0.5 * distance / tf.exp(2 * self.log_length))

    def cholesky(self):
        noise = tf.exp(2 * self.log_noise) * tf.eye(30, dtype=tf.float64)
        return tf.linalg.cholesky(self.kernel(x, x) + noise + jitter)

    def negative_log_likelihood(self):
        factor = self.cholesky()
        alpha = tf.linalg.cholesky_solve(factor, y[:, None])
        fit = 0.5 * tf.reduce_sum(y[:, None] * alpha)
        complexity = tf.reduce_sum(tf.math.log(tf.linalg.diag_part(factor)))
        return fit + complexity + 15 * math.log(2 * math.pi)

    def predict(self, points):
        factor = self.cholesky()
        cross = self.kernel(x, points)
        mean = tf.linalg.matvec(cross, tf.linalg.cholesky_solve(factor, y[:, None])[:, 0], True)
        half = tf.linalg.triangular_solve(factor, cross)
        variance = tf.exp(2 * self.log_scale) - tf.reduce_sum(half**2, axis=0)
        return mean, tf.sqrt(variance)


gp = GP()
hyper = [gp.log_length, gp.log_scale, gp.log_noise]
for step in range(61):
    with tf.GradientTape() as tape:
        loss = gp.negative_log_likelihood()
    for v, g in zip(hyper, tape.gradient(loss, hyper)):
        v.assign_sub(0.01 * g)
    if step % 15 == 0:
        values = ", ".join(f"{math.exp(float(v)):.4f}" for v in hyper)
        print(f"step {step:2d}: {float(loss):9.5f}  length, scale, noise: {values}")

points = tf.constant([-2.0, 0.0, 2.0], tf.float64)
mean, std = gp.predict(points)
for p, m, s in zip(points.numpy(), mean.numpy(), std.numpy()):
    print(f"f({p:+.1f}) = {m:+.4f} +- {s:.4f}")

# The slope of the mean, by the chain through the kernel.
with tf.GradientTape() as tape:
    tape.watch(points)
    mean, _ = gp.predict(points)
print("slopes", np.round(tape.gradient(mean, points).numpy(), 3))
