"""`tf.config.threading`: how many threads ops may use; NumPy and BLAS decide that here."""

from __future__ import annotations

import types

_threads = types.SimpleNamespace(inter=0, intra=0)


def get_inter_op_parallelism_threads() -> int:
    """The last setting; 0 leaves it to the system."""
    return _threads.inter


def get_intra_op_parallelism_threads() -> int:
    """The last setting; 0 leaves it to the system."""
    return _threads.intra


def set_inter_op_parallelism_threads(num_threads: int) -> None:
    """Accepted and remembered, without effect."""
    _threads.inter = int(num_threads)


def set_intra_op_parallelism_threads(num_threads: int) -> None:
    """Accepted and remembered, without effect."""
    _threads.intra = int(num_threads)
