"""A pool of threads, with an initializer, names and an exception."""

import threading
from concurrent.futures import ThreadPoolExecutor

import tensorflow as tf


def begin():
    threading.current_thread().begun = True


def work(k):
    if k == 3:
        raise ValueError(f"no {k}")
    v = tf.Variable(float(k))
    with tf.GradientTape() as tape:
        y = v**2
    own = threading.current_thread()
    return float(tape.gradient(y, v)), own.begun, own.name.split("_")[0]


with ThreadPoolExecutor(2, thread_name_prefix="pool", initializer=begin) as pool:
    for future in [pool.submit(work, k) for k in range(1, 5)]:
        print(future.exception() or future.result())
print(sorted(t.name for t in threading.enumerate()))
