"""A module that lies in an archive."""

import inspect
import sys
import zipfile

import tensorflow as tf

with zipfile.ZipFile("archive.zip", "w") as archive:
    info = zipfile.ZipInfo("zipped_loss.py", (2020, 1, 1, 0, 0, 0))
    archive.writestr(info, "def loss(v):\n    return v * v * 3.0\n")
sys.path.insert(0, "archive.zip")
import zipped_loss

v = tf.Variable(2.0)
with tf.GradientTape() as tape:
    y = zipped_loss.loss(v)
print(tape.gradient(y, v).numpy(), type(zipped_loss.__loader__).__name__)
print(inspect.getsource(zipped_loss.loss))
