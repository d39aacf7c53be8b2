"""A forked child ends as Python programs end, with its exit handlers."""

import atexit
import os
import sys

import tensorflow as tf

v = tf.Variable(2.0)
with tf.GradientTape() as tape:
    y = v * v
print("before", tape.gradient(y, v).numpy(), flush=True)
parent = os.getpid()
atexit.register(lambda: print("exit of", "parent" if os.getpid() == parent else "child"))
child = os.fork()
if child == 0:
    print("in the child", flush=True)
    sys.stdout.flush()
    try:
        sys.exit(9)
    except SystemExit as error:
        os._exit(error.code)
print("child", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
