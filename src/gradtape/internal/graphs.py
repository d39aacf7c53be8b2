"""`tf.__internal__.FuncGraph`: a block in which shapes are told and nothing is computed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .. import dtypes
from ..compile.sketch import Sketch, current
from ..framework.shapes import TensorShape
from ..sparse.tensor import SparseTensor


class FuncGraph:
    """A graph; all that can be done with it is to find out what shapes a function gives."""

    def __init__(
        self,
        name: str,
        collections: Any = None,
        capture_by_value: bool | None = None,
        structured_input_signature: Any = None,
        structured_outputs: Any = None,
    ) -> None:
        self.name = name
        self.structured_input_signature = structured_input_signature
        self.structured_outputs = structured_outputs

    @contextmanager
    def as_default(self) -> Iterator[FuncGraph]:
        with Sketch().running():
            yield self


def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Any:
    """A tensor of any numbers, in the block of a graph."""
    wanted = None if shape is None else TensorShape(shape).as_list()
    return current().placeholder(wanted, np.dtype(dtypes.as_dtype(dtype).as_numpy_dtype))


def sparse_placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Any:
    """A sparse tensor of any numbers, in the block of a graph."""
    sizes = current().placeholder(TensorShape(shape).as_list(), np.dtype(np.int64))._value.shape
    kind = np.dtype(dtypes.as_dtype(dtype).as_numpy_dtype)
    return SparseTensor(np.zeros((0, len(sizes)), np.int64), np.zeros(0, kind), list(sizes))
