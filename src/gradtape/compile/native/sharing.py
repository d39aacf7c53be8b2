"""Which thread writes what, as data: it is checked before any code is written, and the code of
loops is written from it.

Threads share an item along one axis of the loops that write its results. The indices of that axis
are cut into parts, and a thread does some parts in a row. As every result's numbers are reached by
exactly one index, parts write different numbers, and together all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod

from ..program import Var


class Overlap(RuntimeError):
    """Threads would write the same numbers, or leave some out: a fault of the compiler."""


@dataclass(frozen=True)
class Region:
    """The numbers of a value that an item writes: one for each index of a box, at
    `start + i * strides[0] + j * strides[1] + …`. Threads share the first axis."""

    value: Var
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    start: int = 0
    piece: bool = False  # other regions are the rest of the value
    updates: bool = False  # only some of its own numbers change: rows of a table


@dataclass(frozen=True)
class Read:
    """A value of the same item that is read back from memory, from the index on which it is
    written: threads do not wait for each other inside of an item."""

    value: Var
    stride: int
    start: int


@dataclass(frozen=True)
class Sharing:
    """Part p has the indices from `edges[p]` to `edges[p + 1]` of the shared axis."""

    edges: Sequence[int]
    regions: tuple[Region, ...]
    reads: tuple[Read, ...] = ()

    @property
    def parts(self) -> int:
        return len(self.edges) - 1


NOTHING = Sharing((0, 1), ())  # what is written by a look at numbers


def alone(value: Var) -> Sharing:
    """All of it is one part."""
    return blocks(value, 1, 1)


def by_rows(value: Var, updates: bool = False) -> Sharing:
    """Every index of the first axis is a part."""
    return blocks(value, value.shape[0], 1, updates)


def blocks(value: Var, rows: int, each: int, updates: bool = False) -> Sharing:
    """A value of so many rows, in parts of `each` rows; the last part may have fewer."""
    width = prod(value.shape) // rows
    edges = [*range(0, rows, each), rows] if rows % each else range(0, rows + 1, each)
    return Sharing(edges, (Region(value, (rows, width), (width, 1), updates=updates),))


def heights(value: Var, of_parts: Iterable[int]) -> Sharing:
    """Parts of so many rows each."""
    edges = [0]
    for height in of_parts:
        edges.append(edges[-1] + height)
    width = prod(value.shape) // edges[-1]
    return Sharing(edges, (Region(value, (edges[-1], width), (width, 1)),))


# --- the check ------------------------------------------------------------------------------------
def check_results(sharing: Sharing, results: Iterable[Var]) -> None:
    """Raise unless a plan says where the numbers of an item's results are written, all of them."""
    missing = {*results} - {region.value for region in sharing.regions}
    if missing:
        raise Overlap(f"nobody writes {missing}")


def check(sharings: Iterable[Sharing]) -> None:
    """Raise unless the parts of every item are disjoint, cover what is written and read only what
    they have written themselves."""
    pieces: dict[Var, list[Region]] = {}
    for sharing in sharings:
        _check_edges(sharing)
        for region in sharing.regions:
            if region.piece:
                pieces.setdefault(region.value, []).append(region)
            elif runs(region) != ((), 0, prod(region.value.shape)):
                raise Overlap(f"{_said(region)} is not all of it, or some of it twice")
        _check_reads(sharing)
    for value, regions in pieces.items():
        _check_pieces(value, regions)


def _check_edges(sharing: Sharing) -> None:
    edges = sharing.edges
    size = edges[-1]
    rising = isinstance(edges, range) or all(i < j for i, j in pairwise(edges))
    if edges[0] != 0 or not rising:
        raise Overlap(f"parts end at {list(edges)}, which does not rise from 0")
    for region in sharing.regions:
        if sharing.parts > 1 and region.sizes[0] != size:
            raise Overlap(f"{_said(region)} has another shared axis than the {size} of its parts")


def _check_reads(sharing: Sharing) -> None:
    if sharing.parts == 1:
        return
    written = {region.value: region for region in sharing.regions}
    for read in sharing.reads:
        region = written.get(read.value)
        if (
            region is None
            or region.piece
            or (region.strides[0], region.start) != (read.stride, read.start)
        ):
            raise Overlap(f"{read.value} is read in other places than the same part has written")


def _check_pieces(value: Var, regions: list[Region]) -> None:
    """Pieces lie beside each other along one axis: in every turn of the axes before it, runs of
    numbers that fill the turn."""
    found = [runs(region) for region in regions]
    outer = {turns for turns, _, _ in found}
    ends = sorted((start, start + length) for _, start, length in found)
    (turns,) = outer if len(outer) == 1 else (None,)
    count, period = turns[0] if turns else (1, prod(value.shape))
    at = 0
    for start, end in ends:
        if start != at:
            break
        at = end
    whole = turns is not None and len(turns) <= 1 and count * period == prod(value.shape)
    if not whole or at != period:
        raise Overlap(f"the pieces of {value} overlap or leave gaps: {ends} of {period}")


def runs(region: Region) -> tuple[tuple[tuple[int, int], ...], int, int]:
    """A region as runs of numbers that lie one behind the other: how many there are and how far
    apart, where the first begins, and how long they are."""
    axes = sorted(zip(region.strides, region.sizes, strict=True))
    axes = [(stride, size) for stride, size in axes if size > 1]
    length = 1
    while axes and axes[0][0] == length:
        length *= axes.pop(0)[1]
    turns: list[tuple[int, int]] = []
    for stride, size in axes:
        if turns and stride == turns[-1][0] * turns[-1][1]:
            turns[-1] = turns[-1][0] * size, turns[-1][1]
        else:
            turns.append((size, stride))
    return tuple(turns), region.start, length


def _said(region: Region) -> str:
    return f"what is written of {region.value} ({region.sizes} by {region.strides})"
