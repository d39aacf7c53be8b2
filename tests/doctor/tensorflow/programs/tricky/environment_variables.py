"""The environment is that of the shell, and children have the same."""

import os
import subprocess
import sys

before = dict(os.environ)

import tensorflow as tf  # noqa: E402

v = tf.Variable(1.0)
with tf.GradientTape() as tape:
    y = v * 2.0
print(tape.gradient(y, v).numpy(), len(before), len(os.environ))
print(sorted(before)), print(sorted(k for k in os.environ if os.environ[k] != before.get(k)))
os.environ["MINE"] = "yes"
code = "import os; print(sorted(os.environ), os.environ['MINE'])"
print(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout)
print(os.environb[b"MINE"], os.getenv("PYTHONSTARTUP"), os.getenv("PYTHONUNBUFFERED"))
