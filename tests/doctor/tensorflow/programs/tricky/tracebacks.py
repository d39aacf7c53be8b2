"""A traceback has the program's frames, and the same text."""

import traceback

import tensorflow as tf


def loss(v):
    return tf.reduce_sum(v) / len(v.shape[0:0])


v = tf.Variable([1.0])
try:
    with tf.GradientTape():
        loss(v)
except ZeroDivisionError as error:
    for frame in traceback.extract_tb(error.__traceback__):
        print(frame.name, frame.lineno, frame.line)
try:
    tf.GradientTape().watch("text")
except ValueError as error:
    print(type(error).__name__, error, error.__cause__)
