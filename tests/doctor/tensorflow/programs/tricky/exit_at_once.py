"""`os._exit` runs no handler and flushes nothing."""

import atexit
import os

import tensorflow as tf

atexit.register(print, "never")
v = tf.Variable(2.0)
with tf.GradientTape() as tape:
    y = v * v
print(tape.gradient(y, v).numpy(), flush=True)
print("not flushed", end="")
os._exit(3)
