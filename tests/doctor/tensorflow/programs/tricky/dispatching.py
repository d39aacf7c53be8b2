"""Abstract classes, protocols and types that ask for tensors."""

import abc
import numbers
from collections.abc import Callable, Hashable, Iterable, Sized

import tensorflow as tf


class Differentiable(abc.ABC):
    @abc.abstractmethod
    def gradient(self, target, sources): ...


Differentiable.register(tf.GradientTape)
v = tf.Variable(2.0)
with tf.GradientTape() as tape:
    y = v * v
print(isinstance(tape, Differentiable), issubclass(tf.GradientTape, Differentiable))
print([isinstance(y, kind) for kind in (Iterable, Sized, Hashable, Callable, numbers.Number)])
print(isinstance(v, tf.Variable), isinstance(y, tf.Tensor), tf.is_tensor(v), type(v) is type(y))
match y:
    case tf.Tensor():
        print("a tensor", tape.gradient(y, v).numpy())
