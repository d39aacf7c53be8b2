"""Meta-gradients: a learning rate and a regularizer are learned through several inner steps."""

import argparse

import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--inner", type=int, default=5)
parser.add_argument("--outer", type=int, default=12)
options = parser.parse_args()

rng = np.random.default_rng(40)
true = rng.normal(size=(6, 1))


def draw(count, noise):
    x = rng.normal(size=(count, 6))
    return tf.constant(x), tf.constant(x @ true + noise * rng.normal(size=(count, 1)))


train, validation = draw(20, 1.0), draw(40, 0.0)
log_rate = tf.Variable(np.log(0.01))
log_decay = tf.Variable(np.log(0.5))
w = tf.Variable(np.zeros((6, 1)))


def mse(weights, data):
    x, y = data
    return tf.reduce_mean((x @ weights - y) ** 2)


for outer_step in range(options.outer):
    with tf.GradientTape() as meta_tape:
        weights = tf.identity(w)
        for _ in range(options.inner):
            with tf.GradientTape() as tape:
                tape.watch(weights)
                inner_loss = mse(weights, train)
                inner_loss += tf.exp(log_decay) * tf.reduce_mean(weights**2)
            weights = weights - tf.exp(log_rate) * tape.gradient(inner_loss, weights)
        meta_loss = mse(weights, validation)
    d_rate, d_decay = meta_tape.gradient(meta_loss, [log_rate, log_decay])
    log_rate.assign_sub(0.3 * d_rate)
    log_decay.assign_sub(0.3 * d_decay)
    w.assign(0.5 * w + 0.5 * weights)
    if outer_step % 3 == 0:
        rate, decay = float(tf.exp(log_rate)), float(tf.exp(log_decay))
        print(f"{outer_step:3d}  rate {rate:.4f}  decay {decay:.4f}  loss {float(meta_loss):.5f}")

# Implicit differentiation of a fixed point: x = cos(a x).
a = tf.Variable(0.7, dtype=tf.float64)
x = tf.constant(0.5, tf.float64)
for _ in range(60):
    x = tf.cos(a * x)
x = tf.stop_gradient(x)
with tf.GradientTape(persistent=True) as tape:
    tape.watch(x)
    image = tf.cos(a * x)
dx, da = tape.gradient(image, x), tape.gradient(image, a)
print(f"fixed point {float(x):.6f}, derivative {float(da / (1 - dx)):.6f}")
