"""A compact convolutional Transformer: convolutions make the tokens, attention pools them."""

import argparse

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers, ops

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--size", type=int, default=16)
parser.add_argument("--width", type=int, default=24)
parser.add_argument("--blocks", type=int, default=2)
parser.add_argument("--batch", type=int, default=16)
parser.add_argument("--batches", type=int, default=6)
parser.add_argument("--epochs", type=int, default=3)
options = parser.parse_args()

keras.utils.set_random_seed(10)
rng = np.random.default_rng(10)
count = options.batch * options.batches


class Positions(layers.Layer):
    def build(self, shape):
        self.positions = self.add_weight(shape=shape[1:], initializer="glorot_uniform")

    def call(self, x):
        return x + self.positions


class StochasticDepth(layers.Layer):
    """Skip a branch for a share of the examples."""

    def __init__(self, rate):
        super().__init__()
        self.rate, self.seeds = rate, keras.random.SeedGenerator(10)

    def call(self, x, training=False):
        if not training:
            return x
        kept = keras.random.uniform((ops.shape(x)[0], 1, 1), seed=self.seeds) >= self.rate
        return x / (1 - self.rate) * ops.cast(kept, x.dtype)


def tokens(images):
    """Return the tokens of images: two convolutions, each with pooling."""
    x = images
    for filters in (options.width // 2, options.width):
        x = layers.Conv2D(filters, 3, padding="same", use_bias=False, activation="relu")(x)
        x = layers.MaxPooling2D(3, 2, padding="same")(x)
    return layers.Reshape((-1, options.width))(x)


def block(x, rate):
    width = x.shape[-1]
    y = layers.LayerNormalization(epsilon=1e-5)(x)
    y = layers.MultiHeadAttention(num_heads=2, key_dim=width, dropout=0.1)(y, y)
    x = layers.Add()([x, StochasticDepth(rate)(y)])
    y = layers.LayerNormalization(epsilon=1e-5)(x)
    for _ in range(2):
        y = layers.Dropout(0.1)(layers.Dense(width, activation="gelu")(y))
    return layers.Add()([x, StochasticDepth(rate)(y)])


# Stripes under noise: the class is how fast they follow each other.
labels = rng.integers(0, 4, count)
phases = np.arange(options.size) / options.size * 2 * np.pi
stripes = np.sin((labels[:, None] + 1) * phases + rng.uniform(0, 6, (count, 1)))
images = stripes[:, :, None, None] + rng.standard_normal((count, options.size, options.size, 3))

inputs = keras.Input((options.size, options.size, 3))
x = Positions()(tokens(inputs))
for k in range(options.blocks):
    x = block(x, 0.1 * k)
x = layers.LayerNormalization(epsilon=1e-5)(x)
weights = layers.Softmax(axis=1)(layers.Dense(1)(x))
pooled = layers.Reshape((options.width,))(ops.matmul(ops.transpose(weights, (0, 2, 1)), x))
model = keras.Model(inputs, layers.Dense(4)(pooled))
model.compile(
    optimizer=keras.optimizers.AdamW(0.003, weight_decay=1e-4),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
)
dataset = tf.data.Dataset.from_tensor_slices((images.astype("float32"), labels))
dataset = dataset.batch(options.batch)
history = model.fit(dataset, epochs=options.epochs, shuffle=False, verbose=0).history
for epoch, loss in enumerate(history["loss"], 1):
    print(f"epoch {epoch}   loss {loss:.6f}")
