"""The whole text of a traceback, with causes and notes."""

import traceback

import tensorflow as tf

v = tf.Variable([1.0, 2.0])


def inner(k):
    try:
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(v * v)
            return {}[f"key {k}"], tape, y
    except KeyError as error:
        error.add_note("a note")
        raise RuntimeError("in a step") from error


try:
    inner(1)
except RuntimeError as error:
    print(traceback.format_exc().replace(__file__, "FILE"))
    print(error.__cause__.__notes__, error.__suppress_context__)
    tb = error.__traceback__
    while tb:
        print(
            tb.tb_lineno,
            tb.tb_lasti > 0,
            tb.tb_frame.f_code.co_name,
            sorted(tb.tb_frame.f_locals)[:1],
        )
        tb = tb.tb_next
