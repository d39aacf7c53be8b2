"""Standard input is the program's."""

import sys

import tensorflow as tf

print(sys.stdin is sys.__stdin__, sys.stdin.isatty(), sys.stdin.fileno(), sys.stdin.encoding)
v = tf.Variable(1.0)
with tf.GradientTape() as tape:
    y = v * 2.0
print(tape.gradient(y, v).numpy(), repr(sys.stdin.readline()))
try:
    input("a question? ")
except EOFError as error:
    print(type(error).__name__, error)
