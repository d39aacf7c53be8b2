"""A producer process, forked before training begins, feeds batches through a queue."""

import multiprocessing as mp

import numpy as np
import tensorflow as tf

BATCHES = 30


def produce(batches, seed):
    """In the child: NumPy only."""
    rng = np.random.default_rng(seed)
    for _ in range(BATCHES):
        x = rng.normal(size=(16, 4)).astype("float32")
        y = np.tanh(x @ np.array([[0.5], [-1.0], [2.0], [0.0]], dtype="float32"))
        batches.put((x, y))
    batches.put(None)


def received(batches):
    while (batch := batches.get()) is not None:
        yield batch


if __name__ == "__main__":
    tf.random.set_seed(4)
    context = mp.get_context("fork")
    batches = context.Queue(maxsize=4)
    producer = context.Process(target=produce, args=(batches, 7), daemon=True)
    producer.start()

    w1 = tf.Variable(tf.random.normal([4, 8], stddev=0.5))
    w2 = tf.Variable(tf.random.normal([8, 1], stddev=0.5))
    running = None
    for number, (x, y) in enumerate(received(batches)):
        with tf.GradientTape() as tape:
            prediction = tf.tanh(tf.constant(x) @ w1) @ w2
            loss = tf.reduce_mean((prediction - y) ** 2)
        for v, g in zip([w1, w2], tape.gradient(loss, [w1, w2])):
            v.assign_sub(0.1 * g)
        running = float(loss) if running is None else 0.9 * running + 0.1 * float(loss)
        if number % 10 == 9:
            print(f"batch {number + 1}/{BATCHES}: running loss {running:.6f}")
    producer.join()
    print("the producer ended with", producer.exitcode)
