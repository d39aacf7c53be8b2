"""What is one object stays one object."""

import tensorflow as tf

v = tf.Variable([1.0, 2.0])
t = tf.constant([1.0, 2.0])
print(tf.identity(t) is t, tf.convert_to_tensor(t) is t, v.assign(t) is v)
with tf.GradientTape() as tape:
    tape.watch(t)
    y = t * v
found = tape.watched_variables()
print(len(found), found[0] is v, tape.gradient is tape.gradient, hash(v.ref()) == hash(v.ref()))
print(type(y) is type(t), type(tape).__name__, isinstance(v, tf.Variable))
