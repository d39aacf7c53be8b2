"""The filters of warnings are the program's."""

import warnings

show, form = warnings.showwarning, warnings.formatwarning

import tensorflow as tf  # noqa: E402


def pattern(text):
    return getattr(text, "pattern", text)


v = tf.Variable(1.0)
with tf.GradientTape() as tape:
    y = v * 2.0
print(tape.gradient(y, v).numpy())
print(warnings.showwarning is show, warnings.formatwarning is form)
for f in warnings.filters:
    print(f[0], pattern(f[1]), f[2].__name__, pattern(f[3]), f[4])
