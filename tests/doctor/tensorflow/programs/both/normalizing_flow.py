"""A normalizing flow of affine couplings (RealNVP), trained by maximum likelihood."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(15)
HALF = np.log(2 * np.pi)


class Coupling(tf.Module):
    """Scales and shifts one half by functions of the other one."""

    def __init__(self, flip, hidden=16):
        super().__init__()
        self.flip = flip
        self.w1 = tf.Variable(rng.normal(size=(1, hidden)).astype("float32"))
        self.b1 = tf.Variable(np.zeros(hidden, "float32"))
        self.w2 = tf.Variable(0.1 * rng.normal(size=(hidden, 2)).astype("float32"))
        self.b2 = tf.Variable(np.zeros(2, "float32"))

    def parameters(self, x):
        h = tf.nn.tanh(x @ self.w1 + self.b1) @ self.w2 + self.b2
        return tf.tanh(h[:, :1]), h[:, 1:]

    def forward(self, x):
        a, b = tf.split(x[:, ::-1] if self.flip else x, 2, axis=1)
        log_scale, shift = self.parameters(a)
        b = b * tf.exp(log_scale) + shift
        y = tf.concat([b, a] if self.flip else [a, b], axis=1)
        return y, tf.reduce_sum(log_scale, axis=1)

    def inverse(self, y):
        a, b = tf.split(y[:, ::-1] if self.flip else y, 2, axis=1)
        log_scale, shift = self.parameters(a)
        b = (b - shift) * tf.exp(-log_scale)
        return tf.concat([b, a] if self.flip else [a, b], axis=1)


flow = [Coupling(flip=bool(k % 2)) for k in range(4)]
variables = [v for part in flow for v in part.trainable_variables]


def log_prob(x):
    total = tf.zeros([tf.shape(x)[0]])
    for part in flow:
        x, log_det = part.forward(x)
        total += log_det
    return total - 0.5 * tf.reduce_sum(x**2, axis=1) - HALF


def sample(z):
    for part in reversed(flow):
        z = part.inverse(z)
    return z


# Two moons.
t = np.pi * rng.random(256)
moon = np.where(np.arange(256)[:, None] % 2, np.stack([np.cos(t), np.sin(t)], 1),
                np.stack([1 - np.cos(t), 0.5 - np.sin(t)], 1))  # fmt: skip
data = tf.constant(moon + 0.05 * rng.normal(size=(256, 2)), tf.float32)
data = (data - tf.reduce_mean(data, 0)) / tf.math.reduce_std(data, 0)

velocity = [tf.Variable(tf.zeros_like(v), trainable=False) for v in variables]
for step in range(81):
    with tf.GradientTape() as tape:
        loss = -tf.reduce_mean(log_prob(data))
    for v, m, g in zip(variables, velocity, tape.gradient(loss, variables)):
        m.assign(0.9 * m + g)
        v.assign_sub(0.02 * m)
    if step % 20 == 0:
        print(f"step {step:3d}: negative log-likelihood {float(loss):.3f}")

z = tf.constant(rng.normal(size=(64, 2)), tf.float32)
x = sample(z)
back = x
for part in flow:
    back, _ = part.forward(back)
print("inverse is exact:", bool(tf.reduce_max(tf.abs(back - z)) < 1e-3))
