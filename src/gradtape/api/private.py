"""The few private modules of TensorFlow that libraries import: a table, and what is in each.

Whatever is not in the table is not there, and says so.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from types import ModuleType, SimpleNamespace
from typing import Any


def _context() -> dict[str, Any]:
    from .graph import executing_eagerly

    held = SimpleNamespace(
        clear_kernel_cache=lambda: None, executing_eagerly=executing_eagerly, num_gpus=lambda: 0
    )
    return {
        "context": lambda: held, "async_wait": lambda: None, "executing_eagerly": executing_eagerly,
    }  # fmt: skip


def _data_structures() -> dict[str, Any]:
    class ListWrapper(list):
        """TensorFlow's list of tracked objects; lists stay plain here."""

    class _DictWrapper(dict):
        """Its dictionary."""

    class _TupleWrapper(tuple):
        """Its tuple."""

    kinds = (ListWrapper, _DictWrapper, _TupleWrapper)
    return {kind.__name__: kind for kind in kinds}


def _config() -> dict[str, Any]:
    from ..config import experimental

    names = ("is_op_determinism_enabled", "enable_op_determinism", "disable_op_determinism")
    return {name: getattr(experimental, name) for name in names}


def _xla() -> dict[str, Any]:
    from ..arrays import windows

    return {"dynamic_update_slice": windows.dynamic_update_slice}


def _math_ops() -> dict[str, Any]:
    from ..math import elementwise

    return {"is_nan": elementwise.is_nan}


def _sparse_matrices() -> dict[str, Any]:
    from ..sparse import SparseTensor
    from ..sparse.products import matmul

    return {  # a matrix is a sparse tensor, of which TensorFlow makes one in compressed rows
        "sparse_tensor_to_csr_sparse_matrix": SparseTensor,
        "sparse_matrix_sparse_mat_mul": lambda a, b, type: matmul(a, b),
        "csr_sparse_matrix_to_sparse_tensor": lambda sparse_matrix, type: sparse_matrix,
    }


def _type_specs() -> dict[str, Any]:
    import gradtape

    names = (
        "IndexedSlicesSpec", "OptionalSpec", "RaggedTensorSpec", "SparseTensorSpec", "TensorSpec",
    )  # fmt: skip
    known = {f"tf.{name}": getattr(gradtape, name) for name in names}

    def look_up(name: Any) -> Any:
        if name not in known:
            raise ValueError(f"No TypeSpec has been registered with name {name!r}")
        return known[name]

    def get_name(kind: Any) -> str:
        for name, one in known.items():
            if one is kind:
                return name
        raise ValueError(f"TypeSpec {kind.__module__}.{kind.__name__} has not been registered.")

    return {"lookup": look_up, "get_name": get_name}


def _distribute() -> dict[str, Any]:
    from ..data.batching import batch_size

    return {"compute_batch_size": batch_size}


TABLE: dict[str, Callable[[], dict[str, Any]]] = {
    "python.data.experimental.ops.distribute": _distribute,
    "python.eager.context": _context,
    "python.trackable.data_structures": _data_structures,
    "python.framework.config": _config,
    "python.framework.type_spec_registry": _type_specs,
    "python.ops.math_ops": _math_ops,
    "python.ops.linalg.sparse.sparse_csr_matrix_ops": _sparse_matrices,
    "compiler.tf2xla.python.xla": _xla,
}
PACKAGES = {".".join(name.split(".")[:k]) for name in TABLE for k in range(1, name.count(".") + 1)}
_made: dict[str, ModuleType] = {}


def module(inner: str) -> ModuleType | None:
    """The module `tensorflow.<inner>`, if the table has it."""
    if inner not in TABLE and inner not in PACKAGES:
        return None
    if inner not in _made:
        _made[inner] = made = ModuleType(f"tensorflow.{inner}")
        if inner in TABLE:
            made.__dict__.update(TABLE[inner]())
        made.__dict__["__getattr__"] = partial(_part, inner)
    return _made[inner]


def _part(inner: str, name: str) -> Any:
    """A module of the table in another, or why there is none."""
    whole = f"{inner}.{name}"
    if name.startswith("__"):
        raise AttributeError(name)
    if whole in TABLE or whole in PACKAGES:
        return import_module(f"tensorflow.{whole}")
    from .alias import missing_module

    # No AttributeError: Python would say that the name cannot be imported, and not why.
    raise ModuleNotFoundError(missing_module(whole), name=whole)
