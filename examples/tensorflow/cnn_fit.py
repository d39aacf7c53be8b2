"""`fit` on a small CNN; with --bug, the loss counts wrong answers, which has no slope."""

import sys

import numpy as np
import tensorflow as tf

BUG = "--bug" in sys.argv
tf.keras.utils.set_random_seed(1)
rng = np.random.default_rng(0)
images = rng.random((64, 8, 8, 1), dtype="float32")
labels = rng.integers(0, 3, 64)


def wrong_answers(labels, logits):
    answers = tf.argmax(logits, axis=1)  # GT125
    return tf.reduce_mean(tf.cast(answers != tf.cast(labels, tf.int64), tf.float32))


model = tf.keras.Sequential(
    [
        tf.keras.Input((8, 8, 1)),
        tf.keras.layers.Conv2D(4, 3, activation="relu"),
        tf.keras.layers.MaxPooling2D(),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(3),
    ]
)
loss = wrong_answers if BUG else tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile("adam", loss, metrics=["accuracy"])
history = model.fit(images, labels, batch_size=16, epochs=2, verbose=0)

print(f"loss {history.history['loss'][-1]:.3f}")
