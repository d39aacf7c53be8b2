"""All combinations of the features of each row, as numbers: `tf.sparse.cross_hashed`."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from .. import errors
from ..core.record import Value
from ..framework import convert
from ..strings.hashing import LONG, farm
from .tensor import SparseTensor

_KEY = 0xDECAFCAFFE
_MULTIPLIER = 0xC6A4A7935BD1E995


def cross_hashed(
    inputs: Any, num_buckets: int = 0, hash_key: int | None = None, name: str | None = None
) -> SparseTensor:
    """Of every row, a number for each choice of one feature from each input.

    Inputs are sparse, ragged or dense matrices of strings or whole numbers.

    >>> import gradtape as tf
    >>> crossed = tf.sparse.cross_hashed([tf.constant([["a"]]), tf.constant([["b"]])], 10)
    >>> crossed.dense_shape.numpy().tolist()
    [1, 1]
    """
    if not all(isinstance(one, (Value, SparseTensor)) or convert.is_ragged(one) for one in inputs):
        raise TypeError("All inputs must be SparseTensors")  # or tensors, or ragged ones
    for place, one in enumerate(inputs):
        if isinstance(one, Value) and one._value.ndim != 2:
            raise errors.invalid(
                f"Dense inputs should be a matrix but received shape {list(one._value.shape)} at "
                f"position {place} [Op:SparseCross] name: "
            )
    columns = [_rows(one) for one in inputs]
    key = _KEY if hash_key is None else int(hash_key)
    places, values, width = [], [], 0
    for row, features in enumerate(zip(*columns, strict=True)):
        for at, chosen in enumerate(product(*features)):
            value = key
            for feature in chosen:
                value = _joined(value, feature)
            values.append(value % (num_buckets if num_buckets > 0 else LONG >> 1))
            places.append((row, at))
            width = max(width, at + 1)
    count = len(columns[0]) if columns else 0
    return SparseTensor(
        np.array(places, np.int64).reshape(-1, 2), np.array(values, np.int64),
        np.array([count, width], np.int64),
    )  # fmt: skip


def _joined(first: int, second: int) -> int:
    """TensorFlow's FingerprintCat64."""
    mixed = second * _MULTIPLIER & LONG
    found = first ^ _MULTIPLIER ^ (mixed ^ mixed >> 47) * _MULTIPLIER & LONG
    found = found * _MULTIPLIER & LONG
    found = (found ^ found >> 47) * _MULTIPLIER & LONG
    return found ^ found >> 47


def _rows(given: Any) -> list[list[int]]:
    """The fingerprints of the features of each row."""
    if isinstance(given, SparseTensor):
        rows: list[list[int]] = [[] for _ in range(int(given.dense_shape.numpy()[0]))]
        values = np.asarray(given.values._value).tolist()
        for (row, _), value in zip(given.indices.numpy().tolist(), values, strict=True):
            rows[row].append(_fingerprint(value))
        return rows
    if hasattr(given, "nested_row_splits"):
        return [list(map(_fingerprint, row)) for row in given.to_list()]
    dense = np.asarray(convert.to_tensor(given)._value)
    return [list(map(_fingerprint, row)) for row in dense.tolist()]


def _fingerprint(value: Any) -> int:
    return farm(value) if isinstance(value, bytes) else int(value) & LONG
