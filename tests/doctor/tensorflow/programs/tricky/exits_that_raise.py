"""An exit handler that raises, and what stands in its traceback."""

import atexit

import tensorflow as tf

v = tf.Variable(1.0)


def broken():
    raise ValueError("at exit")


atexit.register(print, "the other handler")
atexit.register(broken)
with tf.GradientTape() as tape:
    y = v * 2.0
print(tape.gradient(y, v).numpy())
