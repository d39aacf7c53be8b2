"""Compiled text with a file name of its own, and its lines in tracebacks."""

import linecache
import traceback

import tensorflow as tf

text = "def loss(v):\n    y = v * v\n    if bad:\n        raise ValueError('bad')\n    return y\n"
linecache.cache["<made>"] = (len(text), None, text.splitlines(True), "<made>")
space = {"bad": False}
exec(compile(text, "<made>", "exec"), space)
v = tf.Variable(3.0)
with tf.GradientTape() as tape:
    y = space["loss"](v)
print(tape.gradient(y, v).numpy(), linecache.getline("<made>", 2))
space["bad"] = True
try:
    with tf.GradientTape():
        space["loss"](v)
except ValueError as error:
    print([(f.name, f.lineno, f.line) for f in traceback.extract_tb(error.__traceback__)])
print(space["loss"].__code__.co_filename, sorted(k for k in space if k[0] != "_"))
