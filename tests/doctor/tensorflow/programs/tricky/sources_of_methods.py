"""`inspect.getsource`, `getfile` and `getmodule` of what the doctor listens to."""

import hashlib
import inspect

import tensorflow as tf

v = tf.Variable(1.0)
for thing in (
    tf.GradientTape.gradient, tf.GradientTape.jacobian, tf.GradientTape.watch,
    tf.GradientTape.__enter__, tf.GradientTape.__exit__, tf.GradientTape,
    type(v).assign, type(v).assign_add, type(v).assign_sub,
):  # fmt: skip
    lines, first = inspect.getsourcelines(thing)
    digest = hashlib.sha256("".join(lines).encode()).hexdigest()[:12]
    print(thing.__qualname__, first, len(lines), digest, inspect.getmodule(thing).__name__)
    print(inspect.getfile(thing).rsplit("/", 2)[-1])
