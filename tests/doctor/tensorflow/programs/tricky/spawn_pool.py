"""A spawned child imports the program as `__mp_main__`."""

import multiprocessing


def work(k):
    import sys

    return k * k, __name__, "tensorflow" in sys.modules


if __name__ == "__main__":
    import tensorflow as tf

    with multiprocessing.get_context("spawn").Pool(1) as pool:
        squares = pool.map(work, [1, 2, 3])
    v = tf.Variable([float(s[0]) for s in squares])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(v * v)
    print(squares, tape.gradient(y, v).numpy())
