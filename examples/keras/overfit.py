"""Overfitting, and three remedies: a smaller model, regularization, and stopping early."""

import numpy as np
from tensorflow import keras
from tensorflow.keras import layers, regularizers

keras.utils.set_random_seed(3)
rng = np.random.default_rng(3)

# Two classes that overlap: 20 features, of which only the sum of the first four tells something.
x = rng.normal(size=(400, 20)).astype("float32")
y = (x[:, :4].sum(axis=1) + rng.normal(0.0, 1.5, 400) > 0).astype("float32")[:, None]
train, validation = (x[:120], y[:120]), (x[120:], y[120:])


def network(units, penalty=None, dropout=0.0):
    model = keras.Sequential([keras.Input((20,))])
    for _ in range(2):
        model.add(layers.Dense(units, "elu", kernel_regularizer=penalty))
        model.add(layers.Dropout(dropout))
    model.add(layers.Dense(1))
    return model


def train_and_tell(name, model, callbacks=()):
    schedule = keras.optimizers.schedules.InverseTimeDecay(0.005, decay_steps=40, decay_rate=1.0)
    model.compile(
        optimizer=keras.optimizers.Adam(schedule),
        loss=keras.losses.BinaryCrossentropy(from_logits=True),
        metrics=[keras.metrics.BinaryCrossentropy(from_logits=True, name="entropy")],
    )
    history = model.fit(
        *train,
        batch_size=24,
        epochs=20,
        validation_data=validation,
        callbacks=list(callbacks),
        verbose=0,
    ).history
    print(
        f"{name:11}   {len(history['loss']):2} epochs   loss {history['loss'][-1]:.6f}"
        f"   entropy {history['entropy'][-1]:.6f}   val_entropy {history['val_entropy'][-1]:.6f}"
    )


train_and_tell("small", network(2))
train_and_tell("large", network(64))
train_and_tell("regularized", network(64, regularizers.L2(0.01), dropout=0.5))

patience = keras.callbacks.EarlyStopping("val_entropy", patience=3, restore_best_weights=True)
stopped = network(64)
train_and_tell("stopped", stopped, [patience])
results = stopped.evaluate(*validation, verbose=0, return_dict=True)
print(f"back to epoch {patience.best_epoch + 1}   val_entropy {results['entropy']:.6f}")
