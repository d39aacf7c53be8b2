"""How far sequences in sparse tensors are from each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import errors
from ..core.apply import tensor
from ..framework import arguments
from .tensor import SparseTensor


def edit_distance(
    hypothesis: Any, truth: Any, normalize: bool = True, name: str = "edit_distance"
) -> Any:
    """How many insertions, deletions and exchanges turn each hypothesis into its truth, by default
    divided by the truth's length."""
    for given, word in ((hypothesis, "Hypothesis"), (truth, "Truth")):
        if not isinstance(given, SparseTensor):
            raise TypeError(f"{word} must be a SparseTensor.")
    normalize = arguments.truth(normalize, "normalize", True)
    arguments.matching("EditDistance", [hypothesis.values, truth.values])
    ranks = len(hypothesis.dense_shape), len(truth.dense_shape)
    if min(ranks) < 2 or ranks[0] != ranks[1]:
        raise errors.invalid(
            f"Input SparseTensors must have the same rank, at least 2, got {ranks[0]} and "
            f"{ranks[1]} [Op:EditDistance]"
        )
    sizes = np.maximum(hypothesis.dense_shape._value, truth.dense_shape._value)[:-1]
    mine, theirs = _sequences(hypothesis), _sequences(truth)
    out = np.zeros(tuple(sizes.tolist()), np.float32)
    for key in {*mine, *theirs}:
        one, other = mine.get(key, []), theirs.get(key, [])
        distance = float(_steps(one, other))
        if normalize:
            distance = distance / len(other) if other else (np.inf if one else 0.0)
        out[key] = distance
    return tensor(out)


def _sequences(given: SparseTensor) -> dict[tuple, list]:
    found: dict[tuple, list] = {}
    values = given.values._value.tolist()
    for place, value in zip(given.indices._value.tolist(), values, strict=True):
        found.setdefault(tuple(place[:-1]), []).append(value)
    return found


def _steps(one: list, other: list) -> int:
    """Levenshtein's distance, row by row of its table."""
    row = np.arange(len(other) + 1)
    codes: dict = {}
    goal = np.array([codes.setdefault(v, len(codes)) for v in other])
    for k, value in enumerate(one, 1):
        best = np.minimum(row[1:] + 1, row[:-1] + (goal != codes.get(value, -1)))
        # Insertions run along the row: the least of best[j] + (i - j).
        offsets = np.concatenate([[k], best]) - np.arange(len(other) + 1)
        row = np.minimum.accumulate(offsets) + np.arange(len(other) + 1)
    return int(row[-1])
