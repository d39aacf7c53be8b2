"""A tape in a generator that is left in the middle."""

import tensorflow as tf


def steps(v):
    for k in range(3):
        with tf.GradientTape() as tape:
            y = v * float(k)
        yield tape.gradient(y, v)


v = tf.Variable(1.0)
print([g.numpy() for g in steps(v)])
some = steps(v)
next(some)
print(next(some).numpy())
some.close()
