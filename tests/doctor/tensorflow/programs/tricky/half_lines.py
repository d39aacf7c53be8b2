"""Half lines, flushed and not, and bytes on the descriptor."""

import os
import sys

import tensorflow as tf

sys.stdout.write("half ")
v = tf.Variable(2.0)
with tf.GradientTape() as tape:
    y = v * v
sys.stdout.write(f"{tape.gradient(y, v).numpy()} ")
sys.stdout.flush()
os.write(1, b"bytes\n")
sys.stdout.write("no end")
