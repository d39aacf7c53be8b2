"""Gradient accumulation: a train_step that applies every n batches, and Keras's own option."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(56)


class GAModel(keras.Model):
    def __init__(self, n_gradients, inputs, outputs):
        super().__init__(inputs=inputs, outputs=outputs)
        self.n_gradients = tf.constant(n_gradients, dtype=tf.int32)
        self.n_acum_step = tf.Variable(0, dtype=tf.int32, trainable=False)
        self.gradient_accumulation = [
            tf.Variable(tf.zeros(v.shape, tf.float32), trainable=False)
            for v in self.trainable_variables
        ]

    def train_step(self, data):
        self.n_acum_step.assign_add(1)
        x, y = data
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.compute_loss(y=y, y_pred=y_pred)
        gradients = tape.gradient(loss, self.trainable_variables)
        for accumulated, gradient in zip(self.gradient_accumulation, gradients):
            accumulated.assign_add(gradient)
        tf.cond(
            tf.equal(self.n_acum_step, self.n_gradients),
            self.apply_accu_gradients,
            lambda: tf.constant(False),
        )
        return {"loss": loss}

    def apply_accu_gradients(self):
        n = tf.cast(self.n_gradients, tf.float32)
        averaged = [accumulated / n for accumulated in self.gradient_accumulation]
        self.optimizer.apply_gradients(zip(averaged, self.trainable_variables))
        self.n_acum_step.assign(0)
        for accumulated in self.gradient_accumulation:
            accumulated.assign(tf.zeros_like(accumulated))
        return tf.constant(True)


def build(kind, *first):
    inputs = keras.Input((5,))
    hidden = keras.layers.Dense(12, activation="relu")(inputs)
    return kind(*first, inputs=inputs, outputs=keras.layers.Dense(1)(hidden))


x = np.random.normal(size=(128, 5)).astype("float32")
y = np.maximum(x[:, :1], 0) - 0.5 * x[:, 1:2]

model = build(GAModel, 4)
model.compile(optimizer=keras.optimizers.SGD(0.1), loss="mse")
history = model.fit(x, y, batch_size=8, epochs=4, verbose=0, shuffle=False)
print("by hand:", [f"{v:.6f}" for v in history.history["loss"]])
print("updates:", int(model.optimizer.iterations))

keras.utils.set_random_seed(56)
other = build(keras.Model)
optimizer = keras.optimizers.SGD(0.1, gradient_accumulation_steps=4)
other.compile(optimizer=optimizer, loss="mse")
history = other.fit(x, y, batch_size=8, epochs=4, verbose=0, shuffle=False)
print("by Keras:", [f"{v:.6f}" for v in history.history["loss"]])

# Clipping, three ways, of the same gradients.
with tf.GradientTape() as tape:
    loss = tf.reduce_mean((other(x) - 5.0 * y) ** 2)
gradients = tape.gradient(loss, other.trainable_variables)
clipped, norm = tf.clip_by_global_norm(gradients, 0.5)
print(f"global norm {float(norm):.5f} -> {float(tf.linalg.global_norm(clipped)):.5f}")
print("by norm:", [f"{float(tf.norm(tf.clip_by_norm(g, 0.1))):.4f}" for g in gradients])
print("by value:", f"{float(tf.reduce_max(tf.clip_by_value(gradients[0], -0.01, 0.01))):.4f}")
for name in ("clipnorm", "clipvalue", "global_clipnorm"):
    keras.optimizers.Adam(0.01, **{name: 0.5}).apply(gradients, other.trainable_variables)
print(f"loss after three clipped steps: {float(tf.reduce_mean((other(x) - y) ** 2)):.6f}")
