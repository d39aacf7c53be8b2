"""The states of TensorFlow's generators, global and own."""

import tensorflow as tf

tf.random.set_seed(7)
own = tf.random.Generator.from_seed(5)
v = tf.Variable(own.normal([4]))
for k in range(3):
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(v * own.uniform([4]) * tf.random.normal([4], seed=k))
        y += tf.reduce_sum(tf.nn.dropout(v, 0.5))
        y += tf.reduce_sum(v * tf.random.stateless_uniform([4], [k, 1]))
    print(tape.gradient(y, v).numpy().tobytes().hex(), own.state.numpy())
print(tf.random.uniform([2]).numpy(), own.split(2)[1].state.numpy())
