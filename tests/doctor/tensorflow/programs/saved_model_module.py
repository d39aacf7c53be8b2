"""A tf.Module is trained, exported as a SavedModel with signatures, loaded and trained on."""

import os

import numpy as np
import tensorflow as tf

tf.random.set_seed(1)


class Dense(tf.Module):
    def __init__(self, inputs, outputs, name=None):
        super().__init__(name=name)
        initial = tf.random.stateless_normal([inputs, outputs], seed=[inputs, outputs])
        self.w = tf.Variable(initial * inputs**-0.5, name="w")
        self.b = tf.Variable(tf.zeros([outputs]), name="b")

    def __call__(self, x):
        return x @ self.w + self.b


class Regressor(tf.Module):
    def __init__(self):
        super().__init__()
        self.hidden = Dense(3, 12)
        self.out = Dense(12, 1)
        self.steps = tf.Variable(0, trainable=False, dtype=tf.int64)

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, name="x")])
    def __call__(self, x):
        return self.out(tf.nn.relu(self.hidden(x)))

    @tf.function(
        input_signature=[
            tf.TensorSpec([None, 3], tf.float32, name="x"),
            tf.TensorSpec([None, 1], tf.float32, name="y"),
        ]
    )
    def train(self, x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self(x) - y) ** 2)
        gradients = tape.gradient(loss, self.trainable_variables)
        for variable, gradient in zip(self.trainable_variables, gradients):
            variable.assign_sub(0.05 * gradient)
        self.steps.assign_add(1)
        return loss


rng = np.random.default_rng(0)
x = rng.uniform(-1, 1, size=(64, 3)).astype("float32")
y = (x[:, :1] * x[:, 1:2] + x[:, 2:]).astype("float32")

module = Regressor()
for step in range(20):
    loss = module.train(x, y)
print("trained:", f"{float(loss):.6f}", "after", int(module.steps), "steps")

tf.saved_model.save(
    module,
    "exported",
    signatures={"predict": module.__call__.get_concrete_function()},
)
print(sorted(os.listdir("exported")))

loaded = tf.saved_model.load("exported")
print("signatures:", list(loaded.signatures))
same = np.array_equal(loaded(tf.constant(x)).numpy(), module(tf.constant(x)).numpy())
print("the same predictions:", same)

# What was loaded can be trained on, by its own function and by a tape from outside.
for _ in range(10):
    loss = loaded.train(tf.constant(x), tf.constant(y))
print("trained on:", f"{float(loss):.6f}", "after", int(loaded.steps), "steps")
with tf.GradientTape() as tape:
    loss = tf.reduce_mean((loaded(tf.constant(x)) - y) ** 2)
norms = [f"{float(tf.norm(g)):.5f}" for g in tape.gradient(loss, [loaded.out.w, loaded.out.b])]
print("norms:", norms)
