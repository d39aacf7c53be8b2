"""`contextvars.copy_context` runs a tape in a context of its own."""

import contextvars

import tensorflow as tf

scale = contextvars.ContextVar("scale", default=1.0)
v = tf.Variable(2.0)


def step(value):
    scale.set(value)
    with tf.GradientTape() as tape:
        y = v * scale.get()
    return float(tape.gradient(y, v)), scale.get()


context = contextvars.copy_context()
print(context.run(step, 5.0), scale.get(), context[scale])
print(sorted(var.name for var in context if var.name == "scale"), step(7.0), scale.get())
