"""Transformations made of others: sampling from datasets, buckets by length, resampling."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .. import dtypes
from ..arrays.reshaping import squeeze
from ..arrays.sorting import searchsorted
from ..core.apply import tensor
from ..debugging import assert_less
from ..framework import convert
from ..framework.shapes import TensorSpec
from ..math.elementwise import log
from ..random.stateless import stateless_categorical
from . import structure
from .combining import DirectedInterleave
from .functions import Call
from .node import Element, Node
from .randomness import Seeds, Words
from .selecting import Step


def _made(node: Node) -> Any:
    from .dataset import Dataset

    return Dataset(node)


# --- one of several datasets ----------------------------------------------------------------------
def sampled(datasets: list[Any], weights: Any, seed: Any, stop: bool, again: bool | None) -> Any:
    """Elements of datasets that are drawn by their weights, the same as TensorFlow's for a seed."""
    from .dataset import Dataset

    if not datasets:
        raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
    pairs = Dataset.random(seed=seed, rerandomize_each_iteration=again).batch(2)
    if isinstance(weights, Dataset):
        both = Dataset.zip((weights.map(lambda *p: log(p)), pairs))
        chooser = both.map(lambda logits, pair: squeeze(stateless_categorical(logits, 1, pair)))
        return _made(DirectedInterleave(chooser._node, [d._node for d in datasets], stop))
    if weights is None:
        logits = convert.to_tensor([[1.0] * len(datasets)])
    else:
        datasets, chances = _checked(datasets, weights)
        logits = log(chances)[None]
    if len(datasets) == 1:
        return datasets[0]
    chooser = pairs.map(lambda pair: squeeze(stateless_categorical(logits, 1, pair)))
    return _made(DirectedInterleave(chooser._node, [d._node for d in datasets], stop))


def _checked(datasets: list[Any], weights: Any) -> tuple[list[Any], Any]:
    if not convert.is_tensor_like(weights):
        if len(datasets) != len(weights):
            raise ValueError(
                "Invalid `weights`. `weights` should have the same length as `datasets` but got "
                f"`len(weights)={len(weights)}` vs. `len(datasets)={len(datasets)}`."
            )
        used = [(d, w) for d, w in zip(datasets, weights, strict=True) if w > 0]
        used = used or [(datasets[0].take(0), 1.0)]
        datasets, weights = [d for d, _ in used], [w for _, w in used]
    chances = convert.to_tensor(weights)
    if not chances.shape.is_compatible_with([len(datasets)]):
        raise ValueError(
            "Invalid `weights`. The shape of `weights` should be compatible with "
            f"`[len(datasets)]` but is {chances.shape}."
        )
    if chances.dtype not in (dtypes.float32, dtypes.float64):
        raise TypeError(
            "Invalid `weights`. `weights` type must be either `tf.float32` or `tf.float64` but is "
            f"{chances.dtype!r}."
        )
    return datasets, chances


def chosen_from(datasets: list[Any], choice: Any, stop: bool) -> Any:
    """Elements of the datasets that a dataset of numbers names."""
    if not datasets:
        raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
    spec = getattr(choice, "element_spec", None)
    if spec is None:
        raise TypeError(
            "Invalid `choice_dataset`. `choice_dataset` should be a `tf.data.Dataset` but is "
            f"{type(choice)}."
        )
    if not (isinstance(spec, TensorSpec) and TensorSpec([], dtypes.int64).is_compatible_with(spec)):
        raise TypeError(
            "Invalid `choice_dataset`. Elements of `choice_dataset` must be scalar `tf.int64` "
            f"tensors but are {spec}."
        )
    return _made(DirectedInterleave(choice._node, [d._node for d in datasets], stop))


# --- buckets --------------------------------------------------------------------------------------
def bucketed(
    dataset: Any,
    length: Callable[..., Any],
    boundaries: list[int],
    sizes: list[int],
    padded_shapes: Any,
    padding_values: Any,
    to_boundary: bool,
    no_padding: bool,
    drop: bool,
) -> Any:
    """Batches of elements whose lengths lie between the same boundaries."""
    if len(sizes) != len(boundaries) + 1:
        raise ValueError(
            "`len(bucket_batch_sizes)` must equal `len(bucket_boundaries) + 1` but "
            f"`len(bucket_batch_sizes)={len(sizes)}` and "
            f"`len(bucket_boundaries)={len(boundaries)}`."
        )

    def bucket(*element: Any) -> Any:
        found = convert.to_tensor(length(*element))
        edges = tensor(np.array(boundaries, found._value.dtype))
        where = searchsorted(edges[None], found[None, None], side="right", out_type=dtypes.int64)
        return squeeze(where)

    def size_of(which: Any) -> Any:
        return sizes[int(which)]

    def batches(which: Any, group: Any) -> Any:
        size = size_of(which)
        if no_padding:
            return group.batch(size, drop_remainder=drop)
        fill = None
        if to_boundary:
            last = tensor(np.int64(len(sizes) - 1))
            message = (
                "When pad_to_bucket_boundary=True, elements must have length < "
                "max(bucket_boundaries)."
            )
            assert_less(which, last, message=message)
            fill = boundaries[int(which)] - 1
        spec = group.element_spec
        shapes = padded_shapes
        if shapes is None:
            shapes = structure.map_leaves(lambda one: one.shape, spec)
        filled = [
            [fill if n is None or n == -1 else n for n in shape]
            for shape in structure.flatten_up_to(spec, shapes)
        ]
        shapes = structure.pack_plain(spec, filled)
        return group.padded_batch(size, shapes, padding_values, drop_remainder=drop)

    return dataset.group_by_window(bucket, batches, window_size_func=size_of)


# --- resampling -----------------------------------------------------------------------------------
class Rejected(Step):
    """Pairs of a class and an element, with classes as often as they are wanted."""

    label = "_DirectedInterleaveDataset"

    def __init__(
        self, before: Node, function: Callable[..., Any], target: Any, initial: Any, seed: Any
    ) -> None:
        super().__init__(before)
        self._class = Call(function, before.spec, "rejection_resample")
        self._target = np.asarray(target, np.float64)
        self._initial = None if initial is None else np.asarray(initial, np.float64)
        self._seeds = Seeds(seed, False)

    def spec(self) -> Any:
        return self._class.gives, self.before.spec()

    def cardinality(self) -> int:
        return -2

    def run(self, elements: Iterator[Element]) -> Iterator[Element]:
        words = Words(*self._seeds.next())
        seen = np.full(len(self._target), 10.0)  # of each class, as many as TensorFlow begins with
        tiny = np.finfo(np.float32).tiny
        for element in elements:
            (label,) = self._class(element)
            which = int(label._value)
            seen[which] += 1
            shares = seen / seen.sum() if self._initial is None else self._initial
            ratio = self._target / (shares + tiny)
            (word,) = words.take(1).tolist()
            if word / 2**32 < ratio[which] / ratio.max():
                yield [label, *element]


def rejected(dataset: Any, function: Any, target: Any, initial: Any, seed: Any) -> Any:
    """Elements of which so many are left out that classes come as often as they are wanted."""
    return _made(Rejected(dataset._node, function, target, initial, seed))
