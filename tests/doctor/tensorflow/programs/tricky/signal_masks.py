"""Blocked signals wait until somebody takes them."""

import signal
import threading

import tensorflow as tf

print(sorted(signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2})))
v = tf.Variable(1.0)
with tf.GradientTape() as tape:
    signal.pthread_kill(threading.get_ident(), signal.SIGUSR2)
    y = v * 2.0
print(tape.gradient(y, v).numpy(), sorted(signal.sigpending()))
print(signal.sigwait({signal.SIGUSR2}), sorted(signal.sigpending()))
print(signal.set_wakeup_fd(-1), [signal.getsignal(n) for n in (signal.SIGUSR2, signal.SIGPIPE)])
print([signal.getsignal(n) for n in (signal.SIGALRM, signal.SIGCHLD, signal.SIGWINCH)])
