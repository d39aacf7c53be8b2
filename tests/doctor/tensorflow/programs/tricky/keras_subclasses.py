"""Layers and models that override what Keras calls."""

import tensorflow as tf

calls = []


class Dense(tf.keras.layers.Dense):
    def __call__(self, *args, **kwargs):
        calls.append("call of " + self.name)
        return super().__call__(*args, **kwargs)

    def add_weight(self, *args, **kwargs):
        calls.append("weight")
        return super().add_weight(*args, **kwargs)


class Model(tf.keras.Model):
    def __init__(self):
        super().__init__(name="own")
        self.first, self.last = Dense(4, activation="tanh", name="first"), Dense(1, name="last")

    def call(self, x):
        return self.last(self.first(x))

    def compute_loss(self, *args, **kwargs):
        calls.append("loss")
        return super().compute_loss(*args, **kwargs)


tf.keras.utils.set_random_seed(0)
model = Model()
model.compile("sgd", "mse")
x = tf.random.normal([16, 3])
history = model.fit(x, tf.reduce_sum(x, 1, keepdims=True), epochs=2, batch_size=8, verbose=0)
print(calls, history.history["loss"], [w.path for w in model.weights])
