"""A Transformer reads reviews: words to numbers, masked padding, causal attention, two blocks."""

import argparse

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers, ops

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--length", type=int, default=24)
parser.add_argument("--words", type=int, default=200)
parser.add_argument("--width", type=int, default=16)
parser.add_argument("--batch", type=int, default=16)
parser.add_argument("--batches", type=int, default=6)
parser.add_argument("--epochs", type=int, default=3)
options = parser.parse_args()

keras.utils.set_random_seed(12)
rng = np.random.default_rng(12)
count = options.batch * options.batches


class WordsAndPositions(layers.Layer):
    def __init__(self, words, length, width):
        super().__init__()
        self.words = layers.Embedding(words, width, mask_zero=True)
        self.positions = layers.Embedding(length, width)

    def call(self, x):
        return self.words(x) + self.positions(ops.arange(x.shape[-1]))

    def compute_mask(self, x, mask=None):
        return self.words.compute_mask(x)


def block(x):
    width = x.shape[-1]
    attention = layers.MultiHeadAttention(num_heads=2, key_dim=width // 2, dropout=0.1)
    x = layers.LayerNormalization(epsilon=1e-6)(x + attention(x, x, use_causal_mask=True))
    y = layers.Dense(2 * width, activation="relu")(x)
    y = layers.Dropout(0.1)(layers.Dense(width)(y))
    return layers.LayerNormalization(epsilon=1e-6)(x + y)


# Numbers of words, 0 behind the end; a review is good if more of its words are even than odd.
tokens = rng.integers(2, options.words, (count, options.length))
ends = rng.integers(options.length // 2, options.length + 1, (count, 1))
inside = np.arange(options.length) < ends
labels = ((tokens % 2 == 0) & inside).sum(1) * 2 > ends[:, 0]
tokens = (tokens * inside).astype("int32")

inputs = keras.Input((options.length,), dtype="int32")
x = WordsAndPositions(options.words, options.length, options.width)(inputs)
for _ in range(2):
    x = block(x)
x = layers.Dropout(0.1)(layers.GlobalAveragePooling1D()(x))
model = keras.Model(inputs, layers.Dense(1)(x))
model.compile(
    optimizer=keras.optimizers.Adam(0.005),
    loss=keras.losses.BinaryCrossentropy(from_logits=True),
)
dataset = tf.data.Dataset.from_tensor_slices((tokens, labels.astype("float32")[:, None]))
dataset = dataset.batch(options.batch)
history = model.fit(dataset, epochs=options.epochs, shuffle=False, verbose=0).history
for epoch, loss in enumerate(history["loss"], 1):
    print(f"epoch {epoch}   loss {loss:.6f}")
