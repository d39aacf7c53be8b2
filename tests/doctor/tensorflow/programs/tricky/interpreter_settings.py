"""What `sys`, `gc` and `threading` are set to, and what the program sets."""

import gc
import sys
import threading
import tracemalloc

import tensorflow as tf

print(sys.getrecursionlimit(), sys.getswitchinterval(), sys.flags, sys.getdlopenflags())
print(threading.stack_size(), sys.get_int_max_str_digits(), sys.get_asyncgen_hooks())
sys.setrecursionlimit(900)
gc.set_threshold(50, 5, 5)
gc.disable()
v = tf.Variable([1.0, 2.0])
for _ in range(5):
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.exp(v))
    v.assign_sub(0.1 * tape.gradient(y, v))
print(v.numpy(), gc.isenabled(), gc.get_threshold(), gc.get_freeze_count(), sys.getrecursionlimit())
print(tracemalloc.is_tracing(), gc.garbage, sys.get_coroutine_origin_tracking_depth())
print(sys.getprofile(), sys.gettrace(), threading.getprofile(), threading.gettrace())
