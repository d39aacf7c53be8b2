"""`tf.experimental.dlpack`: tensors to and from other libraries, without NumPy in between."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.apply import tensor
from ..framework import convert
from ..framework.namespaces import lookup

__getattr__ = lookup(__name__)


def to_dlpack(tf_tensor: Any) -> Any:
    """The capsule that other libraries take."""
    return convert.to_tensor(tf_tensor).__dlpack__()


class _Capsule:
    """NumPy asks objects, not capsules."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **options: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


def from_dlpack(dlcapsule: Any) -> Any:
    """A tensor of what another library gave."""
    given = dlcapsule if hasattr(dlcapsule, "__dlpack__") else _Capsule(dlcapsule)
    value = np.from_dlpack(given)
    return tensor(value.copy() if value.ndim else value[()])
