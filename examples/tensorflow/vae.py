"""A variational autoencoder; with --bug, NumPy divides what the encoder says."""

import sys

import numpy as np
import tensorflow as tf

BUG = "--bug" in sys.argv
tf.keras.utils.set_random_seed(1)
data = tf.random.normal([64, 6]) @ tf.random.normal([6, 6])
layers = tf.keras.layers
encoder = tf.keras.Sequential([tf.keras.Input((6,)), layers.Dense(16, "tanh"), layers.Dense(4)])
decoder = tf.keras.Sequential([tf.keras.Input((2,)), layers.Dense(16, "tanh"), layers.Dense(6)])
optimizer = tf.keras.optimizers.Adam(0.01)
variables = encoder.trainable_variables + decoder.trainable_variables

for _ in range(5):
    with tf.GradientTape() as tape:
        if BUG:
            mean, log_variance = np.split(encoder(data), 2, axis=1)  # GT103
        else:
            mean, log_variance = tf.split(encoder(data), 2, axis=1)
        code = mean + tf.exp(0.5 * log_variance) * tf.random.normal(tf.shape(mean))
        error = tf.reduce_sum(tf.square(decoder(code) - data), axis=1)
        surprise = -0.5 * tf.reduce_sum(
            1.0 + log_variance - tf.square(mean) - tf.exp(log_variance), axis=1
        )
        loss = tf.reduce_mean(error + surprise)
    gradients = tape.gradient(loss, variables)
    if None not in gradients:
        optimizer.apply_gradients(zip(gradients, variables, strict=True))

print(f"loss {float(loss):.2f}")
