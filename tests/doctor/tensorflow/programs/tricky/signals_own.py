"""Handlers of the program are those that run."""

import os
import signal

import tensorflow as tf

seen = []
signal.signal(signal.SIGTERM, lambda number, frame: seen.append(number))
signal.signal(signal.SIGUSR1, lambda number, frame: seen.append(number))
v = tf.Variable(1.0)
for number in (signal.SIGTERM, signal.SIGUSR1):
    with tf.GradientTape() as tape:
        os.kill(os.getpid(), number)
        y = v * 2.0
    print(tape.gradient(y, v).numpy(), seen)
