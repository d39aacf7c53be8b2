"""Standard output is exchanged inside of a tape."""

import contextlib
import io
import sys

import tensorflow as tf


class Upper(io.TextIOBase):
    def __init__(self, stream):
        self.stream = stream

    def write(self, text):
        return self.stream.write(text.upper())


v = tf.Variable(2.0)
text = io.StringIO()
with contextlib.redirect_stdout(text), tf.GradientTape() as tape:
    y = v * v
    print("inside", y.numpy())
print(repr(text.getvalue()))
sys.stdout = Upper(sys.__stdout__)
print("gradient", tape.gradient(y, v).numpy())
sys.stdout = sys.__stdout__
with contextlib.redirect_stderr(text):
    print("to text", file=sys.stderr)
print(text.getvalue().splitlines(), sys.stderr is sys.__stderr__)
