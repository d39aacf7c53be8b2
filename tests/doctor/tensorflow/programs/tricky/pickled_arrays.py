"""Gradients as arrays are pickled, and read again."""

import io
import pickle

import numpy as np
import tensorflow as tf

v = tf.Variable([[1.0, -2.0], [0.5, 4.0]])
with tf.GradientTape() as tape:
    y = tf.reduce_sum(tf.tanh(v))
grad = tape.gradient(y, v).numpy()
for protocol in range(2, 6):
    text = pickle.dumps(grad, protocol)
    print(protocol, len(text), np.array_equal(pickle.loads(text), grad))
file = io.BytesIO()
np.save(file, grad)
print(len(file.getvalue()), grad.flags.c_contiguous, grad.flags.owndata, grad.tobytes().hex())


class Own:
    def __reduce__(self):
        return (dict, ((("v", v.numpy().sum()),),))


print(pickle.loads(pickle.dumps(Own())))
