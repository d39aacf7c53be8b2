"""What is raised in `__del__` reaches the program's own hook."""

import gc
import sys

import tensorflow as tf

raised = []
sys.unraisablehook = lambda info: raised.append((info.exc_type.__name__, str(info.exc_value)))


class Guard:
    def __init__(self, k, v):
        self.k, self.v = k, v

    def __del__(self):
        raise ValueError(self.k)


v = tf.Variable(1.0)
for k in range(3):
    guard = Guard(k, v)
    with tf.GradientTape() as tape:
        y = guard.v * 2.0
    print(tape.gradient(y, v).numpy(), raised)
del guard
gc.collect()
print(raised)
sys.unraisablehook = sys.__unraisablehook__
