"""A patch ConvNet: convolutions over patches with squeeze and excitation, attention as pooling."""

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

keras.utils.set_random_seed(11)
rng = np.random.default_rng(11)
count = options.batch * options.batches


def stem(images):
    x = layers.Rescaling(1 / 255)(images)
    for filters in (options.width // 2, options.width):
        x = layers.Conv2D(filters, 3, strides=2, padding="same", activation="gelu")(x)
    return x


class SqueezeExcite(layers.Layer):
    def build(self, shape):
        self.squeeze = layers.Dense(shape[-1] // 8, activation="relu", use_bias=False)
        self.excite = layers.Dense(shape[-1], activation="sigmoid", use_bias=False)
        self.squeeze.build((*shape[:1], shape[-1]))
        self.excite.build((*shape[:1], shape[-1] // 8))

    def call(self, x):
        scale = self.excite(self.squeeze(ops.mean(x, axis=(1, 2))))
        return x * ops.reshape(scale, (-1, 1, 1, x.shape[-1]))


def trunk_block(x):
    """Return a residual block whose 3 x 3 convolutions go over single channels."""
    width = x.shape[-1]
    y = layers.LayerNormalization(epsilon=1e-6)(x)
    y = layers.Conv2D(width, 1, activation="gelu")(y)
    y = layers.Conv2D(width, 3, padding="same", activation="gelu")(y)
    y = layers.DepthwiseConv2D(3, padding="same", activation="gelu")(y)
    y = SqueezeExcite()(y)
    y = layers.Conv2D(width, 1)(y)
    return layers.Add()([x, layers.Dropout(0.1)(y)])


class AttentionPooling(layers.Layer):
    """One learned query looks at all patches."""

    def build(self, shape):
        self.query = self.add_weight(shape=(1, 1, shape[-1]), initializer="glorot_uniform")
        self.attention = layers.MultiHeadAttention(num_heads=1, key_dim=shape[-1])
        self.attention.build((None, 1, shape[-1]), (None, None, shape[-1]))

    def call(self, x):
        x = ops.reshape(x, (-1, x.shape[1] * x.shape[2], x.shape[3]))
        query = ops.broadcast_to(self.query, (ops.shape(x)[0], 1, x.shape[-1]))
        return ops.squeeze(self.attention(query, x), axis=1)


# A square that is brighter than the noise around it: the class is the corner where it lies.
labels = rng.integers(0, 4, count)
images = rng.uniform(0, 160, (count, options.size, options.size, 3)).astype("float32")
half = options.size // 2
for image, label in zip(images, labels, strict=True):
    image[label // 2 * half :, label % 2 * half :][:half, :half] += 95

inputs = keras.Input((options.size, options.size, 3))
x = stem(inputs)
for _ in range(options.blocks):
    x = trunk_block(x)
x = layers.LayerNormalization(epsilon=1e-6)(AttentionPooling()(x))
model = keras.Model(inputs, layers.Dense(4)(x))
model.compile(
    optimizer=keras.optimizers.AdamW(0.003, weight_decay=1e-4),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
)
dataset = tf.data.Dataset.from_tensor_slices((images, labels)).batch(options.batch)
history = model.fit(dataset, epochs=options.epochs, shuffle=False, verbose=0).history
for epoch, loss in enumerate(history["loss"], 1):
    print(f"epoch {epoch}   loss {loss:.6f}")
