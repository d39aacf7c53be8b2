"""`runpy.run_module` with `alter_sys`, and `run_path` of a folder."""

import os
import pathlib
import runpy
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.getcwd())
pathlib.Path("package").mkdir()
pathlib.Path("package/__init__.py").write_text("")
pathlib.Path("package/__main__.py").write_text(
    "import sys\nimport tensorflow as tf\nv = tf.Variable(2.0)\n"
    "with tf.GradientTape() as tape:\n    y = v * v\n"
    "grad = tape.gradient(y, v).numpy()\n"
    "names = __name__, __package__, __spec__ and __spec__.name\n"
    "own = sys.modules[__name__].__dict__ is globals()\n"
)
space = runpy.run_module("package", run_name="__main__", alter_sys=True)
print(space["grad"], space["names"], space["own"])
space = runpy.run_path("package")
print(space["grad"], space["names"][:2])
print(sys.modules["__main__"].__file__ == __file__, sys.argv[0] == __file__)
