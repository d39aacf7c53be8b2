"""A variational autoencoder as a Keras model with a `train_step` of its own, trained by `fit`."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(0)


class VAE(keras.Model):
    def __init__(self, size, latent):
        super().__init__()
        self.encoder = keras.Sequential(
            [keras.Input((size,)), layers.Dense(32, activation="tanh"), layers.Dense(2 * latent)]
        )
        self.decoder = keras.Sequential(
            [keras.Input((latent,)), layers.Dense(32, activation="tanh"), layers.Dense(size)]
        )

    def train_step(self, x):
        with tf.GradientTape() as tape:
            mean, log_variance = tf.split(self.encoder(x), 2, axis=1)
            noise = tf.random.normal(tf.shape(mean))
            code = mean + tf.exp(0.5 * log_variance) * noise
            error = tf.reduce_sum((self.decoder(code) - x) ** 2, axis=1)
            divergence = 0.5 * tf.reduce_sum(
                mean**2 + tf.exp(log_variance) - log_variance - 1.0, axis=1
            )
            loss = tf.reduce_mean(error + 0.05 * divergence)
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables, strict=True))
        return {"error": tf.reduce_mean(error), "divergence": tf.reduce_mean(divergence)}


# Waves of any phase: twelve numbers each, but only two of them are free.
phase = np.random.uniform(0.0, 2 * np.pi, (512, 1))
waves = np.sin(phase + np.linspace(0.0, 2 * np.pi, 12)).astype("float32")

vae = VAE(12, 2)
vae.compile(optimizer=keras.optimizers.Adam(0.01))
history = vae.fit(waves, batch_size=64, epochs=20, verbose=0).history
first, last = history["error"][0], history["error"][-1]
print(f"error of reconstruction {first:.2f} at first, {last:.2f} at last")
