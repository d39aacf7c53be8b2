"""An audit hook of the program's own sees what the program does."""

import os
import sys

import tensorflow as tf

events, on = [], False
folder = os.getcwd()


def hook(event, args):
    if on and event in ("open", "os.remove", "os.mkdir", "subprocess.Popen", "os.system"):
        events.append((event, str(args[0]).replace(folder, ".")))


sys.addaudithook(hook)
v = tf.Variable(2.0)
on = True
with tf.GradientTape() as tape:
    y = v * v
grad = tape.gradient(y, v).numpy()
with open("made.txt", "w") as file:
    file.write(str(grad))
os.remove("made.txt")
on = False
print(grad, events)
