"""`tf.random.experimental`: older names of what is in `tf.random`, and `stateless_shuffle`."""

from __future__ import annotations

from ..framework.namespaces import lookup
from .generator import (
    Algorithm,
    Generator,
    create_rng_state,
    get_global_generator,
    set_global_generator,
)  # fmt: skip
from .stateless import fold_in as stateless_fold_in
from .stateless import split as stateless_split
from .stateless import stateless_shuffle

__getattr__ = lookup(__name__)

__all__ = [
    "Algorithm", "Generator", "create_rng_state", "get_global_generator", "set_global_generator",
    "stateless_fold_in", "stateless_shuffle", "stateless_split",
]  # fmt: skip
