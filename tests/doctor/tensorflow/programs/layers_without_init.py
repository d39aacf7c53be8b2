"""Layers and models as short as they can be: no __init__, weights made in build."""

import inspect

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(12)


class Square(keras.layers.Layer):
    def call(self, x):
        return tf.square(x)


class Affine(keras.layers.Layer):
    """Learns a factor and an offset for each feature."""

    def build(self, shape):
        self.scale = self.add_weight(shape=(shape[-1],), initializer="ones")
        self.shift = self.add_weight(shape=(shape[-1],), initializer="zeros")

    def call(self, x):
        return x * self.scale + self.shift


class Noisy(keras.layers.Layer):
    def call(self, x, training=False):
        if training:
            return x + tf.random.normal(tf.shape(x), stddev=0.05)
        return x


class Residual(keras.layers.Layer):
    def build(self, shape):
        self.inner = keras.layers.Dense(shape[-1], activation="relu")
        self.inner.build(shape)

    def call(self, x):
        return x + self.inner(x)


class Regressor(keras.Model):
    def build(self, shape):
        self.parts = [Affine(), Noisy(), Residual(), Square(), keras.layers.Dense(1)]
        super().build(shape)

    def call(self, x, training=False):
        for part in self.parts:
            x = part(x, training=training) if isinstance(part, Noisy) else part(x)
        return x


print(Square(), Affine().name, Noisy(name="noise").name)
print("signature:", inspect.signature(keras.layers.Layer.__init__))
print("config:", Affine(name="a", dtype="float32").get_config()["name"])

x = np.random.normal(size=(128, 3)).astype("float32")
y = (x**2).sum(axis=1, keepdims=True)
model = Regressor()
model.compile(optimizer=keras.optimizers.Adam(0.02), loss="mse")
history = model.fit(x, y, epochs=5, batch_size=32, verbose=2)
print("weights:", sorted(tuple(w.shape) for w in model.trainable_weights))
print("first and last loss:", [round(history.history["loss"][k], 5) for k in (0, -1)])
sequential = keras.Sequential([keras.Input((3,)), Affine(), Square()])
sequential.summary()
