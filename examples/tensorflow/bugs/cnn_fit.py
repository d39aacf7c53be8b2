"""cnn_fit.py with a bug: the frame of the pictures, which never changes, is divided by 0."""

import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(0)


def pictures(count):
    """Return framed 12 x 12 images of a row (0), a column (1) or both (2), under noise."""
    images = np.zeros((count, 12, 12, 1), "float32")
    images[:, 1:-1, 1:-1] = np.random.uniform(0.0, 0.3, (count, 10, 10, 1))
    kinds = np.random.randint(3, size=count)
    for image, kind in zip(images, kinds, strict=True):
        row, column = np.random.randint(1, 11, size=2)
        if kind != 1:
            image[row, 1:-1] += 0.7
        if kind != 0:
            image[1:-1, column] += 0.7
    images -= images.mean(axis=0)
    images /= images.std(axis=0)  # bug: nan-input
    return images, kinds


model = keras.Sequential(
    [
        keras.Input((12, 12, 1)),
        layers.Conv2D(8, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(16, 3, activation="relu"),
        layers.Flatten(),
        layers.Dense(3),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(0.01),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
history = model.fit(*pictures(1024), batch_size=32, epochs=6, verbose=0)  # bug: nan-input
_, accuracy = model.evaluate(*pictures(256), verbose=0)
print(f"loss {history.history['loss'][-1]:.2f}, accuracy on new pictures {accuracy:.2f}")
