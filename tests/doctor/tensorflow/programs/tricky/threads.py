"""Threads with tapes of their own."""

import threading

import tensorflow as tf

found = {}


def work(k):
    v = tf.Variable(float(k))
    with tf.GradientTape() as tape:
        y = v * v
    found[k] = float(tape.gradient(y, v))


workers = [threading.Thread(target=work, args=(k,), name=f"w{k}") for k in range(4)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
print(sorted(found.items()), threading.active_count(), threading.current_thread().name)
