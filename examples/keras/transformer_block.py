"""A Transformer block classifies sequences: positions, self-attention, residuals, norms."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(7)
rng = np.random.default_rng(7)
TOKENS, LENGTH, WIDTH = 10, 12, 16


class TokenAndPosition(layers.Layer):
    def __init__(self, tokens, length, width):
        super().__init__()
        self.tokens = layers.Embedding(tokens, width)
        self.positions = layers.Embedding(length, width)

    def call(self, x):
        return self.tokens(x) + self.positions(tf.range(tf.shape(x)[-1]))


class TransformerBlock(layers.Layer):
    def __init__(self, width, heads, hidden, rate=0.1):
        super().__init__()
        self.attention = layers.MultiHeadAttention(num_heads=heads, key_dim=width // heads)
        self.feed_forward = keras.Sequential(
            [layers.Dense(hidden, activation="gelu"), layers.Dense(width), layers.Dropout(rate)]
        )
        self.norms = [layers.LayerNormalization(epsilon=1e-6) for _ in range(2)]
        self.dropout = layers.Dropout(rate)

    def call(self, x, training=None):
        attended = self.dropout(self.attention(x, x), training=training)
        x = self.norms[0](x + attended)
        return self.norms[1](x + self.feed_forward(x, training=training))


def sequences(count):
    """Return sequences of tokens, and whether more of them are 1 than 2."""
    tokens = rng.integers(TOKENS, size=(count, LENGTH))
    return tokens, ((tokens == 1).sum(1) > (tokens == 2).sum(1)).astype("int32")


inputs = keras.Input((LENGTH,), dtype="int32")
x = TokenAndPosition(TOKENS, LENGTH, WIDTH)(inputs)
x = TransformerBlock(WIDTH, heads=2, hidden=32)(x)
x = layers.GlobalAveragePooling1D()(x)
x = layers.Dropout(0.1)(x)
model = keras.Model(inputs, layers.Dense(2, activation="softmax")(x))
model.compile(
    optimizer=keras.optimizers.AdamW(0.005),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)

history = model.fit(
    *sequences(512), batch_size=32, epochs=4, validation_data=sequences(128), verbose=0
).history
for epoch in range(4):
    print(f"epoch {epoch + 1}   " + "   ".join(f"{k} {v[epoch]:.6f}" for k, v in history.items()))
