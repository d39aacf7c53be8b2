"""`tf.debugging` raises what it raises, at the program's lines."""

import traceback

import tensorflow as tf

v = tf.Variable([1.0, -2.0])
checks = {
    "positive": lambda: tf.debugging.assert_positive(v),
    "equal": lambda: tf.debugging.assert_equal(v, [1.0, 2.0], message="mine"),
    "shape": lambda: tf.debugging.assert_shapes([(v, (3,))]),
    "rank": lambda: tf.debugging.assert_rank(v, 2),
    "numerics": lambda: tf.debugging.check_numerics(v / 0.0, "not finite"),
}
for name, check in checks.items():
    try:
        with tf.GradientTape():
            check()
    except Exception as error:
        own = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == __file__]
        print(name, type(error).__name__, [(f.name, f.lineno) for f in own])
with tf.GradientTape() as tape:
    tf.debugging.assert_all_finite(v, "finite")
    y = tf.reduce_sum(tf.debugging.check_numerics(v * v, "square"))
print(tape.gradient(y, v).numpy())
