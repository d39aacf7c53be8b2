"""`fit` on a small convolutional network: augmentation, dropout, validation, predictions."""

import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(2)
rng = np.random.default_rng(2)
KINDS = ["disc", "square", "ring"]


def pictures(count):
    """Return images of 16 x 16 pixels from 0 to 255, and which of the kinds they show."""
    kind = rng.integers(3, size=count)
    x, y = np.meshgrid(np.arange(16), np.arange(16))
    centre, size = rng.uniform(6, 10, (2, count, 1, 1)), rng.uniform(3, 5, (count, 1, 1))
    round_ = np.hypot(x - centre[0], y - centre[1])
    edged = np.maximum(abs(x - centre[0]), abs(y - centre[1]))
    which = kind[:, None, None]
    inside = np.where(which == 1, edged < 0.9 * size, round_ < size)
    inside &= (which != 2) | (round_ > size - 2)
    image = 180 * inside + rng.uniform(0, 75, inside.shape)
    return image[..., None].astype("float32"), kind


model = keras.Sequential(
    [
        keras.Input((16, 16, 1)),
        layers.Rescaling(1 / 255),
        layers.RandomFlip("horizontal"),
        layers.Conv2D(8, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(16, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dropout(0.2),
        layers.Dense(32, activation="relu"),
        layers.Dense(3),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(0.003),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
history = model.fit(
    *pictures(512), batch_size=32, epochs=5, validation_data=pictures(128), verbose=0
).history
for epoch, (loss, val_loss) in enumerate(zip(history["loss"], history["val_loss"], strict=True), 1):
    print(f"epoch {epoch}   loss {loss:.6f}   val_loss {val_loss:.6f}")

loss, accuracy = model.evaluate(*pictures(128), verbose=0)
print(f"on new pictures: loss {loss:.6f}   accuracy {accuracy:.6f}")
images, kinds = pictures(5)
for kind, logits in zip(kinds, model.predict(images, verbose=0), strict=True):
    print(f"a {KINDS[kind]} is taken for a {KINDS[np.argmax(logits)]}")
