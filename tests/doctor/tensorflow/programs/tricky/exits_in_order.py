"""Exit handlers run in their order."""

import atexit

import tensorflow as tf

v = tf.Variable(1.0)
atexit.register(print, "registered first, runs last")


def last():
    with tf.GradientTape() as tape:
        y = v * 5.0
    print("at exit", tape.gradient(y, v).numpy())


atexit.register(last)
with tf.GradientTape() as tape:
    y = v * 2.0
print(tape.gradient(y, v).numpy())
