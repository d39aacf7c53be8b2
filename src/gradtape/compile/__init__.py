"""The compiler's room: `tf.function`."""
