"""Decorators around what the doctor listens to."""

import functools
import inspect

import tensorflow as tf

calls = []


def counted(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        calls.append(function.__name__)
        return function(*args, **kwargs)

    return wrapper


ask = counted(tf.GradientTape.gradient)
double = functools.partial(tf.multiply, 2.0)


@functools.lru_cache
def weight(name):
    return tf.Variable(4.0, name=name)


@functools.singledispatch
def kind(x):
    return type(x).__mro__[-1].__name__


@kind.register
def _(x: tf.Variable):
    return "variable"


@kind.register
def _(x: tf.Tensor):
    return "tensor"


v = weight("w")
with tf.GradientTape() as tape:
    y = double(v) * v
print(ask(tape, y, v).numpy(), calls, weight("w") is v, weight.cache_info())
print(
    inspect.signature(ask), ask.__wrapped__ is tf.GradientTape.gradient, kind(v), kind(y), kind(1)
)
