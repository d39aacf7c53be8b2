"""A forked child computes, and only the parent has a report."""

import os

import tensorflow as tf

v = tf.Variable(3.0)
child = os.fork()
if child == 0:
    os._exit(7)
_, status = os.waitpid(child, 0)
with tf.GradientTape() as tape:
    y = v * v
print(os.waitstatus_to_exitcode(status), tape.gradient(y, v).numpy())
