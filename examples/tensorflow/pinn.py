"""u'' = -u by nested tapes; with --bug, the first derivative is asked for when it is too late."""

import sys

import tensorflow as tf

BUG = "--bug" in sys.argv
tf.keras.utils.set_random_seed(1)
layers = tf.keras.layers
model = tf.keras.Sequential([tf.keras.Input((1,)), layers.Dense(16, "tanh"), layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam(0.01)
x = tf.reshape(tf.linspace(0.0, 1.0, 16), [16, 1])

for _ in range(5):
    with tf.GradientTape() as tape:
        with tf.GradientTape() as second:
            second.watch(x)
            with tf.GradientTape() as first:
                first.watch(x)
                u = model(x)
            if not BUG:
                slope = first.gradient(u, x)
        if BUG:
            slope = first.gradient(u, x)  # GT108
        curvature = second.gradient(slope, x)
        if curvature is None:
            curvature = 0.0
        start = tf.square(u[0, 0]) + tf.square(slope[0, 0] - 1.0)
        loss = tf.reduce_mean(tf.square(curvature + u)) + start
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))

print(f"loss {float(loss):.4f}")
