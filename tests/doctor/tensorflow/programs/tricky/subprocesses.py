"""A child process has the environment and is not watched."""

import os
import subprocess
import sys

import tensorflow as tf

v = tf.Variable(2.0)
with tf.GradientTape() as tape:
    y = v * v
print(tape.gradient(y, v).numpy())
code = "import os, sys; print(sys.argv, sorted(k for k in os.environ if 'GRADTAPE' in k))"
print(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout)
print(sorted(k for k in os.environ if "GRADTAPE" in k), os.path.basename(os.getcwd()))
