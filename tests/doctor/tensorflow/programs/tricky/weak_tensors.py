"""Tensors that no tape has seen die when they are deleted."""

import weakref

import tensorflow as tf

for shape in ((), (3,), (100, 100)):
    t = tf.ones(shape)
    end = weakref.ref(t)
    del t
    print(shape, end() is None)
t = tf.ones([4])
u = t + 1.0
end = weakref.ref(u)
w = u * 2.0
del u
print(end() is None, w.numpy())
