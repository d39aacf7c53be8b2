"""A sequence model in a tf.function; with --bug, its prediction is rounded."""

import sys

import tensorflow as tf

BUG = "--bug" in sys.argv
tf.keras.utils.set_random_seed(1)
sequences = tf.random.normal([32, 10, 3])
counts = tf.reduce_sum(tf.cast(sequences[:, :, 0] > 0.0, tf.float32), axis=1, keepdims=True)

model = tf.keras.Sequential(
    [tf.keras.Input((10, 3)), tf.keras.layers.LSTM(8), tf.keras.layers.Dense(1)]
)
optimizer = tf.keras.optimizers.Adam(0.01)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        prediction = model(x, training=True)
        if BUG:
            prediction = tf.round(prediction)  # GT128
        loss = tf.reduce_mean(tf.square(prediction - y))
    gradients = tape.gradient(loss, model.trainable_variables)
    if None not in gradients:
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    return loss


for _ in range(5):
    loss = step(sequences, counts)

print(f"loss {float(loss):.3f}")
