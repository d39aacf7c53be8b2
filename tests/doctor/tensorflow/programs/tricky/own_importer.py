"""A finder and a loader of the program's own."""

import importlib.abc
import importlib.util
import sys

import tensorflow as tf

asked = []


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        if not name.startswith("made_"):
            return None
        asked.append(name)
        return importlib.util.spec_from_loader(name, self)

    def exec_module(self, module):
        module.weight = tf.Variable(3.0)


sys.meta_path.insert(0, Finder())
import made_up  # noqa: E402

with tf.GradientTape() as tape:
    y = made_up.weight**2
print(tape.gradient(y, made_up.weight).numpy(), asked, made_up.__spec__.name)
print(sys.meta_path[0].__class__.__name__)
