"""`copy` and `deepcopy` of tensors, variables, modules and lists of them."""

import copy

import tensorflow as tf


class Net(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable([1.0, 2.0])


net = Net()
twin = copy.deepcopy(net)
twin.w.assign([5.0, 6.0])
t = tf.constant([3.0, 4.0])
print(copy.copy(t).numpy(), copy.deepcopy([t])[0].numpy(), twin.w is net.w)
with tf.GradientTape() as tape:
    y = tf.reduce_sum(net.w * twin.w * t)
print([g.numpy() for g in tape.gradient(y, [net.w, twin.w])])
shallow = copy.copy(net)
print(shallow.w is net.w, len(shallow.trainable_variables), type(shallow).__name__)
