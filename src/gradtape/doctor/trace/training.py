"""A model that is trained, as far as it can be seen: its layers, its loss, and what it is given.

Nothing here is an object of the program's: numbers were counted when the program gave them.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..source.place import Place

ROWS = 4096  # of inputs that are looked at
MOST = 4_000_000  # numbers that are gone through at once
CLASSES = 4096  # different numbers that are told one by one


@dataclass(eq=False)
class Numbers:
    """What is known of an array: its range, and whether it looks like classes."""

    shape: tuple[int | None, ...]
    low: float
    high: float
    whole: bool  # nothing but whole numbers
    distinct: tuple[float, ...] | None  # the different numbers; None when there are many
    nan: int  # how many are not numbers
    row_sums: tuple[float, float] | None  # the smallest and largest sum over the last axis
    # Of each column (the last axis): the smallest, the largest, the standard deviation.
    columns: list[tuple[float, float, float]] = field(default_factory=list)
    complete: bool = True  # were all rows looked at?

    @property
    def one_hot(self) -> bool:
        """Are the rows one 1 among zeros?"""
        width = self.shape[-1] if len(self.shape) > 1 else None
        return bool(width and width > 1 and self.distinct == (0.0, 1.0)) and (
            self.row_sums == (1.0, 1.0)
        )

    def without(self, ignored: float | None) -> Numbers:
        """The same but for a number that is left out, where they are known one by one."""
        if ignored is None or self.distinct is None or ignored not in self.distinct:
            return self
        kept = tuple(n for n in self.distinct if n != ignored)
        return self if not kept else replace(self, low=kept[0], high=kept[-1], distinct=kept)


@dataclass(eq=False)
class Part:
    """A layer of a model."""

    kind: str  # "Dense"
    name: str
    activation: str  # "linear" where it has none; "?" for a function of the user's
    config: dict[str, Any]  # plain numbers and words
    made: Place | None
    shape: tuple[int | None, ...] = ()  # of what came out
    given: tuple[int | None, ...] = ()  # of what came in
    weights: frozenset[int] = frozenset()  # the ids of what it trains itself
    off: bool = False  # of a normalisation: was it called as for a prediction, or is it frozen?


@dataclass(eq=False)
class Head:
    """A call of a loss: what the model's last layer gave, beside the labels."""

    loss: str  # by the name of its function: "binary_crossentropy"
    logits: bool  # was it told that the output is one of logits?
    parts: list[Part]  # the layers before it, one feeding the next, the last one last
    shape: tuple[int | None, ...]  # of the output
    made: Place | None  # where the user made the loss, or gave it to `compile`
    labels: Numbers | None = None
    outputs: Numbers | None = None
    label_shape: tuple[int | None, ...] = ()
    place: Place | None = None  # the call
    ignored: float | None = None  # the label that the loss was told to leave out
    # Of a loop: the one label that all batches had so far, in how many rows and how many batches.
    same: tuple[float, int, int] | None = None

    @property
    def last(self) -> Part | None:
        """The layer that gave the output."""
        return self.parts[-1] if self.parts else None


@dataclass(eq=False)
class Training:
    """A call of `fit` or the like, or a loop of the user's."""

    method: str  # "fit", "train_on_batch", "loop"
    place: Place
    compiled: Place | None = None
    heads: list[Head] = field(default_factory=list)
    inputs: list[Numbers] = field(default_factory=list)
    batch: int | None = None  # rows of a step
    optimizer: str = ""
    rate: float | None = None  # None where it changes over the steps
    sizes: list[float] = field(default_factory=list)  # mean size of each kernel at the start
    stack: list[str] = field(default_factory=list)  # all that the model computes, by its names


@dataclass(eq=False)
class Optimisation:
    """An optimizer of a library's that took steps."""

    kind: str  # "Adam"
    made: Place | None
    place: Place | None  # where it takes its steps
    variables: set[int] = field(default_factory=set)  # by the ids of those that it moves
    rate: float | None = None  # the last; None of a schedule
    steps: int = 0
    # Of each variable that was not all 0: its mean size at the start, and how far it has come.
    moves: list[tuple[float, float]] = field(default_factory=list)


@dataclass(eq=False)
class Normalisation:
    """A layer that normalises batches, by how it was called."""

    name: str
    made: Place | None
    on: int = 0  # calls in which it normalised with the batch
    off: int = 0  # and with what it remembers
    alone: int = 0  # with a batch of one example
    last: bool = True  # did it normalise with the batch when it was called last?
    within: bool = False  # was it called by a training of the library's?
    frozen: bool = False  # was it to train, and told not to learn?
    fresh: bool = False  # is what it remembers still what it began with?
    weight: int | None = None  # the id of what it trains itself
    place: list[Place] | None = None  # of a call with one example, innermost first
    where: list[Place] = field(default_factory=list)  # of a call in which it was off


def by_hand(
    made: Place, activation: str, axis: int, shape: tuple[int | None, ...],
    given: tuple[int | None, ...] = (),
) -> Part:  # fmt: skip
    """An activation that was called as a function; its name is what the user wrote."""
    name = ast.unparse(made.node.func) if isinstance(made.node, ast.Call) else made.brief
    return Part("function", name, activation, {"axis": axis}, made, shape, given)


def numbers(array: Any, columns: bool = False) -> Numbers | None:
    """What is known of an array of numbers; None of anything else."""
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "biuf" or not array.size:
        return None
    shape, complete = array.shape, True
    if array.size > MOST or (columns and len(array) > ROWS):
        step = max(1, -(-len(array) * array.size // len(array) // MOST), -(-len(array) // ROWS))
        array, complete = array[::step], step == 1
    if array.dtype.kind != "f" or array.dtype.itemsize < 4:
        array = array.astype(np.float64 if array.dtype.itemsize > 2 else np.float32)
    sound = np.isfinite(array)
    bad = int(array.size - np.count_nonzero(sound))
    flat = array[sound] if bad else array.ravel()
    if not flat.size:
        return Numbers(shape, 0.0, 0.0, False, None, bad, None, [], complete)
    whole = bool((flat == np.rint(flat)).all())
    known = np.unique(flat if whole else flat[:CLASSES])
    distinct = tuple(map(float, known)) if len(known) <= CLASSES and whole else None
    sums = None
    if array.ndim > 1 and not bad:
        total = array.sum(-1)
        sums = float(total.min()), float(total.max())
    found = Numbers(
        shape, float(flat.min()), float(flat.max()), whole, distinct, bad, sums, [], complete
    )
    if columns and array.ndim == 2 and not bad:
        wide = array.astype(np.float64)
        stats = (wide.min(0), wide.max(0), wide.std(0))
        found.columns = list(zip(*(s.tolist() for s in stats), strict=True))
    return found


def joined(parts: Sequence[Numbers]) -> Numbers:
    """What is known of several batches together."""
    first = parts[0]
    if len(parts) == 1:
        return first
    lists = [p.distinct for p in parts if p.distinct is not None]
    sums = [p.row_sums for p in parts if p.row_sums is not None]
    whole = len(lists) == len(parts)
    columns = []
    if all(len(p.columns) == len(first.columns) for p in parts):
        columns = [
            (min(c[0] for c in known), max(c[1] for c in known), known[0][2])
            for known in zip(*(p.columns for p in parts), strict=True)
        ]
    return Numbers(
        first.shape, min(p.low for p in parts), max(p.high for p in parts),
        all(p.whole for p in parts),
        tuple(sorted({n for found in lists for n in found})) if whole else None,
        sum(p.nan for p in parts),
        (min(s[0] for s in sums), max(s[1] for s in sums)) if len(sums) == len(parts) else None,
        columns, complete=False,
    )  # fmt: skip
