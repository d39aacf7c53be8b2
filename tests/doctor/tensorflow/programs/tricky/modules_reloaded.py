"""A module that is written anew and reloaded."""

import importlib
import os
import pathlib
import sys

import tensorflow as tf

sys.dont_write_bytecode = True
sys.path.insert(0, os.getcwd())
text = "import tensorflow as tf\ndef loss(v):\n    return v * {}\n"
file = pathlib.Path("reloaded_loss.py")
v = tf.Variable(2.0)
file.write_text(text.format("3.0"))
import reloaded_loss  # noqa: E402

for factor in ("3.0", "55.0"):
    file.write_text(text.format(factor))
    importlib.invalidate_caches()
    before = reloaded_loss.loss
    module = importlib.reload(reloaded_loss)
    with tf.GradientTape() as tape:
        y = module.loss(v)
    print(tape.gradient(y, v).numpy(), module is reloaded_loss, module.loss is before)
print(module.loss.__code__.co_firstlineno, module.__file__.rsplit("/", 1)[-1])
