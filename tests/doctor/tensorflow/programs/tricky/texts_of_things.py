"""`repr`, `str`, `format` and `hash` of tensors, variables and tapes."""

import tensorflow as tf

v, t = tf.Variable([1.0, 2.0], name="weights"), tf.constant(3.0)
with tf.GradientTape() as tape:
    tape.watch(t)
    y = v * t
    print(repr(y), str(y), f"{t:.2f}", repr(v))
grad = tape.gradient(y, t)
print(repr(grad), type(tape).__name__, type(tape).__module__, v.name)
for thing in (v, t):
    try:
        print(hash(thing))
    except TypeError as error:
        print(error)
print(hash(v.ref()) == hash(v.ref()), v.ref() == v.ref(), t.ref().deref() is t)
