"""Transfer learning: a MobileNet-like base, frozen, then fine-tuned at a lower rate."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(28)


def inverted_residual(x, expand, filters, stride):
    inputs, channels = x, x.shape[-1]
    x = layers.Conv2D(expand * channels, 1, use_bias=False)(x)
    x = layers.BatchNormalization()(x)
    x = layers.ReLU(6.0)(x)
    x = layers.DepthwiseConv2D(3, stride, padding="same", use_bias=False)(x)
    x = layers.BatchNormalization()(x)
    x = layers.ReLU(6.0)(x)
    x = layers.Conv2D(filters, 1, use_bias=False)(x)
    x = layers.BatchNormalization()(x)
    return layers.Add()([inputs, x]) if stride == 1 and channels == filters else x


def make_base():
    inputs = keras.Input((16, 16, 3))
    x = layers.Conv2D(8, 3, strides=2, padding="same", use_bias=False)(inputs)
    x = layers.BatchNormalization()(x)
    x = layers.ReLU(6.0)(x)
    x = inverted_residual(x, 2, 8, 1)
    x = inverted_residual(x, 2, 12, 2)
    return keras.Model(inputs, x, name="base")


rng = np.random.default_rng(2)
labels = rng.integers(0, 2, size=120)
images = rng.uniform(0, 200, size=(120, 16, 16, 3)).astype("float32")
images[labels == 1, 4:12, 4:12, 0] += 55.0
train = tf.data.Dataset.from_tensor_slices((images[:96], labels[:96])).batch(16)
validation = tf.data.Dataset.from_tensor_slices((images[96:], labels[96:])).batch(12)

augmentation = keras.Sequential([layers.RandomFlip("horizontal", seed=1)])
base_model = make_base()
for _ in range(20):  # a pretrained base has seen data
    base_model(images[:96], training=True)
base_model.trainable = False

inputs = keras.Input((16, 16, 3))
x = augmentation(inputs)
x = layers.Rescaling(1.0 / 127.5, offset=-1)(x)
x = base_model(x, training=False)
x = layers.GlobalAveragePooling2D()(x)
x = layers.Dropout(0.2, seed=2)(x)
outputs = layers.Dense(1, activation="sigmoid")(x)
model = keras.Model(inputs, outputs)
print("trainable at first:", len(model.trainable_variables))
model.compile(
    optimizer=keras.optimizers.Adam(0.01),
    loss=keras.losses.BinaryCrossentropy(),
    metrics=[keras.metrics.BinaryAccuracy(threshold=0.5, name="accuracy")],
)
history = model.fit(train, epochs=2, validation_data=validation, verbose=2)

base_model.trainable = True
for layer in base_model.layers[:6]:
    layer.trainable = False
print("trainable now:", len(model.trainable_variables))
model.compile(
    optimizer=keras.optimizers.RMSprop(0.001),
    loss=keras.losses.BinaryCrossentropy(),
    metrics=["accuracy"],
)
fine = model.fit(train, epochs=4, initial_epoch=history.epoch[-1] + 1, verbose=2)
print("losses", [f"{v:.5f}" for v in history.history["loss"] + fine.history["loss"]])
