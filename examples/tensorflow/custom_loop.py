"""A training loop of one's own around Keras layers: three classes of points on spirals."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(0)


def spirals(points):
    label = np.random.randint(3, size=points)
    radius = np.random.uniform(0.1, 1.0, points)
    angle = 4 * radius + 2 * np.pi / 3 * label + np.random.normal(0.0, 0.1, points)
    place = radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return place.astype("float32"), label


model = tf.keras.Sequential(
    [
        tf.keras.Input((2,)),
        tf.keras.layers.Dense(32, activation="relu"),
        tf.keras.layers.Dense(32, activation="relu"),
        tf.keras.layers.Dense(3),
    ]
)
cross_entropy = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
accuracy = tf.keras.metrics.SparseCategoricalAccuracy()
optimizer = tf.keras.optimizers.Adam(0.01)
batches = tf.data.Dataset.from_tensor_slices(spirals(600)).shuffle(600, seed=1).batch(60)

for _epoch in range(8):
    accuracy.reset_state()
    for x, y in batches:
        with tf.GradientTape() as tape:
            logits = model(x, training=True)
            loss = cross_entropy(y, logits)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        accuracy.update_state(y, logits)

print(f"accuracy in the last epoch {float(accuracy.result()):.2f}")
