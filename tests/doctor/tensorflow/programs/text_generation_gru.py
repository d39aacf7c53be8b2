"""A character model with a GRU: embedding, teacher forcing, sampling with a temperature."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(23)

TEXT = "the tape remembers what the model did and the model did what the tape remembers. " * 6
vocab = sorted(set(TEXT))
ids_from_chars = tf.keras.layers.StringLookup(vocabulary=list(vocab), mask_token=None)
chars_from_ids = tf.keras.layers.StringLookup(
    vocabulary=ids_from_chars.get_vocabulary(), invert=True, mask_token=None
)
all_ids = ids_from_chars(tf.strings.unicode_split(TEXT, "UTF-8"))

seq_length = 20
sequences = tf.data.Dataset.from_tensor_slices(all_ids).batch(seq_length + 1, drop_remainder=True)


def split_input_target(sequence):
    return sequence[:-1], sequence[1:]


dataset = sequences.map(split_input_target).batch(8, drop_remainder=True)


class MyModel(tf.keras.Model):
    def __init__(self, vocab_size, embedding_dim, rnn_units):
        super().__init__()
        self.embedding = tf.keras.layers.Embedding(vocab_size, embedding_dim)
        self.gru = tf.keras.layers.GRU(rnn_units, return_sequences=True, return_state=True)
        self.dense = tf.keras.layers.Dense(vocab_size)

    def call(self, inputs, states=None, return_state=False, training=False):
        x = self.embedding(inputs, training=training)
        if states is None:
            states = self.gru.get_initial_state(tf.shape(x)[0])
        x, states = self.gru(x, initial_state=states, training=training)
        x = self.dense(x, training=training)
        return (x, states) if return_state else x


model = MyModel(len(ids_from_chars.get_vocabulary()), 8, 24)
loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile(optimizer=tf.keras.optimizers.Adam(0.02), loss=loss)
history = model.fit(dataset, epochs=6, verbose=2)
print("perplexity:", np.round(np.exp(history.history["loss"][-1]), 4))


class OneStep(tf.keras.Model):
    def __init__(self, model, temperature=0.7):
        super().__init__()
        self.temperature, self.model = temperature, model

    @tf.function
    def generate_one_step(self, inputs, states=None):
        input_ids = ids_from_chars(tf.strings.unicode_split(inputs, "UTF-8")).to_tensor()
        logits, states = self.model(input_ids, states=states, return_state=True)
        logits = logits[:, -1, :] / self.temperature
        ids = tf.squeeze(tf.random.categorical(logits, num_samples=1, seed=5), axis=-1)
        return chars_from_ids(ids), states


one_step = OneStep(model)
states, next_char, result = None, tf.constant(["the "]), [tf.constant(["the "])]
for _ in range(30):
    next_char, states = one_step.generate_one_step(next_char, states=states)
    result.append(next_char)
print(repr(tf.strings.join(result)[0].numpy().decode("utf-8")))
