"""A training loop by hand with layers of Keras; with --bug, the model runs before the tape does."""

import sys

import tensorflow as tf

BUG = "--bug" in sys.argv
tf.keras.utils.set_random_seed(1)
inputs = tf.random.normal([128, 4])
labels = tf.cast(tf.reduce_sum(inputs, axis=1) > 0.0, tf.int32)

model = tf.keras.Sequential(
    [tf.keras.Input((4,)), tf.keras.layers.Dense(16, "relu"), tf.keras.layers.Dense(2)]
)
optimizer = tf.keras.optimizers.Adam(0.01)
loss_function = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
accuracy = tf.keras.metrics.SparseCategoricalAccuracy()

for _ in range(5):
    if BUG:
        logits = model(inputs, training=True)  # GT105
        with tf.GradientTape() as tape:
            loss = loss_function(labels, logits)
    else:
        with tf.GradientTape() as tape:
            logits = model(inputs, training=True)
            loss = loss_function(labels, logits)
    gradients = tape.gradient(loss, model.trainable_variables)
    accuracy.update_state(labels, logits)
    if None not in gradients:
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))

print(f"loss {float(loss):.3f}, accuracy {float(accuracy.result()):.2f}")
