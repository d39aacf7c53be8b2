"""A vision Transformer: images in patches, a token for the class, learned positions."""

import argparse

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers, ops

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--size", type=int, default=16)
parser.add_argument("--patch", type=int, default=4)
parser.add_argument("--width", type=int, default=24)
parser.add_argument("--blocks", type=int, default=2)
parser.add_argument("--batch", type=int, default=16)
parser.add_argument("--batches", type=int, default=6)
parser.add_argument("--epochs", type=int, default=3)
options = parser.parse_args()

keras.utils.set_random_seed(9)
rng = np.random.default_rng(9)
count = options.batch * options.batches


class Patches(layers.Layer):
    def __init__(self, size):
        super().__init__()
        self.size = size

    def call(self, images):
        patches = ops.image.extract_patches(images, size=self.size)
        return ops.reshape(patches, (-1, patches.shape[1] * patches.shape[2], patches.shape[3]))


class ClassTokenAndPositions(layers.Layer):
    def build(self, shape):
        self.token = self.add_weight(shape=(1, 1, shape[-1]), initializer="zeros")
        self.positions = self.add_weight(
            shape=(1, shape[1] + 1, shape[-1]),
            initializer=keras.initializers.RandomNormal(stddev=0.02),
        )

    def call(self, x):
        token = ops.broadcast_to(self.token, (ops.shape(x)[0], 1, x.shape[-1]))
        return ops.concatenate([token, x], axis=1) + self.positions


def block(x):
    width = x.shape[-1]
    y = layers.LayerNormalization(epsilon=1e-6)(x)
    x = x + layers.MultiHeadAttention(num_heads=4, key_dim=width // 4, dropout=0.1)(y, y)
    y = layers.LayerNormalization(epsilon=1e-6)(x)
    y = layers.Dense(2 * width, activation="gelu")(y)
    return x + layers.Dropout(0.1)(layers.Dense(width)(y))


# Noise with a bright bar: the class is where it lies.
labels = rng.integers(0, 4, count)
images = rng.standard_normal((count, options.size, options.size, 3)).astype("float32") / 4
quarter = options.size // 4
for image, label in zip(images, labels, strict=True):
    image[label * quarter : (label + 1) * quarter] += 1

inputs = keras.Input((options.size, options.size, 3))
x = layers.RandomFlip("horizontal", seed=9)(inputs)
x = layers.Dense(options.width)(Patches(options.patch)(x))
x = ClassTokenAndPositions()(x)
for _ in range(options.blocks):
    x = block(x)
x = layers.LayerNormalization(epsilon=1e-6)(x)[:, 0]
model = keras.Model(inputs, layers.Dense(4)(x))
model.compile(
    optimizer=keras.optimizers.AdamW(0.003, weight_decay=1e-4),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
)
dataset = tf.data.Dataset.from_tensor_slices((images, labels)).batch(options.batch)
history = model.fit(dataset, epochs=options.epochs, shuffle=False, verbose=0).history
for epoch, loss in enumerate(history["loss"], 1):
    print(f"epoch {epoch}   loss {loss:.6f}")
