"""Objects are found again by their ids."""

import tensorflow as tf

variables = [tf.Variable(float(k)) for k in range(5)]
by_id = {id(v): k for k, v in enumerate(variables)}
with tf.GradientTape() as tape:
    y = tf.add_n([v * v for v in variables])
for v in tape.watched_variables():
    print(by_id[id(v)], end=" ")
print()
grads = tape.gradient(y, variables)
pairs = {id(g): k for k, g in enumerate(grads)}
print([pairs[id(g)] for g in grads], len(pairs))
