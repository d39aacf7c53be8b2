"""A cache of weak references forgets what is gone."""

import gc
import weakref

import tensorflow as tf

cache = weakref.WeakValueDictionary()
keys = weakref.WeakKeyDictionary()


class Holder:
    def __init__(self, v):
        self.v = v


for k in range(4):
    v = tf.Variable(float(k + 1))
    holder = Holder(v)
    cache[k] = v
    keys[holder] = k
    with tf.GradientTape() as tape:
        y = holder.v * 3.0
    print(k, tape.gradient(y, v).numpy(), len(cache), len(keys))
    del tape, y
del v, holder
gc.collect()
print(len(cache), len(keys))
