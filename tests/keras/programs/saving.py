"""Models that are saved and restored: a line for each way, a name and what came of it, as JSON."""

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


def sequential():
    keras.utils.set_random_seed(1)
    layers = [keras.layers.Dense(8, "relu"), keras.layers.BatchNormalization()]
    made = keras.Sequential([keras.Input((4,)), *layers, keras.layers.Dense(1, "sigmoid")])
    made.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    return made


def functional():
    keras.utils.set_random_seed(1)
    given = keras.Input((4,))
    both = keras.layers.Add()([keras.layers.Dense(3)(given), keras.layers.Dense(3)(given)])
    made = keras.Model(given, keras.layers.Dense(1, activation="sigmoid")(both))
    made.compile("rmsprop", "binary_crossentropy")
    return made


class Subclassed(keras.Model):
    def __init__(self):
        super().__init__()
        self.rows = [keras.layers.Dense(3), keras.layers.Dense(1)]
        self.named = {"last": keras.layers.Dense(1)}
        self.count = tf.Variable(2.0)

    def call(self, x):
        for layer in self.rows:
            x = layer(x)
        return x + self.named["last"](x)


def subclassed():
    keras.utils.set_random_seed(1)
    made = Subclassed()
    made.compile(keras.optimizers.SGD(momentum=0.9), "mse")
    return made


def train(model, epochs=1):
    return model.fit(X, Y, epochs=epochs, batch_size=8, shuffle=False, verbose=0).history


def equal(first, second):
    pairs = [(first.weights, second.weights)]
    pairs.append((first.optimizer.variables, second.optimizer.variables))
    return [all(map(np.array_equal, one, other)) for one, other in pairs]


# --- files ---------------------------------------------------------------------------------------
for make in (sequential, functional):
    model, name = make(), make.__name__
    train(model, 2)
    for ending in ("keras", "h5"):
        model.save(f"{FOLDER}/{name}.{ending}")
        loaded = keras.models.load_model(f"{FOLDER}/{name}.{ending}")
        tell(f"{name}.{ending}", [equal(model, loaded)[0], loaded.evaluate(X, Y, verbose=0)])
    tell(f"{name} goes on", train(keras.models.load_model(f"{FOLDER}/{name}.keras")))
    model.save_weights(f"{FOLDER}/{name}.weights.h5")
    other = make()
    other.load_weights(f"{FOLDER}/{name}.weights.h5")
    tell(f"{name}.weights.h5", equal(model, other)[0])
    parsed = keras.models.model_from_json(model.to_json())
    parsed.set_weights(model.get_weights())
    cloned = keras.models.clone_model(model)
    cloned.set_weights(model.get_weights())
    tell(f"{name} again", [one.predict(X[:3], verbose=0) for one in (model, parsed, cloned)])

# --- checkpoints ---------------------------------------------------------------------------------
for make in (sequential, functional, subclassed):
    for parts in (
        lambda model: {"model": model},
        lambda model: {"model": model, "optimizer": model.optimizer, "step": tf.Variable(1)},
    ):
        model = make()
        train(model, 2)
        path = tf.train.Checkpoint(**parts(model)).save(f"{FOLDER}/{make.__name__}/c")
        names = sorted(name for name, _ in tf.train.list_variables(path))
        built = make()
        train(built)
        status = tf.train.Checkpoint(**parts(built)).restore(path)
        status.assert_consumed().assert_existing_objects_matched()
        fresh = make()  # its weights, or the slots of its optimizer, are made later
        tf.train.Checkpoint(**parts(fresh)).restore(path)
        later = train(fresh)
        tell(f"checkpoint {make.__name__}", [names, equal(model, built), later, train(model)])

# --- what is not here ----------------------------------------------------------------------------
if tf.__name__ == "gradtape":
    told = ""
    try:
        sequential().export(f"{FOLDER}/exported")
    except AttributeError as error:
        told = str(error)
    assert "model.save('model.keras')" in told
