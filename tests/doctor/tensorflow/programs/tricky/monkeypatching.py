"""A program that patches TensorFlow's functions, and takes the patch back."""

import tensorflow as tf

before, calls = tf.GradientTape.gradient, []


def patched(self, *args, **kwargs):
    calls.append(len(args))
    return before(self, *args, **kwargs)


tf.GradientTape.gradient = patched
v = tf.Variable(2.0)
with tf.GradientTape() as tape:
    y = v * v
print(tape.gradient(y, v).numpy(), calls)
tf.GradientTape.gradient = before
print(tf.GradientTape.gradient is before)
square, tf.square = tf.square, lambda x: x * x
with tf.GradientTape() as tape:
    y = tf.square(v)
print(tape.gradient(y, v).numpy())
tf.square = square
