"""A training loop of one's own: `tf.data` batches, a compiled step, metrics, validation."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(1)
rng = np.random.default_rng(1)

# The seven segments of a display, lit for the digits 0 to 9.
LIT = ["abcdef", "bc", "abdeg", "abcdg", "bcfg", "acdfg", "acdefg", "abc", "abcdefg", "abcdfg"]
DIGITS = np.array([[segment in lit for segment in "abcdefg"] for lit in LIT], "float32")


def readings(count):
    """Return noisy brightnesses of the segments, and the digits that they show."""
    digit = rng.integers(10, size=count)
    noise = rng.normal(0.0, 0.25, (count, 7))
    return (DIGITS[digit] + noise).astype("float32"), digit


training = tf.data.Dataset.from_tensor_slices(readings(1024)).shuffle(1024).batch(64)
training = training.prefetch(tf.data.AUTOTUNE)
validation = tf.data.Dataset.from_tensor_slices(readings(256)).batch(64)

model = keras.Sequential(
    [keras.Input((7,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(10)]
)
loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.Adam(0.01)
mean_loss = keras.metrics.Mean()
accuracy = keras.metrics.SparseCategoricalAccuracy()


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_of(y, model(x, training=True))
    gradients = tape.gradient(loss, model.trainable_weights)
    optimizer.apply_gradients(zip(gradients, model.trainable_weights, strict=True))
    mean_loss.update_state(loss)


@tf.function
def test_step(x, y):
    accuracy.update_state(y, model(x, training=False))


for epoch in range(1, 6):
    mean_loss.reset_state()
    accuracy.reset_state()
    for x, y in training:
        train_step(x, y)
    for x, y in validation:
        test_step(x, y)
    print(f"epoch {epoch}   loss {mean_loss.result():.6f}   accuracy {accuracy.result():.6f}")
