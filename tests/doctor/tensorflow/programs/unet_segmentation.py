"""A small U-Net: skip connections by concatenation, per-pixel classes, a callback that looks."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(93)
SIZE = 16


def pictures(count):
    rng = np.random.default_rng(count)
    images = rng.uniform(0, 0.3, size=(count, SIZE, SIZE, 3))
    masks = np.zeros((count, SIZE, SIZE, 1), "int32")
    for k in range(count):
        r, c = rng.integers(1, SIZE - 6, size=2)
        images[k, r : r + 5, c : c + 5] += 0.5
        masks[k, r : r + 5, c : c + 5] = 1
    return images.astype("float32"), masks


def get_model(num_classes):
    inputs = keras.Input((SIZE, SIZE, 3))
    x = layers.Conv2D(8, 3, strides=2, padding="same")(inputs)
    x = layers.BatchNormalization()(x)
    x = layers.Activation("relu")(x)
    previous = x
    for filters in [12]:
        x = layers.Activation("relu")(x)
        x = layers.SeparableConv2D(filters, 3, padding="same")(x)
        x = layers.BatchNormalization()(x)
        x = layers.MaxPooling2D(3, strides=2, padding="same")(x)
        residual = layers.Conv2D(filters, 1, strides=2, padding="same")(previous)
        x = layers.add([x, residual])
        previous = x
    for filters in [12, 8]:
        x = layers.Activation("relu")(x)
        x = layers.Conv2DTranspose(filters, 3, padding="same")(x)
        x = layers.BatchNormalization()(x)
        x = layers.UpSampling2D(2)(x)
        residual = layers.UpSampling2D(2)(previous)
        residual = layers.Conv2D(filters, 1, padding="same")(residual)
        x = layers.concatenate([x, residual])
        previous = x
    outputs = layers.Conv2D(num_classes, 3, activation="softmax", padding="same")(x)
    return keras.Model(inputs, outputs)


class DisplayCallback(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        mask = tf.argmax(self.model.predict(val_images[:1], verbose=0), axis=-1)[0]
        print("  pixels of the object:", int(tf.reduce_sum(mask)))


train_images, train_masks = pictures(64)
val_images, val_masks = pictures(16)
model = get_model(2)
print("parameters:", model.count_params())
model.compile(
    optimizer=keras.optimizers.Adam(0.005),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
model.fit(
    train_images,
    train_masks,
    epochs=3,
    batch_size=16,
    validation_data=(val_images, val_masks),
    callbacks=[DisplayCallback()],
    verbose=2,
)
overlap = keras.metrics.MeanIoU(num_classes=2, sparse_y_pred=False)
overlap.update_state(val_masks[..., 0], model.predict(val_images, verbose=0))
print(f"mean overlap {float(overlap.result()):.5f}")
