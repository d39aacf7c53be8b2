"""Finalizers of the program's own objects run in its order."""

import gc
import weakref

import tensorflow as tf


class Model(tf.Module):
    def __init__(self, name):
        super().__init__(name=name)
        self.w = tf.Variable(1.0)


for name in "abc":
    model = Model(name)
    weakref.finalize(model, print, "gone:", name)
    weakref.finalize(model.w, print, "gone: variable of", name)
    with tf.GradientTape() as tape:
        loss = model.w * 2.0
    print(name, tape.gradient(loss, model.w).numpy())
    del model, tape, loss
    gc.collect()
print("end")
