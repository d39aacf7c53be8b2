"""A program that looks at itself: its file, its source, its frames, its arguments, its module."""

import hashlib
import inspect
import os
import shutil
import sys
from pathlib import Path

import numpy as np
import tensorflow as tf

HERE = Path(__file__).resolve()
print("name:", __name__, "file:", HERE.name, "argv:", [os.path.basename(a) for a in sys.argv])
print("path begins with the script's folder:", Path(sys.path[0]).resolve() == HERE.parent)
print("main:", sys.modules["__main__"].__doc__.split(":")[0])

# Many experiments keep a copy of the code that made them.
Path("experiment").mkdir()
shutil.copy(__file__, "experiment/code.py")
digest = hashlib.sha256(HERE.read_bytes()).hexdigest()
same = hashlib.sha256(Path("experiment/code.py").read_bytes()).hexdigest() == digest
print("copied:", same)


class Model(tf.Module):
    """A line through the origin."""

    def __init__(self):
        self.k = tf.Variable(0.0)

    def __call__(self, x):
        return self.k * x


def where():
    caller = inspect.stack()[1]
    return f"{caller.function} in line {caller.lineno}: {caller.code_context[0].strip()}"


def fit(model, x, y, steps=10):
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - y) ** 2)
        gradient = tape.gradient(loss, model.k)
        model.k.assign_sub(0.5 * gradient)
    print("fitted by", where())
    return loss


x = tf.constant(np.linspace(0, 1, 11), tf.float32)
loss = fit(Model(), x, 3.0 * x)
print(f"loss {float(loss):.6f}")

print(inspect.getsource(Model).splitlines()[0], inspect.getsourcelines(fit)[1])
print(inspect.getdoc(Model), inspect.signature(fit))
print("the innermost frame:", inspect.currentframe().f_code.co_name)
print("tape:", inspect.signature(tf.GradientTape.gradient))
print("tape is", tf.GradientTape.__module__, tf.GradientTape.gradient.__qualname__)
print("variable:", tf.Variable.__name__, tf.Variable.assign_add.__name__)
