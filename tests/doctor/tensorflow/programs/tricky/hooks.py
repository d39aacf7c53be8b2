"""The interpreter's hooks are as they are."""

import builtins
import faulthandler
import gc
import signal
import sys
import threading

import tensorflow as tf

v = tf.Variable(1.0)
with tf.GradientTape() as tape:
    y = v * 2.0
tape.gradient(y, v)
print(sys.excepthook is sys.__excepthook__, sys.displayhook is sys.__displayhook__)
print(
    sys.unraisablehook is sys.__unraisablehook__, threading.excepthook is threading.__excepthook__
)
print(sys.gettrace(), sys.getprofile(), sys.stdout is sys.__stdout__, sys.stderr is sys.__stderr__)
print(gc.isenabled(), gc.get_threshold(), gc.get_debug(), gc.callbacks, faulthandler.is_enabled())
print([signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGHUP)])
print(builtins.__import__.__name__, builtins.print.__name__, builtins.open.__name__)
