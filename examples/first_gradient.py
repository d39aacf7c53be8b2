"""Fits a line to five points by gradient descent: a whole training loop on one screen."""

import tensorflow as tf

x = tf.constant([0.0, 1.0, 2.0, 3.0, 4.0])
y = tf.constant([1.0, 3.0, 5.0, 7.0, 9.0])  # y = 2 x + 1, which the loop is to find out

derivative = tf.Variable(0.0)
offset = tf.Variable(0.0)

for step in range(126):
    with tf.GradientTape() as tape:
        error = derivative * x + offset - y
        loss = tf.reduce_mean(error**2)

    # How does the loss change with each parameter? Take a small step the other way.
    slope_gradient, offset_gradient = tape.gradient(loss, [derivative, offset])
    derivative.assign_sub(0.1 * slope_gradient)
    offset.assign_sub(0.1 * offset_gradient)

    if step % 25 == 0:
        print(f"step {step:3}   loss {loss.numpy():10.7f}")

print(f"y = {derivative.numpy():.3f} x + {offset.numpy():.3f}")
