"""A variational autoencoder: a sampling layer, a `train_step` of its own, trained by `fit`."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(5)
rng = np.random.default_rng(5)
LATENT = 2


class Sampling(layers.Layer):
    """Draws a code from the normal distribution that the encoder describes."""

    def __init__(self, **options):
        super().__init__(**options)
        self.seed_generator = keras.random.SeedGenerator(5)

    def call(self, inputs):
        mean, log_var = inputs
        noise = keras.random.normal(tf.shape(mean), seed=self.seed_generator)
        return mean + tf.exp(0.5 * log_var) * noise


pixels = keras.Input((8, 8, 1))
x = layers.Conv2D(8, 3, strides=2, padding="same", activation="relu")(pixels)
x = layers.Dense(16, activation="relu")(layers.Flatten()(x))
mean, log_var = layers.Dense(LATENT, name="mean")(x), layers.Dense(LATENT, name="log_var")(x)
encoder = keras.Model(pixels, [mean, log_var, Sampling()([mean, log_var])], name="encoder")

code = keras.Input((LATENT,))
x = layers.Reshape((4, 4, 8))(layers.Dense(4 * 4 * 8, activation="relu")(code))
x = layers.Conv2DTranspose(8, 3, strides=2, padding="same", activation="relu")(x)
decoder = keras.Model(code, layers.Conv2D(1, 3, padding="same")(x), name="decoder")


class VAE(keras.Model):
    def __init__(self, encoder, decoder, **options):
        super().__init__(**options)
        self.encoder, self.decoder = encoder, decoder
        self.trackers = [keras.metrics.Mean(n) for n in ("loss", "reconstruction", "kl")]

    @property
    def metrics(self):
        return self.trackers

    def train_step(self, data):
        with tf.GradientTape() as tape:
            mean, log_var, code = self.encoder(data)
            error = tf.nn.sigmoid_cross_entropy_with_logits(data, self.decoder(code))
            reconstruction = tf.reduce_mean(tf.reduce_sum(error, axis=[1, 2, 3]))
            kl = -0.5 * (1 + log_var - tf.square(mean) - tf.exp(log_var))
            kl = tf.reduce_mean(tf.reduce_sum(kl, axis=1))
            loss = reconstruction + kl
        gradients = tape.gradient(loss, self.trainable_weights)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_weights, strict=True))
        for tracker, value in zip(self.trackers, (loss, reconstruction, kl), strict=True):
            tracker.update_state(value)
        return {tracker.name: tracker.result() for tracker in self.trackers}


# Bars across the picture: an angle and an offset are all that there is to know of each.
grid = np.stack(np.meshgrid(np.linspace(-1, 1, 8), np.linspace(-1, 1, 8)), axis=-1)
angle, offset = rng.uniform(0, np.pi, (512, 1, 1)), rng.uniform(-0.5, 0.5, (512, 1, 1))
distance = np.cos(angle) * grid[..., 0] + np.sin(angle) * grid[..., 1] - offset
bars = np.exp(-((distance / 0.3) ** 2))[..., None].astype("float32")

vae = VAE(encoder, decoder)
vae.compile(optimizer=keras.optimizers.Adam(0.003))
history = vae.fit(bars, epochs=5, batch_size=64, verbose=0).history
for epoch in range(5):
    told = "   ".join(f"{name} {values[epoch]:.6f}" for name, values in history.items())
    print(f"epoch {epoch + 1}   {told}")

pictures = tf.sigmoid(decoder.predict(np.array([[-1.0, 0.0], [1.0, 0.0]], "float32"), verbose=0))
print(f"brightness of two decoded codes {pictures[0].numpy().mean():.6f}", end="")
print(f" and {pictures[1].numpy().mean():.6f}")
