"""Methods that were taken from the class before and after the import of others."""

import functools

import tensorflow as tf

ask, watch = tf.GradientTape.gradient, tf.GradientTape.watch


class Asker:
    ask = tf.GradientTape.gradient
    scaled = functools.partialmethod(lambda self, k: k * 2)


x = tf.constant([1.0, 2.0])
tape = tf.GradientTape(persistent=True)
with tape:
    watch(tape, x)
    y = tf.reduce_sum(x * x)
print(ask(tape, y, x).numpy(), Asker.ask(tape, y, x).numpy(), Asker().scaled(3))
print(ask is tf.GradientTape.gradient, Asker.ask is ask, ask == tf.GradientTape.gradient)
bound = tape.gradient
print(bound(y, x).numpy(), bound.__func__ is ask, bound == tape.gradient)
print(tf.GradientTape.gradient.__get__(tape)(y, x).numpy())
