"""`__main__` is a script's."""

from __future__ import annotations

import argparse
import sys

import tensorflow as tf

rate: float = 0.1
v: tf.Variable = tf.Variable(1.0)
with tf.GradientTape() as tape:
    y = v * rate
print(tape.gradient(y, v).numpy())
main = sys.modules["__main__"]
print(__file__ == sys.argv[0], __file__.rsplit("/", 2)[1:], len(sys.argv), __annotations__)
print(
    __builtins__ is sys.modules["builtins"],
    type(__loader__).__name__,
    main.__loader__.path == __file__,
)
print(argparse.ArgumentParser().prog, getattr(main, "__cached__", None), sys.orig_argv[0] != "")
print(list(vars(main))[:10])
