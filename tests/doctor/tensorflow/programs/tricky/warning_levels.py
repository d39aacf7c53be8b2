"""`stacklevel` counts the frames of the program, and a warning is shown once."""

import warnings

import tensorflow as tf


def old(v):
    warnings.warn("old is old", DeprecationWarning, stacklevel=2)
    return v * 2.0


def outer(v):
    return old(v)


v = tf.Variable(1.0)
for _ in range(3):
    with tf.GradientTape() as tape:
        y = outer(v) * old(v)
    print(tape.gradient(y, v).numpy())
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    with tf.GradientTape() as tape:
        y = outer(v)
        warnings.warn("from the module", UserWarning, stacklevel=1)
    tape.gradient(y, v)
print([(w.lineno, w.filename.rsplit("/", 1)[-1], str(w.message)) for w in caught])
print(sorted(str(key[:1]) for key in __warningregistry__ if key != "version"))
