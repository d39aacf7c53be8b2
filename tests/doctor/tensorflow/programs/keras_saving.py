"""All the ways to keep a Keras model: .keras, weights, JSON, cloning, pickling, SavedModel."""

import copy
import json
import os
import pickle

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(5)


@keras.utils.register_keras_serializable(package="demo")
class Scale(layers.Layer):
    def __init__(self, start=1.0, **kwargs):
        super().__init__(**kwargs)
        self.start = start

    def build(self, shape):
        self.factor = self.add_weight(
            shape=(shape[-1],), initializer=keras.initializers.Constant(self.start), name="factor"
        )

    def call(self, inputs):
        return inputs * self.factor

    def get_config(self):
        return {**super().get_config(), "start": self.start}


def build():
    inputs = keras.Input((5,), name="inputs")
    h = layers.Dense(8, activation="tanh", name="first")(inputs)
    h = Scale(0.5, name="scale")(h)
    h = layers.BatchNormalization(name="norm")(h)
    outputs = layers.Dense(1, name="last")(h)
    return keras.Model(inputs, outputs, name="keeper")


model = build()
model.compile(optimizer="rmsprop", loss="mse")
x = np.random.normal(size=(96, 5)).astype("float32")
y = x.mean(axis=1, keepdims=True)
history = model.fit(x, y, epochs=3, batch_size=16, verbose=0)
print("losses", [f"{v:.6f}" for v in history.history["loss"]])
expected = model.predict(x, verbose=0)

model.save("model.keras")
model.save_weights("model.weights.h5")
with open("model.json", "w") as file:
    file.write(json.dumps(json.loads(model.to_json()), indent=1))
model.export("serving", verbose=False)
print(sorted(os.listdir(".")))

loaded = keras.models.load_model("model.keras")
print("loaded:", np.array_equal(loaded.predict(x, verbose=0), expected))
fresh = build()
fresh.load_weights("model.weights.h5")
print("weights:", np.array_equal(fresh.predict(x, verbose=0), expected))
clone = keras.models.clone_model(model)
clone.set_weights(model.get_weights())
print("clone:", np.array_equal(clone.predict(x, verbose=0), expected))
again = keras.models.model_from_json(open("model.json").read())
print("json:", [layer.name for layer in again.layers])
deep = copy.deepcopy(model)
print("deep copy:", np.array_equal(deep.predict(x, verbose=0), expected))
thawed = pickle.loads(pickle.dumps(model))
print("pickle:", np.array_equal(thawed.predict(x, verbose=0), expected))
served = tf.saved_model.load("serving")
print("served:", np.allclose(served.serve(x), expected, atol=1e-6))
print("config:", model.get_layer("scale").get_config())

# The optimizer's state came along: both go on in the same way.
for one in (model, loaded):
    history = one.fit(x, y, batch_size=16, verbose=0, shuffle=False)
    print("goes on:", f"{history.history['loss'][0]:.7f}")
