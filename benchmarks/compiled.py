"""How each library compiles a workload's step; as a script, the first result in a fresh process.

python benchmarks/compiled.py LIBRARY WORKLOAD
"""

import importlib
import sys

import peers
import workloads


def tf_function(**options):
    """The whole step in one `tf.function`, the same code for gradtape and TensorFlow."""

    def build(tf, workload):
        step = workload.tape(tf)
        run = step.run

        def train(*data):
            loss, _ = run(*data)
            return loss

        step.run = tf.function(train if step.params else run, **options)
        return step

    return build


def torch_eager(torch, workload):
    return workload.torch()


def torch_compile(torch, workload):
    if hasattr(workload, "torch_compiled"):
        return workload.torch_compiled()
    return workload.torch(workloads.torch_compiled_training)


def jax_jit(jax, workload):
    return workload.jax()


# Title, module, and what builds the step from the module and that of the workload.
LIBRARIES = {
    "gradtape": ("gradtape", "gradtape", tf_function()),
    "tf-function": ("tf.function", "tensorflow", tf_function()),
    "tf-xla": ("tf.function, XLA", "tensorflow", tf_function(jit_compile=True)),
    "torch": ("PyTorch eager", "torch", torch_eager),
    "torch-compile": ("torch.compile", "torch", torch_compile),
    "jax": ("JAX jit", "jax", jax_jit),
}


def main(library, workload):
    sys.path.pop(0)  # this folder has a `keras.py`, and TensorFlow imports Keras
    _, module, build = LIBRARIES[library]
    workload = importlib.import_module("workloads." + workload.replace("-", "_"))
    found = build(importlib.import_module(module), workload)()
    while isinstance(found, list | tuple):
        found = found[0]
    print(peers.as_numpy(found).ravel()[0], flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
