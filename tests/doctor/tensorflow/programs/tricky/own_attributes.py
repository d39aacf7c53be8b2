"""`__main__`, `sys.argv`, `sys.path`, `dir()`."""

import sys

import tensorflow as tf

v = tf.Variable(1.0)
with tf.GradientTape() as tape:
    y = v * 2.0
tape.gradient(y, v)
print(__name__, __spec__, __package__, __doc__, sorted(globals()))
print(sys.argv[1:], sys.flags.interactive, sys.getrecursionlimit(), sys.dont_write_bytecode)
print(sys.modules["__main__"].__dict__ is globals(), sys.path[0].endswith("tricky"))
print(sorted(vars(tape)) == sorted(vars(tf.GradientTape())), type(v).__name__)
