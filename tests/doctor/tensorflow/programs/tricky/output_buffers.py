"""How standard output and error are buffered and encoded."""

import sys

import tensorflow as tf

v = tf.Variable(2.0)
with tf.GradientTape() as tape:
    y = v * v
for stream in (sys.stdout, sys.stderr):
    print(stream.name, stream.mode, stream.encoding, stream.errors, stream.fileno())
    print(stream.line_buffering, stream.write_through, stream.isatty(), stream.newlines)
    print(type(stream).__name__, type(stream.buffer).__name__)
sys.stdout.reconfigure(encoding="utf-8", line_buffering=True)
print("é", tape.gradient(y, v).numpy(), sys.stdout.line_buffering)
sys.stdout.buffer.write(b"bytes\n")
