"""What is pickled comes back."""

import copy
import pickle

import tensorflow as tf

function = pickle.loads(pickle.dumps(tf.reduce_sum))
print(function is tf.reduce_sum)
print(pickle.loads(pickle.dumps(tf.float32)) is tf.float32)
v = tf.Variable([1.0, 2.0], name="v")
w = copy.deepcopy(v)
w.assign_add([1.0, 1.0])
with tf.GradientTape() as tape:
    y = tf.reduce_sum(v * w)
print([g.numpy() for g in tape.gradient(y, [v, w])], v is w)
