"""fit with the callbacks that everyone uses: checkpoints, early stopping, schedules, CSV, logs."""

import csv
import importlib.util
import os

import numpy as np
from tensorflow import keras
from tensorflow.keras import callbacks

keras.utils.set_random_seed(77)

x = np.random.normal(size=(300, 4)).astype("float32")
y = np.sin(x[:, :1]) + 0.1 * np.random.normal(size=(300, 1))
split = 240

model = keras.Sequential(
    [
        keras.Input((4,)),
        keras.layers.Dense(24, activation="relu", kernel_regularizer=keras.regularizers.L2(1e-4)),
        keras.layers.Dropout(0.1),
        keras.layers.Dense(1),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(0.02), loss="mse", metrics=["mae"])


def schedule(epoch, rate):
    return rate if epoch < 5 else rate * 0.8


class LossAndErrorPrinting(callbacks.Callback):
    def on_train_begin(self, logs=None):
        print("training begins; keys:", sorted(logs or {}))

    def on_epoch_end(self, epoch, logs=None):
        bar = "=" * (epoch + 1)
        print(f"\r[{bar:<12}] loss {logs['loss']:.5f} val {logs['val_loss']:.5f}", end="")

    def on_train_end(self, logs=None):
        print("\ntraining ends")


class KeepBest(callbacks.Callback):
    best = np.inf
    best_weights = None

    def on_epoch_end(self, epoch, logs=None):
        if logs["val_loss"] < self.best:
            self.best, self.best_weights = logs["val_loss"], self.model.get_weights()


os.makedirs("checkpoints")
has_board = importlib.util.find_spec("tensorboard") is not None
board = [callbacks.TensorBoard("logs", write_graph=False)] if has_board else []
keep = KeepBest()
history = model.fit(
    x[:split],
    y[:split],
    epochs=12,
    batch_size=40,
    verbose=0,
    validation_data=(x[split:], y[split:]),
    callbacks=[
        callbacks.ModelCheckpoint("checkpoints/best.keras", save_best_only=True),
        callbacks.ModelCheckpoint("checkpoints/{epoch:02d}.weights.h5", save_weights_only=True),
        callbacks.EarlyStopping(monitor="val_loss", patience=3, restore_best_weights=True),
        callbacks.LearningRateScheduler(schedule),
        callbacks.ReduceLROnPlateau(patience=2),
        callbacks.CSVLogger("history.csv"),
        *board,
        callbacks.TerminateOnNaN(),
        callbacks.LambdaCallback(on_epoch_begin=lambda epoch, logs: None),
        LossAndErrorPrinting(),
        keep,
    ],
)
print("epochs:", len(history.history["loss"]), "best:", f"{keep.best:.6f}")
rates = [f"{rate:.5f}" for rate in history.history["learning_rate"]]
print("learning rates:", rates)
with open("history.csv") as file:
    print("columns:", next(csv.reader(file)))
best = keras.models.load_model("checkpoints/best.keras")
print(f"the best model again: {best.evaluate(x[split:], y[split:], verbose=0)[0]:.6f}")
print("checkpoints:", sorted(os.listdir("checkpoints"))[:3])
