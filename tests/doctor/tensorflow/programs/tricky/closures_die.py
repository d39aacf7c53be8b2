"""What a compiled function closes over dies with it."""

import gc
import weakref

import tensorflow as tf


class Config:
    rate = 0.5


def build():
    config = Config()
    v = tf.Variable(2.0)

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            y = v * x * config.rate
        return tape.gradient(y, v)

    return step, weakref.ref(config), weakref.ref(v)


step, config, v = build()
print(step(tf.constant(3.0)).numpy(), step(tf.constant(4.0)).numpy())
print(config() is None, v() is None)
del step
gc.collect()
print(config() is None, v() is None)
