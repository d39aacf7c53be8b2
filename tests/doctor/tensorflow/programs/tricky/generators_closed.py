"""Closing a generator and throwing into it inside of a tape."""

import tensorflow as tf

v = tf.Variable(2.0)
events = []


def steps():
    try:
        with tf.GradientTape() as tape:
            y = v * v
            received = yield "first"
            y = y * received
        yield tape.gradient(y, v).numpy()
    except GeneratorExit:
        events.append("exit")
        raise
    except KeyError as error:
        events.append(repr(error))
        yield "caught"


run = steps()
print(next(run), run.send(3.0))
run.close()
run = steps()
print(next(run), run.throw(KeyError("x")))
run = steps()
next(run)
del run
print(events)
with tf.GradientTape() as tape:
    y = v * 1.0
print(tape.gradient(y, v).numpy())
