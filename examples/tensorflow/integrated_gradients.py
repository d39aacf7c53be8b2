"""Integrated gradients: which inputs a trained model's answer is due to."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(0)

# Six measurements, of which only the second and the fifth tell the class.
x = np.random.normal(size=(512, 6)).astype("float32")
y = (x[:, 1] - x[:, 4] > 0).astype("int32")
model = tf.keras.Sequential(
    [tf.keras.Input((6,)), tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(2)]
)
model.compile(
    optimizer=tf.keras.optimizers.Adam(0.02),
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
)
model.fit(x, y, epochs=5, verbose=0)


def integrated_gradients(sample, baseline, steps=50):
    label = tf.argmax(model(sample[None])[0])
    shares = tf.reshape(tf.linspace(0.0, 1.0, steps + 1), [-1, 1])
    path = baseline + shares * (sample - baseline)
    with tf.GradientTape() as tape:
        tape.watch(path)
        score = tf.gather(model(path), label, axis=1)
    derivatives = tape.gradient(score, path)
    mean = tf.reduce_mean((derivatives[:-1] + derivatives[1:]) / 2.0, axis=0)
    return (sample - baseline) * mean


sample = tf.constant([0.1, 1.5, -0.2, 0.3, -1.2, 0.1])
shares = integrated_gradients(sample, tf.zeros(6)).numpy()
print("the answer is due to inputs", *sorted(np.argsort(-np.abs(shares))[:2] + 1))
