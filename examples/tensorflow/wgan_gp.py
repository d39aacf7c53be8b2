"""The gradient penalty of a WGAN; with --bug, the tape is not told to watch the points between."""

import sys

import tensorflow as tf

BUG = "--bug" in sys.argv
tf.keras.utils.set_random_seed(1)
layers = tf.keras.layers
critic = tf.keras.Sequential([tf.keras.Input((2,)), layers.Dense(16, "tanh"), layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam(1e-3)


def penalty(real, fake):
    share = tf.random.uniform([tf.shape(real)[0], 1])
    between = share * real + (1.0 - share) * fake
    with tf.GradientTape() as inner:  # GT101
        if not BUG:
            inner.watch(between)
        scores = critic(between)
    slopes = inner.gradient(scores, between)
    if slopes is None:
        return 0.0
    return tf.reduce_mean(tf.square(tf.norm(slopes, axis=1) - 1.0))


for _ in range(5):
    real, fake = tf.random.normal([32, 2], mean=2.0), tf.random.normal([32, 2])
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(critic(fake)) - tf.reduce_mean(critic(real))
        loss += 10.0 * penalty(real, fake)
    gradients = tape.gradient(loss, critic.trainable_variables[:-1])  # a shift changes nothing
    optimizer.apply_gradients(zip(gradients, critic.trainable_variables[:-1], strict=True))

print(f"loss {float(loss):.3f}")
