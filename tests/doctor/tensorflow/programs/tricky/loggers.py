"""Loggers and their handlers are the program's."""

import logging

import tensorflow as tf

logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s %(message)s")
v = tf.Variable(1.0)
with tf.GradientTape() as tape:
    y = v * 3.0
logging.getLogger("mine").info("gradient %s", tape.gradient(y, v).numpy())
print(len(logging.getLogger().handlers), logging.getLogger().level)
