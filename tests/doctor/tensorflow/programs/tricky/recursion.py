"""The recursion limit leaves as much room."""

import sys

import tensorflow as tf


def deep(v, n):
    return v if n == 0 else deep(v, n - 1) * 1.0


sys.setrecursionlimit(600)
v = tf.Variable(2.0)
with tf.GradientTape() as tape:
    y = deep(v, 400)
print(tape.gradient(y, v).numpy(), sys.getrecursionlimit())
try:
    deep(v, 10_000)
except RecursionError as error:
    print(type(error).__name__)
