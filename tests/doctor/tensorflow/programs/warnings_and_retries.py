"""Warnings that are shown, caught and counted; exceptions that are retried; a context manager."""

import contextlib
import sys
import warnings

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(0)


class TransientError(RuntimeError):
    pass


@contextlib.contextmanager
def section(name):
    print(f"[{name}]", end=" ")
    try:
        yield
    except TransientError as error:
        print("failed:", error)
        raise
    else:
        print("ok")


def retry(function, times):
    for attempt in range(times):
        try:
            with section(f"attempt {attempt}"):
                return function(attempt)
        except TransientError:
            if attempt == times - 1:
                raise
    return None


x = tf.Variable([1.0, 2.0])


def unreliable(attempt):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(x**2)
        if attempt < 2:
            raise TransientError("the connection was lost")
    gradient = tape.gradient(loss, x)
    x.assign_sub(0.1 * gradient)
    return gradient


print(retry(unreliable, 3).numpy())

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    warnings.warn("the learning rate looks large", UserWarning, stacklevel=1)
    np.log(np.array([1.0, 0.0]))
    model = tf.keras.Sequential()
    model.add(tf.keras.layers.Dense(2, input_shape=(3,)))
print([(w.category.__name__, str(w.message).split()[0]) for w in caught])

warnings.warn("this one is shown", DeprecationWarning, stacklevel=1)
warnings.filterwarnings("error", message="strict")
try:
    warnings.warn("strict mode", UserWarning, stacklevel=1)
except UserWarning as error:
    print("raised:", error)

with np.errstate(divide="raise"):
    try:
        np.ones(2) / np.zeros(2)
    except FloatingPointError as error:
        print("NumPy:", error)

for left, right in (([1, 2], [1.0, 2.0]), ([1.0, 2.0], [1.0, 2.0, 3.0])):
    try:
        print(tf.constant(left) + tf.constant(right))
    except Exception as error:
        print(type(error).__name__, type(error).__mro__[1].__name__)

model.compile("sgd", "mse")
history = model.fit(np.ones((8, 3)), np.zeros((8, 2)), epochs=2, verbose=0)
print([f"{v:.6f}" for v in history.history["loss"]])
try:
    model.fit(np.ones((8, 4)), np.zeros((8, 2)), verbose=0)
except (ValueError, tf.errors.InvalidArgumentError) as error:
    print("four features instead of three:", type(error).__name__)
print("recursion limit", sys.getrecursionlimit(), "exception left:", sys.exc_info()[0])
