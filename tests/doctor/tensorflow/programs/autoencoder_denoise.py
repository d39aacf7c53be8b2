"""A convolutional autoencoder by subclassing: reconstruct, denoise, look for anomalies."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, losses
from tensorflow.keras.models import Model

tf.keras.utils.set_random_seed(73)

yy, xx = np.mgrid[0:12, 0:12] / 11.0
shift = np.random.uniform(0, 6, size=(192, 1, 1))
x_train = (0.5 + 0.5 * np.sin(7 * xx + shift)).astype("float32")[..., tf.newaxis]
x_test = (0.5 + 0.5 * np.sin(7 * xx + shift[:32] + 0.1)).astype("float32")[..., tf.newaxis]

noise_factor = 0.2
noisy_train = x_train + noise_factor * tf.random.normal(shape=x_train.shape)
noisy_test = x_test + noise_factor * tf.random.normal(shape=x_test.shape)
noisy_train = tf.clip_by_value(noisy_train, clip_value_min=0.0, clip_value_max=1.0)
noisy_test = tf.clip_by_value(noisy_test, clip_value_min=0.0, clip_value_max=1.0)


class Denoise(Model):
    def __init__(self):
        super().__init__()
        self.encoder = tf.keras.Sequential(
            [
                layers.Input(shape=(12, 12, 1)),
                layers.Conv2D(8, (3, 3), activation="relu", padding="same", strides=2),
                layers.Conv2D(4, (3, 3), activation="relu", padding="same", strides=2),
            ]
        )
        self.decoder = tf.keras.Sequential(
            [
                layers.Conv2DTranspose(4, 3, strides=2, activation="relu", padding="same"),
                layers.Conv2DTranspose(8, 3, strides=2, activation="relu", padding="same"),
                layers.Conv2D(1, kernel_size=(3, 3), activation="sigmoid", padding="same"),
            ]
        )

    def call(self, x):
        encoded = self.encoder(x)
        return self.decoder(encoded)


autoencoder = Denoise()
autoencoder.compile(optimizer="adam", loss=losses.MeanSquaredError())
history = autoencoder.fit(
    noisy_train,
    x_train,
    epochs=5,
    batch_size=16,
    shuffle=True,
    validation_data=(noisy_test, x_test),
    verbose=2,
)
encoded = autoencoder.encoder(noisy_test).numpy()
decoded = autoencoder.decoder(encoded).numpy()
print("code", encoded.shape, "reconstruction", decoded.shape)

train_loss = tf.reduce_mean(tf.abs(autoencoder(noisy_train) - x_train), axis=(1, 2, 3))
threshold = np.mean(train_loss) + np.std(train_loss)
print(f"Threshold: {threshold:.6f}")
strange = tf.random.stateless_uniform([32, 12, 12, 1], seed=[9, 9])
for name, data in (("usual", x_test), ("strange", strange)):
    error = tf.reduce_mean(tf.abs(autoencoder(data) - data), axis=(1, 2, 3))
    print(name, "anomalies:", int(tf.math.count_nonzero(error > threshold)), "of", len(data))
