"""`sys.settrace` sees the program's own lines."""

import sys

import tensorflow as tf

lines = []


def trace(frame, event, arg):
    if frame.f_globals.get("__name__") != "__main__":
        return None
    lines.append((event, frame.f_lineno))
    return trace


def step():
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = v * v
    return tape.gradient(y, v)


sys.settrace(trace)
found = step()
sys.settrace(None)
print(found.numpy(), lines)
