"""Two bidirectional LSTMs label the steps of long series: masked ends, recurrent dropout."""

import argparse

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--steps", type=int, default=40)
parser.add_argument("--units", type=int, default=16)
parser.add_argument("--batch", type=int, default=16)
parser.add_argument("--batches", type=int, default=6)
parser.add_argument("--epochs", type=int, default=3)
options = parser.parse_args()

keras.utils.set_random_seed(8)
rng = np.random.default_rng(8)
count = options.batch * options.batches

# A random walk in four channels; a step is labelled by whether it lies above the series' mean.
series = rng.standard_normal((count, options.steps, 4)).cumsum(1).astype("float32") / 4
lengths = rng.integers(options.steps // 2, options.steps + 1, count)
inside = np.arange(options.steps) < lengths[:, None]
series *= inside[:, :, None]
labels = (series[:, :, 0] > series[:, :, 0].mean(1, keepdims=True)).astype("float32")[:, :, None]

model = keras.Sequential(
    [
        keras.Input((options.steps, 4)),
        layers.Masking(0.0),
        layers.Bidirectional(layers.LSTM(options.units, return_sequences=True)),
        layers.Bidirectional(
            layers.LSTM(options.units, return_sequences=True, dropout=0.1, recurrent_dropout=0.1)
        ),
        layers.Dense(1),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(0.01),
    loss=keras.losses.BinaryCrossentropy(from_logits=True),
)
history = model.fit(
    tf.data.Dataset.from_tensor_slices((series, labels, inside.astype("float32"))).batch(
        options.batch
    ),
    epochs=options.epochs,
    shuffle=False,
    verbose=0,
).history
for epoch, loss in enumerate(history["loss"], 1):
    print(f"epoch {epoch}   loss {loss:.6f}")
