"""Groups of exceptions, and contexts of exceptions."""

import tensorflow as tf

v = tf.Variable(1.0)
errors = []
for k in range(3):
    try:
        with tf.GradientTape():
            v * 2.0
            raise ValueError(k) if k % 2 else OSError(k)
    except Exception as error:
        errors.append(error)
try:
    raise ExceptionGroup("several", errors)
except* ValueError as group:
    print(group.exceptions, [e.__traceback__.tb_lineno for e in group.exceptions])
except* OSError as group:
    print(group.exceptions)
try:
    try:
        with tf.GradientTape() as tape:
            raise KeyError("first")
    finally:
        float("x")
except ValueError as error:
    print(repr(error.__context__), error.__cause__)
