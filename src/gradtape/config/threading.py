"""`tf.config.threading`: how many threads ops may use; those of BLAS are its own affair."""

from __future__ import annotations

import types

from ..framework.namespaces import lookup
from ..ops.kernels import parallel

__getattr__ = lookup(__name__)

_threads = types.SimpleNamespace(inter=0)


def get_inter_op_parallelism_threads() -> int:
    """The last setting; 0 leaves it to the system."""
    return _threads.inter


def get_intra_op_parallelism_threads() -> int:
    """The last setting; 0 leaves it to the system."""
    return parallel.limit


def set_inter_op_parallelism_threads(num_threads: int) -> None:
    """Accepted and remembered, without effect."""
    _threads.inter = int(num_threads)


def set_intra_op_parallelism_threads(num_threads: int) -> None:
    """How many threads share the work of one op on large arrays, 0 for as many as there are cores;
    products of matrices have the threads of NumPy's BLAS."""
    parallel.limit = int(num_threads)
