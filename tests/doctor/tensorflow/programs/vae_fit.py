"""A variational autoencoder: a sampling layer, add_loss-like terms in train_step, metrics."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(42)
LATENT = 2


class Sampling(layers.Layer):
    """Draws z around the mean, with the variance that was predicted."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.seed_generator = keras.random.SeedGenerator(1337)

    def call(self, inputs):
        z_mean, z_log_var = inputs
        epsilon = keras.random.normal(shape=tf.shape(z_mean), seed=self.seed_generator)
        return z_mean + tf.exp(0.5 * z_log_var) * epsilon


encoder_inputs = keras.Input((8, 8, 1))
x = layers.Conv2D(8, 3, activation="relu", strides=2, padding="same")(encoder_inputs)
x = layers.Flatten()(x)
x = layers.Dense(16, activation="relu")(x)
z_mean = layers.Dense(LATENT, name="z_mean")(x)
z_log_var = layers.Dense(LATENT, name="z_log_var")(x)
z = Sampling()([z_mean, z_log_var])
encoder = keras.Model(encoder_inputs, [z_mean, z_log_var, z], name="encoder")

latent_inputs = keras.Input((LATENT,))
x = layers.Dense(4 * 4 * 8, activation="relu")(latent_inputs)
x = layers.Reshape((4, 4, 8))(x)
x = layers.Conv2DTranspose(8, 3, activation="relu", strides=2, padding="same")(x)
decoder_outputs = layers.Conv2DTranspose(1, 3, activation="sigmoid", padding="same")(x)
decoder = keras.Model(latent_inputs, decoder_outputs, name="decoder")


class VAE(keras.Model):
    def __init__(self, encoder, decoder, **kwargs):
        super().__init__(**kwargs)
        self.encoder, self.decoder = encoder, decoder
        self.total = keras.metrics.Mean(name="loss")
        self.reconstruction = keras.metrics.Mean(name="reconstruction")
        self.divergence = keras.metrics.Mean(name="kl")

    @property
    def metrics(self):
        return [self.total, self.reconstruction, self.divergence]

    def train_step(self, data):
        with tf.GradientTape() as tape:
            z_mean, z_log_var, z = self.encoder(data)
            decoded = self.decoder(z)
            reconstruction = tf.reduce_mean(
                tf.reduce_sum(keras.losses.binary_crossentropy(data, decoded), axis=(1, 2))
            )
            kl = -0.5 * (1 + z_log_var - tf.square(z_mean) - tf.exp(z_log_var))
            kl = tf.reduce_mean(tf.reduce_sum(kl, axis=1))
            loss = reconstruction + kl
        grads = tape.gradient(loss, self.trainable_weights)
        self.optimizer.apply_gradients(zip(grads, self.trainable_weights))
        self.total.update_state(loss)
        self.reconstruction.update_state(reconstruction)
        self.divergence.update_state(kl)
        return {m.name: m.result() for m in self.metrics}


yy, xx = np.mgrid[0:8, 0:8] / 7.0
angle = np.random.uniform(0, 2 * np.pi, size=(256, 1, 1))
stripes = 0.5 + 0.5 * np.sin(6 * (xx * np.cos(angle) + yy * np.sin(angle)))
data = stripes[..., None].astype("float32")

vae = VAE(encoder, decoder)
vae.compile(optimizer=keras.optimizers.Adam(3e-3))
vae.fit(data, epochs=5, batch_size=64, verbose=2)
print("latent of the first two:", encoder.predict(data[:2], verbose=0)[0].round(4).tolist())
np.save("decoded.npy", decoder.predict(np.zeros((1, LATENT)), verbose=0))
