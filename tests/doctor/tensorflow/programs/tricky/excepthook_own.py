"""The program's own `sys.excepthook` sees the program's traceback."""

import sys
import traceback

import tensorflow as tf


def hook(kind, error, tb):
    print(kind.__name__, error, [(f.name, f.lineno) for f in traceback.extract_tb(tb)])


sys.excepthook = hook


def step(v):
    with tf.GradientTape():
        return v * {}["missing"]


step(tf.Variable(1.0))
