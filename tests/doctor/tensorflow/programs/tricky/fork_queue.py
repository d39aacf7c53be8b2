"""Forked workers of `multiprocessing` fill a queue."""

import multiprocessing

import numpy as np
import tensorflow as tf


def work(k, queue):
    queue.put((k, float(np.square(k)), multiprocessing.current_process().name))


context = multiprocessing.get_context("fork")
queue = context.Queue()
workers = [context.Process(target=work, args=(k, queue), name=f"w{k}") for k in (1, 2)]
for worker in workers:
    worker.start()
items = sorted(queue.get() for _ in workers)
for worker in workers:
    worker.join()
v = tf.Variable([item[1] for item in items])
with tf.GradientTape() as tape:
    y = tf.reduce_sum(v * v)
print(items, [w.exitcode for w in workers], tape.gradient(y, v).numpy())
