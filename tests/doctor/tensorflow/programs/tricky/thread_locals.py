"""`threading.local` has a value for each thread."""

import threading

import tensorflow as tf

local = threading.local()
local.scale = 2.0
lines = []
v = tf.Variable(3.0)


def work(k):
    lines.append(hasattr(local, "scale"))
    local.scale = float(k)
    with tf.GradientTape() as tape:
        y = v * local.scale
    lines.append((k, float(tape.gradient(y, v)), local.scale))


for k in range(1, 4):
    worker = threading.Thread(target=work, args=(k,))
    worker.start()
    worker.join()
print(lines, local.scale, vars(local))
