"""`fit` under a MirroredStrategy with two logical CPUs, and a model that is saved at the end."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

tf.keras.utils.set_random_seed(11)

gpus = tf.config.list_physical_devices("GPU")
if not gpus:
    device = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(
        device, [tf.config.LogicalDeviceConfiguration() for _ in range(2)]
    )
logical = tf.config.list_logical_devices("CPU")
print(len(logical), "logical devices")

strategy = tf.distribute.MirroredStrategy(logical)

images = np.random.uniform(size=(192, 8, 8, 1)).astype("float32")
brightness = images.mean(axis=(1, 2, 3))
targets = (brightness > np.median(brightness)).astype("float32")

train = tf.data.Dataset.from_tensor_slices((images[:128], targets[:128])).batch(32)
validation = tf.data.Dataset.from_tensor_slices((images[128:], targets[128:])).batch(32)

with strategy.scope():
    model = keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            keras.layers.Conv2D(4, 3, activation="relu", padding="same"),
            keras.layers.MaxPooling2D(),
            keras.layers.Flatten(),
            keras.layers.Dense(8, activation="relu"),
            keras.layers.Dense(1, activation="sigmoid"),
        ]
    )
    model.compile(
        loss=keras.losses.BinaryCrossentropy(),
        optimizer=keras.optimizers.Adam(0.01),
        metrics=["accuracy"],
    )


def decay(epoch, rate):
    return rate if epoch < 2 else rate * 0.5


class PrintRate(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        rate = float(self.model.optimizer.learning_rate.numpy())
        print(f"\nlearning rate of epoch {epoch + 1}: {rate:g}")


history = model.fit(
    train,
    epochs=4,
    validation_data=validation,
    verbose=2,
    callbacks=[keras.callbacks.LearningRateScheduler(decay), PrintRate()],
)
print("losses:", [round(value, 6) for value in history.history["loss"]])
loss, accuracy = model.evaluate(validation, verbose=0)
print(f"evaluation: loss {loss:.5f}, accuracy {accuracy:.3f}")
model.save_weights("distributed.weights.h5")
