"""Everything is called by keywords."""

import tensorflow as tf

v = tf.Variable(initial_value=[1.0, 2.0])
v.assign(value=[3.0, 4.0])
v.assign_add(delta=[1.0, 1.0])
v.assign_sub(delta=[1.0, 0.0])
print(v.numpy())
with tf.GradientTape(persistent=True) as tape:
    tape.watch(tensor=v)
    y = v * v
    rows = tf.reshape(v * v, (1, 2))
print(tape.gradient(target=y, sources=v, unconnected_gradients="zero").numpy())
print(tape.jacobian(target=y, sources=[v])[0].numpy())
for wrong in ({"valeu": 1.0}, {}):
    try:
        v.assign(**wrong)
    except TypeError as error:
        print(error)
try:
    tape.gradient(y)
except TypeError as error:
    print(error)
