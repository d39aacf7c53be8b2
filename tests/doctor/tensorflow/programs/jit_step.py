"""A training step that XLA compiles as a whole, and a Keras model with jit_compile."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

tf.random.set_seed(0)

TRUE_W = tf.constant([[1.5], [-2.0], [0.5]])
x = tf.random.stateless_normal([128, 3], seed=[1, 2])
y = x @ TRUE_W + 0.3

w = tf.Variable(tf.zeros([3, 1]))
b = tf.Variable(tf.zeros([1]))


@tf.function(jit_compile=True)
def train_step(x, y, rate):
    with tf.GradientTape() as tape:
        error = x @ w + b - y
        loss = tf.reduce_mean(error * error)
    dw, db = tape.gradient(loss, [w, b])
    w.assign_sub(rate * dw)
    b.assign_sub(rate * db)
    return loss


for step in range(40):
    loss = train_step(x, y, tf.constant(0.1))
    if step % 10 == 0:
        print(f"step {step:3d}: loss {loss.numpy():.6f}")
print("weights", np.round(w.numpy().ravel(), 3), "bias", np.round(b.numpy(), 3))


@tf.function(jit_compile=True)
def penalty(values):
    """The gradient's norm of a compiled function, asked from outside."""
    return tf.reduce_sum(tf.math.log1p(values**2))


with tf.GradientTape() as tape:
    out = penalty(w)
print("penalty", f"{float(out):.5f}", np.round(tape.gradient(out, w).numpy().ravel(), 4))

keras.utils.set_random_seed(8)
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(16, "gelu"), keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.SGD(0.05), loss="mse", jit_compile=True)
history = model.fit(x.numpy(), y.numpy(), epochs=4, batch_size=32, verbose=2)
print("jit:", model.jit_compile, [f"{v:.4f}" for v in history.history["loss"]])
