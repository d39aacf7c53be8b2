"""The program changes its working directory, and removes it."""

import os
import tempfile

import tensorflow as tf

start = os.getcwd()
v = tf.Variable(3.0)
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    with tf.GradientTape() as tape:
        y = v * v
    print(tape.gradient(y, v).numpy(), os.listdir("."))
    with open("made.txt", "w") as file:
        file.write("text")
    print(os.listdir("."), os.path.realpath(folder) == os.getcwd())
    os.chdir("/")
with tf.GradientTape() as tape:
    y = v * 2.0
print(tape.gradient(y, v).numpy(), os.listdir(start), os.getcwd())
mask = os.umask(0o022)
os.umask(mask)
print(oct(mask))
