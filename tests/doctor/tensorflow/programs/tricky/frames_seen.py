"""Frames between the program's own functions, and their locals."""

import inspect
import sys

import tensorflow as tf


def where():
    frame = sys._getframe(1)
    return frame.f_code.co_name, frame.f_lineno, sorted(frame.f_locals)


def step(v, k):
    with tf.GradientTape() as tape:
        y = v * k
        print(where())
    grad = tape.gradient(y, v)
    print([f.function for f in inspect.stack()[:2]], sorted(locals()))
    return grad


@tf.custom_gradient
def double(x):
    depth = len(inspect.stack()) > 2

    def grad(g):
        print("backward", where()[0] != "", depth)
        return 2.0 * g

    return 2.0 * x, grad


v = tf.Variable(2.0)
print(step(v, 3.0).numpy(), inspect.currentframe().f_lineno)
with tf.GradientTape() as tape:
    y = double(v)
print(tape.gradient(y, v).numpy())
