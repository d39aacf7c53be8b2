"""`tf.test`: gradients checked against differences, and a test case that knows tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..autodiff.tape import GradientTape
from ..core.apply import tensor
from ..framework import convert
from ..framework.namespaces import lookup


# --- gradients ------------------------------------------------------------------------------------
def compute_gradient(
    f: Callable[..., Any], x: Any, delta: float | None = None
) -> tuple[tuple, tuple]:
    """The Jacobians of `f` by the tape and by central differences, one of each for each argument.

    >>> import gradtape as tf
    >>> exact, differences = tf.test.compute_gradient(lambda a: a * a, [tf.constant([1.0, 3.0])])
    >>> exact[0]
    array([[2., 0.],
           [0., 6.]], dtype=float32)
    """
    if not isinstance(x, (list, tuple)):
        raise ValueError(
            "`x` must be a list or tuple of values convertible to a Tensor (arguments to `f`), not "
            f"a {type(x)}"
        )
    args = [convert.to_tensor(one) for one in x]
    for k, arg in enumerate(args):
        if not (arg.dtype.is_floating or arg.dtype.is_complex):
            raise AssertionError(
                f"Cannot compute gradient for unsupported type {arg.dtype.name} of argument {k}"
            )
    step = 1.0 / 1024 if delta is None else delta
    exact = tuple(_exact(f, args, k) for k in range(len(args)))
    return exact, tuple(_differences(f, args, k, step) for k in range(len(args)))


def _reals(value: Any) -> Any:
    """Numbers in a row; a complex one as two."""
    flat = np.ascontiguousarray(value).reshape(-1)
    return flat.view(flat.real.dtype) if flat.dtype.kind == "c" else flat


def _exact(f: Callable[..., Any], args: list, k: int) -> Any:
    with GradientTape(persistent=True) as tape:
        tape.watch(args[k])
        y = f(*args)
    shape, dtype = y._value.shape, y._value.dtype
    seeds = _reals(np.zeros(shape, dtype))
    rows = np.zeros((seeds.size, _reals(args[k]._value).size), args[k]._value.real.dtype)
    for i in range(seeds.size):
        seeds = _reals(np.zeros(shape, dtype))
        seeds[i] = 1
        seed = tensor(seeds.view(dtype).reshape(shape)[()])
        derivative = tape.gradient(y, args[k], output_gradients=seed)
        if derivative is not None:
            rows[i] = _reals(convert.to_tensor(derivative)._value)
    return rows


def _differences(f: Callable[..., Any], args: list, k: int, step: float) -> Any:
    value = args[k]._value
    columns = []
    for j in range(_reals(value).size):
        ends = []
        for side in (step, -step):
            moved = _reals(np.array(value))
            moved = moved.copy()
            moved[j] += moved.dtype.type(side)
            arg = tensor(moved.view(value.dtype).reshape(value.shape)[()])
            ends.append(_reals(f(*args[:k], arg, *args[k + 1 :])._value))
        columns.append((ends[0] - ends[1]) / (2 * step))
    kind = value.real.dtype
    if not columns:
        return np.zeros((_reals(f(*args)._value).size, 0), kind)
    return np.stack(columns, axis=1).astype(kind)


# --- what is built in -----------------------------------------------------------------------------
def is_built_with_cuda() -> bool:
    """No."""
    return False


def is_built_with_rocm() -> bool:
    """No."""
    return False


def is_built_with_gpu_support() -> bool:
    """No."""
    return False


def is_built_with_xla() -> bool:
    """No."""
    return False


def is_gpu_available(cuda_only: bool = False, min_cuda_compute_capability: Any = None) -> bool:
    """No."""
    return False


def gpu_device_name() -> str:
    """The name of a GPU: there is none."""
    return ""


def main(argv: Any = None) -> None:
    """Run the tests of the calling script."""
    import unittest

    unittest.main(argv=argv)


# `TestCase` waits for its first use: `unittest` is slow to import.
__getattr__ = lookup(__name__, {"case": "TestCase"})
