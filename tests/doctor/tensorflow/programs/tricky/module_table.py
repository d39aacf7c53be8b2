"""`sys.modules` and `sys.path` hold what the program imported."""

import pathlib
import sys

import tensorflow as tf

pathlib.Path("beside.py").write_text("value = 4.0\n")
sys.path.insert(0, ".")
import beside  # noqa: E402

v = tf.Variable(beside.value)
with tf.GradientTape() as tape:
    y = v * v
print(tape.gradient(y, v).numpy(), sys.modules["beside"] is beside, beside.__name__)
print(sys.path[0], sys.path[1].rsplit("/", 1)[-1], len(sys.path), len(set(sys.path)))
print(
    sys.modules["tensorflow"] is tf, sys.modules["__main__"].__name__, "__mp_main__" in sys.modules
)
print([type(f).__name__ for f in sys.path_hooks], sys.path_importer_cache is not None)
