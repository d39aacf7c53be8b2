"""Temporary files are the program's own."""

import os
import tempfile

import tensorflow as tf

tempfile.tempdir = os.getcwd()
before = sorted(os.listdir("."))
v = tf.Variable([1.0, 2.0])
with tempfile.NamedTemporaryFile("w+", suffix=".txt") as file:
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(v * v)
    print(tape.gradient(y, v).numpy(), file=file)
    file.seek(0)
    print(file.read().strip(), len(os.listdir(".")) - len(before))
print(sorted(os.listdir(".")) == before, os.path.basename(tempfile.gettempdir()))
