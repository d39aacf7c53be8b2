"""A neural differential equation by hand: Runge-Kutta steps that a tape looks through."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(4)

TRUE = tf.constant([[-0.1, 2.0], [-2.0, -0.1]], tf.float64)
STEPS, DT = 20, 0.1


def true_field(z):
    return z @ TRUE


def rk4(field, z, dt):
    k1 = field(z)
    k2 = field(z + 0.5 * dt * k1)
    k3 = field(z + 0.5 * dt * k2)
    k4 = field(z + dt * k3)
    return z + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)


def integrate(field, z, steps=STEPS):
    path = [z]
    for _ in range(steps):
        z = rk4(field, z, DT)
        path.append(z)
    return tf.stack(path)


w1 = tf.Variable(rng.normal(size=(2, 16)) * 0.5)
b1 = tf.Variable(np.zeros(16))
w2 = tf.Variable(rng.normal(size=(16, 2)) * 0.1)
params = [w1, b1, w2]


def field(z):
    return tf.tanh(z @ w1 + b1) @ w2


starts = tf.constant(rng.uniform(-1.5, 1.5, size=(8, 2)))
truth = integrate(true_field, starts)
momenta = [tf.Variable(tf.zeros_like(p), trainable=False) for p in params]

for iteration in range(31):
    length = min(4 + iteration // 2, STEPS)  # first short pieces, then longer ones
    with tf.GradientTape() as tape:
        predicted = integrate(field, starts, length)
        loss = tf.reduce_mean(tf.square(predicted - truth[: length + 1]))
    gradients = tape.gradient(loss, params)
    gradients, norm = tf.clip_by_global_norm(gradients, 1.0)
    for p, m, g in zip(params, momenta, gradients):
        m.assign(0.8 * m + g)
        p.assign_sub(0.1 * m)
    if iteration % 5 == 0:
        print(f"iteration {iteration:2d}: length {length:2d}, loss {float(loss):.6f}")

# How the end depends on the beginning: the flow's Jacobian, and the rate at which volume shrinks.
z0 = tf.constant([[1.0, 0.5]], tf.float64)
with tf.GradientTape() as tape:
    tape.watch(z0)
    end = integrate(true_field, z0, 10)[-1]
jacobian = tf.reshape(tape.jacobian(end, z0), [2, 2])
print("determinant", f"{float(tf.linalg.det(jacobian)):.6f}", "theory", f"{np.exp(-0.2):.6f}")
np.save("path.npy", np.round(integrate(field, starts[:1]).numpy(), 6))
