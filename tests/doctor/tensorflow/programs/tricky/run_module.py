"""`runpy` runs another file."""

import pathlib
import runpy

import tensorflow as tf

path = pathlib.Path("other.py")
path.write_text("import tensorflow as tf\nv = tf.Variable(2.0)\nname = __name__\n")
found = runpy.run_path(str(path), run_name="other")
with tf.GradientTape() as tape:
    y = found["v"] ** 3
print(found["name"], tape.gradient(y, found["v"]).numpy())
