"""A batch of the data that `fit` was given, without touching the program's own iterators.

The batch of a step is made inside of TensorFlow and is gone afterwards. Where the data are arrays
or a plain dataset of them, the first batch of their order stands in for it. Anything that could
draw at random or run Python code of the user's is not run again.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from .engine import Engine

ROWS, MOST = 4096, 16  # elements that are looked at, and of how many each one is one
BATCH = 32  # what a batch may have
# Datasets that hand on what they are given, as far as a first batch is concerned.
PASSES = ("Shuffle", "Prefetch", "Cache", "MemoryCache", "Repeat", "Options", "Take", "Rebatch")


def batch(engine: Engine, dtypes: list, shapes: list) -> list[Any]:
    """A batch as a function of `fit` takes it; nothing when the data cannot be looked at."""
    import tensorflow as tf

    if not engine.data:
        return []
    given, size = engine.data[-1]
    arrays: list[Any] = []
    with suppress(Exception):  # data of any kind
        if isinstance(given[0], tf.data.Dataset):
            plain = _plain(given[0])
            given, size = ([] if plain is None else list(plain.take(1))), None
        arrays = [np.asarray(a)[: size or None] for a in tf.nest.flatten(given)]
    if len(arrays) != len(shapes) or not all(map(_fits, arrays, shapes)):
        return []
    return [a.astype(d.as_numpy_dtype) for a, d in zip(arrays, dtypes, strict=True)]


def _fits(array: Any, shape: Any) -> bool:
    return len(array.shape) == len(shape) and shape[1:].is_compatible_with(array.shape[1:])


def _plain(dataset: Any) -> Any:
    """A dataset with the same elements in their plain order; None when it cannot be had."""
    import tensorflow as tf

    kind = type(dataset).__name__.strip("_").removesuffix("Dataset").removeprefix("Parallel")
    if kind in ("TensorSlice", "Tensor", "Range"):
        return dataset
    inner = _plain(dataset._input_dataset) if hasattr(dataset, "_input_dataset") else None
    if inner is None or kind in PASSES:
        return inner
    if kind == "Batch":
        return inner.batch(int(dataset._batch_size), bool(dataset._drop_remainder))
    function = dataset._map_func.function if kind == "Map" else None
    if function is None or any(op.op_def.is_stateful for op in function.graph.get_operations()):
        return None
    spec = dataset.element_spec
    return inner.map(
        lambda *parts: tf.nest.pack_sequence_as(spec, function(*tf.nest.flatten(parts)))
    )


def whole(dataset: Any) -> tuple[Any, Any, int | None] | None:
    """Inputs, labels and the rows of a batch of a dataset of arrays; nothing of the program's is
    iterated."""
    rows = None
    for _ in range(20):  # steps of a pipeline
        kind = type(dataset).__name__.strip("_").removesuffix("Dataset").removeprefix("Parallel")
        if kind == "TensorSlice":
            parts = dataset.element_spec
            if not isinstance(parts, tuple) or len(parts) != 2 or len(dataset._tensors) != 2:
                return None
            return *(tensor.numpy() for tensor in dataset._tensors), rows
        if kind == "Batch":
            rows = int(dataset._batch_size)
        if kind == "Map":
            return _mapped(dataset, rows)
        if kind not in (*PASSES, "Batch") or not hasattr(dataset, "_input_dataset"):
            return None
        dataset = dataset._input_dataset
    return None


def _mapped(dataset: Any, rows: int | None) -> tuple[Any, Any, int | None] | None:
    """The same of a dataset whose elements are computed, from a copy of its own: they are batches
    unless these are made later."""
    plain, parts = _plain(dataset), dataset.element_spec
    if plain is None or not isinstance(parts, tuple) or len(parts) != 2:
        return None
    if not all(hasattr(part, "dtype") for part in parts):
        return None  # inputs or labels of several parts
    if rows is None:
        plain = plain.unbatch()
    # Every so many of them: the first ones may be of one class.
    every = -(-int(dataset.cardinality()) * (BATCH if rows is None else 1) // ROWS)
    if not 1 <= every <= MOST:
        return None
    for x, y in plain.shard(every, 0).batch(ROWS).take(1):
        return x.numpy(), y.numpy(), rows
    return None
