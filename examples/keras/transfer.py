"""Transfer: a pretrained base is frozen under a new head, then unfrozen for fine-tuning."""

import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(9)
rng = np.random.default_rng(9)


def stripes(count, angles):
    """Return pictures of 12 x 12 pixels with stripes, and which of the angles these have."""
    kind = rng.integers(len(angles), size=count)
    x, y = np.meshgrid(np.arange(12), np.arange(12))
    angle = np.radians(np.array(angles)[kind] + rng.normal(0, 4, count))[:, None, None]
    phase = rng.uniform(0, 2 * np.pi, (count, 1, 1))
    image = np.sin(np.cos(angle) * x + np.sin(angle) * y + phase)
    image += rng.normal(0, 0.3, image.shape)
    return image[..., None].astype("float32"), kind


def train(model, data, epochs, rate, **options):
    model.compile(
        optimizer=keras.optimizers.Adam(rate),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    history = model.fit(*data, batch_size=16, epochs=epochs, verbose=0, **options).history
    for epoch in range(epochs):
        numbers = "   ".join(f"{name} {values[epoch]:.6f}" for name, values in history.items())
        print(f"epoch {epoch + 1}   {numbers}")


base = keras.Sequential(
    [
        keras.Input((12, 12, 1)),
        layers.Conv2D(8, 5, use_bias=False),
        layers.BatchNormalization(momentum=0.9),
        layers.ReLU(),
        layers.Conv2D(16, 3, activation="relu"),
        layers.GlobalAveragePooling2D(),
    ],
    name="base",
)

print("the base learns four directions")
train(keras.Sequential([base, layers.Dense(4)]), stripes(512, [0, 45, 90, 135]), 3, 0.01)

print("a new head learns three others from few pictures, the base is frozen")
base.trainable = False
inputs = keras.Input((12, 12, 1))
x = base(inputs, training=False)  # its batch normalization keeps the statistics it has
x = layers.Dropout(0.2)(x)
model = keras.Model(inputs, layers.Dense(3)(x))
few, many = stripes(96, [20, 65, 110]), stripes(256, [20, 65, 110])
frozen = [weight.numpy() for weight in base.weights]
train(model, few, 4, 0.02, validation_data=many)
same = all(np.array_equal(a, b) for a, b in zip(frozen, base.weights, strict=True))
print(f"{len(model.trainable_weights)} weights are trained, the base is unchanged: {same}")

print("the whole is fine-tuned, slowly")
base.trainable = True
train(model, few, 2, 0.0005, validation_data=many)
print(f"{len(model.trainable_weights)} weights are trained")
