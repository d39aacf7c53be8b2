"""Windows: parts of an array at places that are numbers of tensors, read and written."""

from __future__ import annotations

from typing import Any

import numpy as np

from .declare import op
from .infer import same


def _place(starts: Any, sizes: tuple[int, ...], shape: tuple[int, ...]) -> tuple[slice, ...]:
    """A window that lies inside, moved if it must be."""
    each = zip(np.ravel(starts).tolist(), sizes, shape, strict=True)
    return tuple([slice(k := max(0, min(s, n - m)), k + m) for s, m, n in each])


def _read(a: Any, b: Any, sizes: tuple[int, ...]) -> Any:
    return a[_place(b, sizes, a.shape)]


def _write(a: Any, b: Any, c: Any) -> Any:
    whole = np.array(a)
    whole[_place(c, b.shape, a.shape)] = b
    return whole


def _written(a: Any, b: Any, c: Any) -> Any:
    return write_window(a, b, c)


read_window = op(
    "read_window", _read,
    (lambda g, b, a_shape: _written(np.zeros(a_shape, g.dtype), g, b), None),
    shape=lambda a, b, sizes: sizes, label="Slice", params=("sizes",),
    sample=lambda d: [([d(4, 5), np.array([1, 2])], {"sizes": (2, 3)})],
)  # fmt: skip
write_window: Any = op(
    "write_window", _write,
    (
        lambda g, c, b_shape: _written(g, np.zeros(b_shape, g.dtype), c),
        lambda g, c, b_shape: read_window(g, c, sizes=b_shape),
        None,
    ),
    shape=same, label="TensorStridedSliceUpdate",
    sample=lambda d: [([d(4, 5), d(2, 3), np.array([1, 2])], {})],
)  # fmt: skip
