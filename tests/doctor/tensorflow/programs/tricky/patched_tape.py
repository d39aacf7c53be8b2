"""The whole class is replaced by a subclass, and put back."""

import tensorflow as tf

Original = tf.GradientTape


class Counting(Original):
    made = 0

    def __init__(self, *args, **kwargs):
        type(self).made += 1
        super().__init__(*args, **kwargs)

    def watch(self, tensor):
        print("watch", type(self).__name__)
        return super().watch(tensor)


tf.GradientTape = Counting
x = tf.constant(3.0)
with tf.GradientTape(persistent=True) as tape:
    tape.watch(x)
    y = x * x
print(tape.gradient(y, x).numpy(), Counting.made, isinstance(tape, Original))
tf.GradientTape = Original
print(
    tf.GradientTape is Original, type(tf.GradientTape()).__name__, Counting.__mro__[1] is Original
)
print(Counting.gradient is Original.gradient, Original.__subclasses__())
