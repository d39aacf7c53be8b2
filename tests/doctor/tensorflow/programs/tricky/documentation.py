"""Docstrings, annotations and modules of methods."""

import inspect
import zlib

import tensorflow as tf

v = tf.Variable(1.0)
for owner in (tf.GradientTape, type(v)):
    for name, member in sorted(vars(owner).items()):
        if inspect.isfunction(member) and not name.startswith("_"):
            text = inspect.getdoc(member) or ""
            print(name, zlib.crc32(text.encode()), member.__module__, member.__qualname__)
print(sorted(getattr(tf.GradientTape.gradient, "__annotations__", {})))
