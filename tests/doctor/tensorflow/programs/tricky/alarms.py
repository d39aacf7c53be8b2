"""Timers of the program go off, and are off at its end."""

import signal

import tensorflow as tf

v = tf.Variable(1.0)
rings = []
before = signal.signal(signal.SIGALRM, lambda number, frame: rings.append(frame is not None))
print(before == signal.SIG_DFL, signal.getitimer(signal.ITIMER_REAL), signal.alarm(0))
with tf.GradientTape() as tape:
    y = v * 2.0
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    while not rings:
        signal.pause()
    y = y * 3.0
print(tape.gradient(y, v).numpy(), rings, signal.getitimer(signal.ITIMER_REAL))
print(signal.getitimer(signal.ITIMER_VIRTUAL), signal.getitimer(signal.ITIMER_PROF))
