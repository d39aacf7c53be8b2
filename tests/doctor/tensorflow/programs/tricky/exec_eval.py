"""Code that is made while it runs."""

import tensorflow as tf

space = {"tf": tf, "v": tf.Variable(2.0)}
exec("with tf.GradientTape() as tape:\n    y = v * v\n", space)
print(eval("tape.gradient(y, v).numpy()", space), sorted(k for k in space if k[0] != "_"))
