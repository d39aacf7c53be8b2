"""tf.py_function and tf.numpy_function in an input pipeline, and one with a gradient in a loss."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(6)
rng = np.random.default_rng(6)

calls = {"augment": 0}
images = rng.uniform(size=(48, 6, 6, 1)).astype("float32")
labels = (images[:, :, :3].mean(axis=(1, 2, 3)) > images[:, :, 3:].mean(axis=(1, 2, 3))).astype(
    "int64"
)


def augment(image):
    """Shifts the picture by one row: plain NumPy."""
    calls["augment"] += 1
    return np.roll(image, 1, axis=0)


def standardize(image):
    """Eager TensorFlow code."""
    image = image - tf.reduce_mean(image)
    return image / tf.math.reduce_std(image)


def load(image, label):
    shape = image.shape
    image = tf.numpy_function(augment, [image], tf.float32)
    image = tf.py_function(standardize, [image], tf.float32)
    image.set_shape(shape)
    return image, label


dataset = tf.data.Dataset.from_tensor_slices((images, labels)).map(load).cache().batch(12)

model = tf.keras.Sequential(
    [
        tf.keras.Input((6, 6, 1)),
        tf.keras.layers.Conv2D(4, 3, activation="relu"),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(2),
    ]
)
model.compile(
    "adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"]
)
history = model.fit(dataset, epochs=4, verbose=0)
print("losses", np.round(history.history["loss"], 5))
print("augmented", calls["augment"], "pictures")


def huber(error, delta):
    if tf.reduce_max(tf.abs(error)) <= delta:
        return 0.5 * tf.reduce_sum(error**2)
    return delta * tf.reduce_sum(tf.abs(error) - 0.5 * delta)


@tf.function
def loss_and_gradient(value, delta):
    with tf.GradientTape() as tape:
        tape.watch(value)
        loss = tf.py_function(huber, inp=[value, delta], Tout=tf.float32)
    return loss, tape.gradient(loss, value)


for point in ([0.1, -0.2], [3.0, -2.0]):
    loss, gradient = loss_and_gradient(tf.constant(point), tf.constant(1.0))
    print("huber", f"{float(loss):.4f}", gradient.numpy())
