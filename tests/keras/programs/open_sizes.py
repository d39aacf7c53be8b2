"""Functional models whose batch size, or another one, is open: what functions make of it."""

import json

import keras
import numpy as np
import tensorflow as tf
from keras import ops


class Function(keras.layers.Layer):
    """A function of a tensor as a layer."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def call(self, x):
        return self.function(x)


FUNCTIONS = {
    "split": ((6,), lambda x: tf.split(x, 3, axis=1)),
    "split of the batch": ((6,), lambda x: tf.split(x, 2)),
    "split of an odd batch": ((6,), lambda x: tf.split(x, 3)),
    "split by sizes": ((6,), lambda x: tf.split(x, [2, 4], axis=-1)),
    "split of the batch by sizes": ((6,), lambda x: tf.split(x, [1, -1])),
    "split of the batch by wrong sizes": ((6,), lambda x: tf.split(x, [20, -1])),
    "split of steps": ((None, 3), lambda x: tf.split(x, 2, axis=1)),
    "split of channels": ((None, 3), lambda x: tf.split(x, 3, axis=2)),
    "einsum": ((4, 3), lambda x: tf.einsum("bij,bkj->bik", x, x)),
    "einsum over the batch": ((4, 3), lambda x: tf.einsum("bij->ij", x)),
    "einsum of dots": ((4, 3), lambda x: tf.einsum("...ij,jk->...ik", x, tf.ones([3, 5]))),
    "einsum of open steps": ((None, 3), lambda x: tf.einsum("bij,bkj->bik", x, x)),
    "einsum of a diagonal": ((None, None), lambda x: tf.einsum("bii->bi", x)),
    "stack": ((4,), lambda x: tf.stack([x, x])),
    "stack in the middle": ((4,), lambda x: tf.stack([x, 2 * x], axis=1)),
    "stack of open steps": ((None, 3), lambda x: tf.stack([x, x], 2)),
    "unstack": ((4, 3), lambda x: tf.unstack(x, axis=1)),
    "unstack of the batch": ((4, 3), lambda x: tf.unstack(x, 2)),
    "unstack of an odd batch": ((4, 3), lambda x: tf.unstack(x, 3)),
    "unstack without a number": ((4, 3), lambda x: tf.unstack(x)),
    "unstack of steps": ((None, 3), lambda x: tf.unstack(x, axis=1)),
    "unstack and stack": ((4, 3), lambda x: tf.stack(tf.unstack(x, axis=1), 0)),
    "ops.split": ((6,), lambda x: ops.split(x, 3, axis=1)),
    "ops.einsum": ((4, 3), lambda x: ops.einsum("bij,bkj->bik", x, x)),
    "ops.stack": ((4,), lambda x: ops.stack([x, x], axis=1)),
    "ops.unstack": ((4, 3), lambda x: ops.unstack(x, axis=1)),
}
for name, (shape, function) in FUNCTIONS.items():
    steps = [4 if n is None else n for n in shape]
    data = np.arange(2 * np.prod(steps), dtype="float32").reshape(2, *steps)
    try:
        inputs = keras.Input(shape)
        outputs = Function(function)(inputs)
        model = keras.Model(inputs, outputs)
    except Exception:
        print(json.dumps([name, "is refused"]))
        continue
    print(json.dumps([name, [tuple(part.shape) for part in tf.nest.flatten(outputs)]]))
    try:
        results = tf.nest.flatten(model(data))
    except Exception:
        print(json.dumps([f"{name}, called", "not for these numbers"]))
        continue
    sums = [(tuple(part.shape), float(tf.reduce_sum(part * part))) for part in results]
    print(json.dumps([f"{name}, called", sums]))
