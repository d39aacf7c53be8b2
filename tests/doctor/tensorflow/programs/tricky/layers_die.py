"""Layers, models and their weights that nobody refers to any more."""

import gc
import weakref

import tensorflow as tf


class Own(tf.keras.layers.Layer):
    def build(self, shape):
        self.w = self.add_weight(shape=(shape[-1], 2))

    def call(self, x):
        return tf.matmul(x, self.w)


x = tf.ones([4, 3])
own, dense = Own(), tf.keras.layers.Dense(2)
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(dense(x)) + tf.reduce_sum(own(x))
grads = tape.gradient(loss, [*own.trainable_variables, *dense.trainable_variables])
print([tuple(g.shape) for g in grads])
ends = [weakref.ref(thing) for thing in (own, own.w, dense, dense.kernel, tape)]
del own, dense, tape, loss, grads
gc.collect()
print([end() is None for end in ends])

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
print(model.predict(x, verbose=0).shape)
ends = [weakref.ref(thing) for thing in (model, model.layers[0])]
del model
gc.collect()
print([end() is None for end in ends])
