"""The tree of loggers, TensorFlow's included."""

import logging

import tensorflow as tf

logger = tf.get_logger()
print(logger.name, logger.level, len(logger.handlers), logger.propagate)
v = tf.Variable(1.0)
with tf.GradientTape() as tape:
    y = v * 2.0
print(tape.gradient(y, v).numpy(), logging.root.level, logging.root.handlers)
print(logging.getLoggerClass().__name__, logging.raiseExceptions, logging.lastResort.level)
