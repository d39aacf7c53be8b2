"""Signatures and argument lists, of classes, decorators and functions, too."""

import inspect

import tensorflow as tf

for thing in (tf.GradientTape, tf.custom_gradient, tf.stop_gradient, tf.convert_to_tensor):
    print(inspect.signature(thing), thing.__name__)
for name in ("gradient", "jacobian", "watch", "stop_recording", "watched_variables"):
    function = getattr(tf.GradientTape, name)
    print(name, inspect.getfullargspec(function), inspect.isfunction(function))
    print(list(inspect.signature(function).parameters), callable(function))
tape = tf.GradientTape()
print(inspect.ismethod(tape.gradient), tape.gradient.__self__ is tape)
print(inspect.signature(tape.gradient), inspect.signature(tape.watch))
