"""An exception in a thread is reported by Python."""

import threading

import tensorflow as tf


def hook(args):
    print("hook", args.exc_type.__name__, args.exc_value, args.thread.name)


def work():
    v = tf.Variable(1.0)
    with tf.GradientTape():
        raise ValueError(float(v))


threading.excepthook = hook
worker = threading.Thread(target=work, name="worker")
worker.start()
worker.join()
