"""pinn.py with a bug: only the inner tape watches `x`, so there is no second derivative."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(0)

network = tf.keras.Sequential(
    [
        tf.keras.Input((1,)),
        tf.keras.layers.Dense(24, activation="tanh"),
        tf.keras.layers.Dense(24, activation="tanh"),
        tf.keras.layers.Dense(1),
    ]
)
optimizer = tf.keras.optimizers.Adam(0.01)


def derivatives(x):
    with tf.GradientTape() as outer:  # bug: not-watched
        with tf.GradientTape() as inner:
            inner.watch(x)
            u = network(x)
        derivative = inner.gradient(u, x)
    return u, derivative, outer.gradient(derivative, x)  # bug: not-watched


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        u, derivative, curvature = derivatives(x)
        equation = tf.reduce_mean(tf.square(curvature + u))
        start = tf.square(u[0, 0]) + tf.square(derivative[0, 0] - 1.0)
        loss = equation + start
    gradients = tape.gradient(loss, network.trainable_variables)
    optimizer.apply_gradients(zip(gradients, network.trainable_variables, strict=True))
    return loss


points = tf.reshape(tf.linspace(0.0, 3.0, 40), [40, 1])
for _ in range(500):
    train_step(points)

error = np.abs(network(points) - np.sin(points)).max()
print(f"largest distance from sin(x) on [0, 3]: {error:.2f}")
