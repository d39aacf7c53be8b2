"""The program ends by a signal that it sends itself."""

import os
import signal

import tensorflow as tf

v = tf.Variable(2.0)
with tf.GradientTape() as tape:
    y = v * v
print(tape.gradient(y, v).numpy(), signal.getsignal(signal.SIGTERM), flush=True)
os.kill(os.getpid(), signal.SIGTERM)
print("never", flush=True)
