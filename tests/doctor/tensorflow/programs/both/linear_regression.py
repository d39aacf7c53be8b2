"""Linear regression from scratch: a module, a loss, a loop, the closed form beside it."""

import numpy as np
import tensorflow as tf

TRUE_W, TRUE_B, NUM_EXAMPLES = 3.0, 2.0, 201

rng = np.random.default_rng(0)
x = tf.constant(np.linspace(-2, 2, NUM_EXAMPLES), tf.float32)
noise = tf.constant(rng.normal(size=NUM_EXAMPLES), tf.float32)


def f(x):
    return x * TRUE_W + TRUE_B


y = f(x) + noise


class MyModel(tf.Module):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.w = tf.Variable(5.0)
        self.b = tf.Variable(0.0)

    def __call__(self, x):
        return self.w * x + self.b


def loss(target_y, predicted_y):
    return tf.reduce_mean(tf.square(target_y - predicted_y))


def train(model, x, y, learning_rate):
    with tf.GradientTape() as t:
        current_loss = loss(y, model(x))
    dw, db = t.gradient(current_loss, [model.w, model.b])
    model.w.assign_sub(learning_rate * dw)
    model.b.assign_sub(learning_rate * db)


def report(model, loss):
    return f"W = {model.w.numpy():1.2f}, b = {model.b.numpy():1.2f}, loss={loss:2.4f}"


def training_loop(model, x, y, epochs):
    weights, biases = [], []
    for epoch in epochs:
        train(model, x, y, learning_rate=0.1)
        weights.append(model.w.numpy())
        biases.append(model.b.numpy())
        print(f"Epoch {epoch:2d}:")
        print("    ", report(model, loss(y, model(x))))
    return weights, biases


model = MyModel()
print("Variables:", sorted(tuple(v.shape) for v in model.variables))
print("Starting:")
print("    ", report(model, loss(y, model(x))))
weights, biases = training_loop(model, x, y, range(10))

design = tf.stack([x, tf.ones_like(x)], axis=1)
exact = tf.linalg.lstsq(design, y[:, tf.newaxis], fast=False)
print("closed form:", np.round(exact.numpy().ravel(), 2))
with open("weights.csv", "w") as file:
    for w, b in zip(weights, biases):
        file.write(f"{w:.3f},{b:.3f}\n")
