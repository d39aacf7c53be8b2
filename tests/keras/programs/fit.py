"""Training in the ways that Keras has: a line for each, a name and what came of it, as JSON."""

import csv
import json
import os
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import keras
import numpy as np
import tensorflow as tf

FOLDER = tempfile.mkdtemp()
random = np.random.RandomState(0)
X = random.randn(40, 4).astype("float32")
Y = (X.sum(1, keepdims=True) > 0).astype("float32")


def tell(name, found):
    print(json.dumps([name, found], default=lambda value: np.asarray(value).tolist()))


def model(optimizer="adam", **options):
    keras.utils.set_random_seed(1)
    made = keras.Sequential(
        [
            keras.Input((4,)),
            keras.layers.Dense(8, activation="relu"),
            keras.layers.BatchNormalization(),
            keras.layers.Dropout(0.2),
            keras.layers.Dense(1, activation="sigmoid"),
        ]
    )
    made.compile(optimizer, "binary_crossentropy", metrics=["accuracy"], **options)
    return made


def fit(made, *data, **options):
    return made.fit(*data, **{"epochs": 2, "batch_size": 8, "verbose": 0, **options}).history


tell("validation_split", fit(model(), X, Y, validation_split=0.2))
tell("validation_data", fit(model(), X, Y, validation_data=(X, Y)))
tell("class_weight", fit(model(), X, Y, class_weight={0: 1.0, 1: 3.0}))
tell("sample_weight", fit(model(), X, Y, sample_weight=np.arange(40.0)))
endless = tf.data.Dataset.from_tensor_slices((X, Y)).batch(8).repeat()
tell("steps_per_epoch", fit(model(), endless, batch_size=None, steps_per_epoch=3))
tell("run_eagerly", fit(model(run_eagerly=True), X, Y))

# --- several steps at once, of which the last are fewer ------------------------------------------
for steps in (2, 3, 7):
    for eagerly in (False, True):
        made = model(steps_per_execution=steps, run_eagerly=eagerly)
        tell(f"steps_per_execution {steps} {eagerly}", fit(made, X, Y))
    made = model(steps_per_execution=steps)
    tell(f"evaluate {steps}", made.evaluate(X, Y, batch_size=8, verbose=0))
    tell(f"predict {steps}", made.predict(X, batch_size=8, verbose=0).sum())

# --- batches -------------------------------------------------------------------------------------
made = model()
tell("train_on_batch", made.train_on_batch(X[:8], Y[:8]))
tell("return_dict", made.train_on_batch(X[8:16], Y[8:16], return_dict=True))
tell("test_on_batch", made.test_on_batch(X, Y))
tell("predict_on_batch", made.predict_on_batch(X[:3]))


def batches():
    while True:
        for k in range(0, 40, 8):
            yield X[k : k + 8], Y[k : k + 8]


class Batches(keras.utils.PyDataset):
    def __len__(self):
        return 5

    def __getitem__(self, k):
        return X[8 * k : 8 * k + 8], Y[8 * k : 8 * k + 8]


tell("generator", fit(model(), batches(), batch_size=None, steps_per_epoch=5))
tell("py_dataset", fit(model(), Batches(), batch_size=None, shuffle=False))
tell("workers", fit(model(), Batches(workers=2), batch_size=None, shuffle=False))


class Broken(Batches):
    def __getitem__(self, k):
        if k == 3:
            raise ValueError("broken")
        return super().__getitem__(k)


try:
    fit(model(), Broken(), batch_size=None, shuffle=False)
except tf.errors.InvalidArgumentError as error:
    tell("broken", "ValueError: broken" in str(error))


# --- a step of one's own -------------------------------------------------------------------------
class Own(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(1)
        self.mean, self.error = keras.metrics.Mean(name="loss"), keras.metrics.MeanAbsoluteError()

    def call(self, x):
        return self.dense(x)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            guess = self(x, training=True)
            loss = self.compute_loss(y=y, y_pred=guess)
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply(gradients, self.trainable_variables)
        self.mean.update_state(loss)
        self.error.update_state(y, guess)
        return {"loss": self.mean.result(), "mae": self.error.result()}

    @property
    def metrics(self):
        return [self.mean, self.error]


for options in ({}, {"jit_compile": True}, {"steps_per_execution": 3}, {"run_eagerly": True}):
    keras.utils.set_random_seed(1)
    own = Own()
    own.compile("sgd", "mse", **options)
    tell(f"train_step {options}", fit(own, X, Y))

# --- callbacks -----------------------------------------------------------------------------------
callbacks = keras.callbacks
stop = callbacks.EarlyStopping("val_loss", 0.01, patience=2, restore_best_weights=True)
tell("EarlyStopping", fit(model(), X, Y, epochs=9, validation_split=0.25, callbacks=[stop]))
plateau = callbacks.ReduceLROnPlateau("loss", 0.5, patience=1, min_delta=0.2)
tell("ReduceLROnPlateau", fit(model(), X, Y, epochs=4, callbacks=[plateau]))
written = fit(
    model(), X, Y,
    callbacks=[
        callbacks.LearningRateScheduler(lambda epoch, rate: rate * 0.5),
        callbacks.CSVLogger(f"{FOLDER}/log.csv"),
        callbacks.ModelCheckpoint(FOLDER + "/{epoch}.keras"),
        callbacks.ModelCheckpoint(f"{FOLDER}/last.weights.h5", save_weights_only=True),
        callbacks.TerminateOnNaN(),
    ],
)  # fmt: skip
with open(f"{FOLDER}/log.csv") as file:
    rows = [[float(row["loss"]), float(row["learning_rate"])] for row in csv.DictReader(file)]
tell("files", [written, rows, sorted(os.listdir(FOLDER))])


class Break(callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if epoch == 1:
            raise KeyboardInterrupt


kept = callbacks.BackupAndRestore(f"{FOLDER}/backup")
try:
    fit(model(), X, Y, epochs=4, shuffle=False, callbacks=[kept, Break()])
except KeyboardInterrupt:
    tell("BackupAndRestore", fit(model(), X, Y, epochs=4, shuffle=False, callbacks=[kept]))
