"""`code.InteractiveInterpreter` and `doctest` run the program's texts."""

import code
import doctest
import sys
import types

import tensorflow as tf

space = {"tf": tf, "__name__": "console"}
shell = code.InteractiveInterpreter(space)
for text in (
    "v = tf.Variable(2.0)",
    "with tf.GradientTape() as t:\n    y = v * v\n",
    "t.gradient(y, v).numpy()",
):
    print(shell.runsource(text, symbol="single"))
shell.runsource("1 / 0")
module = types.ModuleType("documented")
module.__doc__ = """
>>> import tensorflow as tf
>>> v = tf.Variable(3.0)
>>> with tf.GradientTape() as tape:
...     y = v * v
>>> float(tape.gradient(y, v))
6.0
"""
print(doctest.testmod(module), sys.displayhook is sys.__displayhook__)
