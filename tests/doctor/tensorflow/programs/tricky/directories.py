"""`dir`, `vars` and `__slots__` of tapes, variables and tensors."""

import tensorflow as tf

v, t = tf.Variable([1.0]), tf.constant([1.0])
plain = sorted(dir(t)), sorted(dir(v)), sorted(vars(v))
with tf.GradientTape() as tape:
    tape.watch(t)
    y = tf.reduce_sum(v * t)
grads = tape.gradient(y, [v, t])
print(sorted(dir(t)) == plain[0], sorted(dir(v)) == plain[1], sorted(vars(v)) == plain[2])
print(sorted(dir(grads[0])) == plain[0], [n for n in dir(tape) if "gradtape" in n or "doctor" in n])
print(sorted(dir(tf.GradientTape)))
print(sorted(k for k in vars(tf.GradientTape) if not k.startswith("_abc")))
print(sorted(vars(tape)))
