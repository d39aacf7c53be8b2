"""A physics-informed network for the heat equation: derivatives by nested tapes in a function."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(1234)
DTYPE = "float32"
nu = tf.constant(0.1, dtype=DTYPE)


class PINN(tf.keras.Model):
    def __init__(self, lower, upper, layers=3, neurons=16, **kwargs):
        super().__init__(**kwargs)
        self.scale = tf.keras.layers.Lambda(lambda x: 2.0 * (x - lower) / (upper - lower) - 1.0)
        self.hidden = [tf.keras.layers.Dense(neurons, activation="tanh") for _ in range(layers)]
        self.out = tf.keras.layers.Dense(1)

    def call(self, x):
        z = self.scale(x)
        for layer in self.hidden:
            z = layer(z)
        return self.out(z)


def residual(model, points):
    t, x = points[:, 0:1], points[:, 1:2]
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(t)
        tape.watch(x)
        u = model(tf.stack([t[:, 0], x[:, 0]], axis=1))
        u_x = tape.gradient(u, x)
    u_t = tape.gradient(u, t)
    u_xx = tape.gradient(u_x, x)
    del tape
    return u_t - nu * u_xx


def compute_loss(model, points, data, values):
    loss = tf.reduce_mean(tf.square(residual(model, points)))
    for where, what in zip(data, values):
        loss += tf.reduce_mean(tf.square(what - model(where)))
    return loss


def get_grad(model, points, data, values):
    with tf.GradientTape(persistent=True) as tape:
        loss = compute_loss(model, points, data, values)
    g = tape.gradient(loss, model.trainable_variables)
    del tape
    return loss, g


lower, upper = tf.constant([0.0, 0.0]), tf.constant([1.0, 1.0])
start = tf.concat([tf.zeros([40, 1]), tf.random.uniform([40, 1], seed=1)], axis=1)
edge = tf.concat(
    [tf.random.uniform([40, 1], seed=2), tf.cast(tf.range(40)[:, None] % 2, DTYPE)], axis=1
)
inside = tf.random.uniform([200, 2], lower, upper, seed=3)
data = [start, edge]
values = [tf.sin(np.pi * start[:, 1:2]), tf.zeros([40, 1])]

model = PINN(lower, upper)
rate = tf.keras.optimizers.schedules.PiecewiseConstantDecay([30, 60], [1e-2, 5e-3, 1e-3])
optimizer = tf.keras.optimizers.Adam(learning_rate=rate)


@tf.function
def train_step():
    loss, gradients = get_grad(model, inside, data, values)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


history = []
for i in range(81):
    loss = train_step()
    history.append(loss.numpy())
    if i % 20 == 0:
        print(f"It {i:05d}: loss = {loss:10.6e}")
exact = np.exp(-0.1 * np.pi**2 * 0.5) * np.sin(np.pi * 0.5)
print(f"u(0.5, 0.5) = {float(model(tf.constant([[0.5, 0.5]]))[0, 0]):.4f}, exact {exact:.4f}")
np.savetxt("losses.txt", history)
