"""Recurrent layers in `fit`, over enough steps to be loops of the program."""

import json

import keras
import numpy as np
import tensorflow as tf
from keras import layers

STEPS = 20
rng = np.random.default_rng(3)
x = rng.standard_normal((8, STEPS, 3)).astype("float32")
x[::2, 15:] = 0.0  # masked where a layer masks
x[1::4, :4] = 0.0
y = rng.standard_normal((8, 2)).astype("float32")


class Weighted(layers.Layer):
    """A cell that looks at two of its states, and at a constant of the step."""

    state_size = (4, 4)
    output_size = 4

    def build(self, shape):
        self.w = self.add_weight(shape=(shape[-1] + 4, 4), name="w")

    def call(self, inputs, states):
        new = tf.tanh(tf.concat([inputs, states[0]], 1) @ self.w) + 0.5 * states[1]
        return new + 1.0, [new, states[0]]


def masked(*others):
    return [layers.Masking(0.0), *others]


RECURRENT = {  # the layers between input and output
    "lstm": lambda: [layers.LSTM(4)],
    "gru": lambda: [layers.GRU(4)],
    "gru_reset_before": lambda: [layers.GRU(4, reset_after=False, use_bias=False)],
    "simple": lambda: [layers.SimpleRNN(4)],
    "sequences": lambda: [
        layers.LSTM(4, return_sequences=True), layers.GRU(3, return_sequences=True),
        layers.GlobalAveragePooling1D(),
    ],
    "backwards": lambda: [
        layers.LSTM(4, go_backwards=True, return_sequences=True), layers.SimpleRNN(4),
    ],
    "masked": lambda: masked(layers.LSTM(4, return_sequences=True), layers.GRU(4)),
    "masked_backwards": lambda: masked(layers.GRU(4, go_backwards=True)),
    "masked_zeros": lambda: masked(
        layers.RNN(layers.LSTMCell(4), return_sequences=True, zero_output_for_mask=True),
        layers.GlobalAveragePooling1D(),
    ),
    "both_ways": lambda: [layers.Bidirectional(layers.LSTM(4))],
    "both_ways_masked": lambda: masked(
        layers.Bidirectional(layers.GRU(4, return_sequences=True), merge_mode="sum"),
        layers.Bidirectional(layers.LSTM(3)),
    ),
    "dropout": lambda: [layers.LSTM(4, dropout=0.3, recurrent_dropout=0.2, seed=5)],
    "dropout_gru": lambda: [layers.GRU(4, dropout=0.3, recurrent_dropout=0.2, seed=5)],
    "stacked": lambda: [layers.RNN([layers.LSTMCell(4), layers.GRUCell(3)])],
    "unrolled": lambda: [layers.LSTM(4, unroll=True)],
    "own_cell": lambda: [layers.RNN(Weighted())],
    "images": lambda: [
        layers.Reshape((STEPS, 3, 1, 1)),
        layers.ConvLSTM2D(2, (3, 1), padding="same"), layers.Flatten(),
    ],
}  # fmt: skip


def show(name, value):
    print(json.dumps([name, value]), flush=True)


def total(model):
    return [float(np.abs(w).sum()) for w in model.get_weights()]


for name, made in RECURRENT.items():
    keras.utils.set_random_seed(4)
    model = keras.Sequential([keras.Input((STEPS, 3)), *made(), layers.Dense(2)])
    model.compile(keras.optimizers.SGD(0.05), "mse")
    history = model.fit(x, y, batch_size=4, epochs=2, shuffle=False, verbose=0).history
    show(name, {"loss": history["loss"], "weights": total(model)})
    show(f"{name}, predicted", model.predict(x[:2], verbose=0).tolist())

# States that stay from batch to batch.
keras.utils.set_random_seed(4)
model = keras.Sequential(
    [keras.Input((STEPS, 3), batch_size=4), layers.LSTM(4, stateful=True), layers.Dense(2)]
)
model.compile("adam", "mse")
history = model.fit(x, y, batch_size=4, epochs=2, shuffle=False, verbose=0).history
show("stateful", {"loss": history["loss"], "weights": total(model)})
show("stateful, states", [s.numpy().tolist() for s in model.layers[0].states])

# States as results, and a layer that begins with them; lengths that differ from call to call.
inputs = keras.Input((None, 3))
sequence, *states = layers.LSTM(4, return_sequences=True, return_state=True)(inputs)
outputs = layers.Dense(2)(layers.LSTM(4)(sequence, initial_state=states))
model = keras.Model(inputs, outputs)
model.compile("adam", "mse")
for steps in (STEPS, 18, 5, 1, STEPS):
    show(f"{steps} steps", model.train_on_batch(x[:, :steps], y))
show("any length", total(model))

# Derivatives of derivatives, and a tape around the layer.
layer = layers.GRU(4)
start = tf.constant(x)


@tf.function
def inner(start):
    with tf.GradientTape() as tape:
        tape.watch(start)
        loss = tf.reduce_sum(layer(start) ** 2)
    return tape.gradient(loss, start)


show("to the input", inner(start).numpy().tolist())
with tf.GradientTape() as tape:
    tape.watch(start)
    loss = tf.reduce_sum(inner(start) ** 2)
show("twice", tape.gradient(loss, start).numpy()[0].tolist())
apply = tf.function(layer)
with tf.GradientTape(persistent=True) as tape:
    tape.watch(start)
    loss = tf.reduce_sum(apply(start) ** 2)
show("around", tape.gradient(loss, [start, *layer.trainable_variables])[0].numpy()[0].tolist())
