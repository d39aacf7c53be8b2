"""`gc.get_objects` counts the program's own objects."""

import gc

import tensorflow as tf


class Batch:
    def __init__(self, x):
        self.x = x


class Net(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable([[1.0], [2.0]])

    def __call__(self, batch):
        return tf.reduce_sum(batch.x @ self.w)


def count():
    gc.collect()
    kinds = [type(o) for o in gc.get_objects()]
    return kinds.count(Batch), kinds.count(Net)


for k in range(3):
    net = Net()
    batch = Batch(tf.ones([2, 2]))
    with tf.GradientTape() as tape:
        loss = net(batch)
    print(tape.gradient(loss, net.w).numpy().ravel(), count())
del net, batch, loss, tape
print(count())
