"""Sequence to sequence by hand: an encoder, Bahdanau attention, a decoder cell, teacher forcing."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(71)
UNITS, VOCAB, LENGTH, BATCH = 16, 10, 5, 32


class Encoder(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.embedding = tf.keras.layers.Embedding(VOCAB, 8)
        self.gru = tf.keras.layers.GRU(UNITS, return_sequences=True, return_state=True)

    def call(self, x):
        return self.gru(self.embedding(x))


class BahdanauAttention(tf.keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.W1 = tf.keras.layers.Dense(units)
        self.W2 = tf.keras.layers.Dense(units)
        # A bias would be added to all scores alike, and softmax does not see it.
        self.V = tf.keras.layers.Dense(1, use_bias=False)

    def call(self, query, values):
        query = tf.expand_dims(query, 1)
        score = self.V(tf.nn.tanh(self.W1(query) + self.W2(values)))
        weights = tf.nn.softmax(score, axis=1)
        return tf.reduce_sum(weights * values, axis=1), weights


class Decoder(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.embedding = tf.keras.layers.Embedding(VOCAB, 8)
        self.cell = tf.keras.layers.GRUCell(UNITS)
        self.fc = tf.keras.layers.Dense(VOCAB)
        self.attention = BahdanauAttention(UNITS)

    def call(self, x, hidden, encoded):
        context, weights = self.attention(hidden, encoded)
        x = tf.concat([context, self.embedding(x)], axis=-1)
        output, _ = self.cell(x, [hidden])
        return self.fc(output), output, weights


encoder, decoder = Encoder(), Decoder()
optimizer = tf.keras.optimizers.Adam(0.02)
loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def train_step(inp, targ):
    loss = 0.0
    with tf.GradientTape() as tape:
        encoded, hidden = encoder(inp)
        dec_input = tf.ones([tf.shape(inp)[0]], tf.int64)
        for t in range(LENGTH):
            predictions, hidden, _ = decoder(dec_input, hidden, encoded)
            loss += loss_object(targ[:, t], predictions)
            dec_input = targ[:, t]
    variables = encoder.trainable_variables + decoder.trainable_variables
    gradients = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(gradients, variables))
    return loss / LENGTH


rng = np.random.default_rng(5)
sources = rng.integers(2, VOCAB, size=(160, LENGTH))
targets = sources[:, ::-1].copy()
dataset = tf.data.Dataset.from_tensor_slices((sources, targets)).batch(BATCH, drop_remainder=True)

for epoch in range(6):
    total = 0.0
    for batch, (inp, targ) in enumerate(dataset):
        batch_loss = train_step(inp, targ)
        total += batch_loss.numpy()
        if batch % 4 == 0:
            print(f"Epoch {epoch + 1} Batch {batch} Loss {batch_loss.numpy():.4f}")
    print(f"Epoch {epoch + 1} Loss {total / (batch + 1):.4f}")

encoded, hidden = encoder(sources[:1])
token, words, looks = tf.constant([1], tf.int64), [], []
for _ in range(LENGTH):
    logits, hidden, weights = decoder(token, hidden, encoded)
    token = tf.argmax(logits, axis=-1)
    words.append(int(token[0]))
    looks.append(int(tf.argmax(weights[0, :, 0])))
print(sources[0].tolist(), "->", words, "looking at", looks)
