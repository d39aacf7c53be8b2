"""A small Transformer with an encoder, a decoder, masks and the warm-up schedule of the paper."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(61)
VOCAB, LENGTH, D_MODEL, HEADS, DFF = 12, 6, 16, 2, 32


def positional_encoding(length, depth):
    positions = np.arange(length)[:, None]
    rates = 1 / 10000 ** (np.arange(depth // 2)[None] / (depth // 2))
    angles = positions * rates
    return tf.constant(np.concatenate([np.sin(angles), np.cos(angles)], axis=-1), tf.float32)


class PositionalEmbedding(layers.Layer):
    def __init__(self):
        super().__init__()
        self.embedding = layers.Embedding(VOCAB, D_MODEL, mask_zero=True)
        self.pos_encoding = positional_encoding(64, D_MODEL)

    def compute_mask(self, *args, **kwargs):
        return self.embedding.compute_mask(*args, **kwargs)

    def call(self, x):
        length = tf.shape(x)[1]
        x = self.embedding(x) * tf.math.sqrt(tf.cast(D_MODEL, tf.float32))
        return x + self.pos_encoding[tf.newaxis, :length, :]


class Block(layers.Layer):
    def __init__(self, crosses, causal):
        super().__init__()
        self.causal = causal
        self.mha = layers.MultiHeadAttention(HEADS, D_MODEL // HEADS, dropout=0.1)
        self.cross = layers.MultiHeadAttention(HEADS, D_MODEL // HEADS) if crosses else None
        self.norms = [layers.LayerNormalization() for _ in range(3 if crosses else 2)]
        self.ffn = keras.Sequential([layers.Dense(DFF, "relu"), layers.Dense(D_MODEL)])

    def call(self, x, context=None):
        x = self.norms[0](x + self.mha(x, x, use_causal_mask=self.causal))
        if self.cross is not None:
            x = self.norms[1](x + self.cross(x, context))
        return self.norms[-1](x + self.ffn(x))


class Transformer(keras.Model):
    def __init__(self):
        super().__init__()
        self.source, self.target = PositionalEmbedding(), PositionalEmbedding()
        self.encoder, self.decoder = Block(False, False), Block(True, True)
        self.final = layers.Dense(VOCAB)

    def call(self, inputs):
        context, x = inputs
        context = self.encoder(self.source(context))
        return self.final(self.decoder(self.target(x), context=context))


class CustomSchedule(keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, d_model, warmup=40):
        self.d_model, self.warmup = float(d_model), warmup

    def __call__(self, step):
        step = tf.cast(step, tf.float32) + 1.0
        early = step * self.warmup**-1.5
        return tf.math.rsqrt(self.d_model) * tf.minimum(tf.math.rsqrt(step), early)


def masked_loss(label, pred):
    mask = label != 0
    cross_entropy = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")
    loss = cross_entropy(label, pred)
    mask = tf.cast(mask, loss.dtype)
    return tf.reduce_sum(loss * mask) / tf.reduce_sum(mask)


rng = np.random.default_rng(0)
source = rng.integers(2, VOCAB, size=(128, LENGTH))
source[:, 4:] *= rng.integers(0, 2, size=(128, 1))  # some are shorter
begin = np.ones((128, 1), int)
target_in, target_out = np.concatenate([begin, source[:, :-1]], 1), source
model = Transformer()
model.compile(
    loss=masked_loss,
    optimizer=keras.optimizers.Adam(CustomSchedule(D_MODEL), beta_2=0.98, epsilon=1e-9),
)
model.fit((source, target_in), target_out, batch_size=32, epochs=4, verbose=2)
print("logits:", np.round(model((source[:1], target_in[:1]))[0, 0, :4].numpy(), 4))
