"""What a tape's `__exit__` is given and returns."""

import contextlib

import tensorflow as tf

v = tf.Variable(2.0)
tape = tf.GradientTape()
print(tape.__enter__() is tape)
y = v * v
print(tape.__exit__(None, None, None), tape.gradient(y, v).numpy())
with contextlib.ExitStack() as stack:
    tapes = [stack.enter_context(tf.GradientTape()) for _ in range(3)]
    y = v**3
print([t.gradient(y, v).numpy() for t in tapes])
with contextlib.suppress(ZeroDivisionError), tf.GradientTape() as tape:
    y = v * v
    raise ZeroDivisionError
print(tape.gradient(y, v).numpy())
with tf.GradientTape(persistent=True) as tape:
    a = v * 2.0
    with tape.stop_recording():
        b = v * 3.0
    tape.reset()
    c = v * 4.0
print(tape.gradient(c, v).numpy(), b.numpy(), [w is v for w in tape.watched_variables()])
