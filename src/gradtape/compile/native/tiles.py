"""Sums in registers: a tile of C along k. The order of a sum is the same in every tile."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .emitting import Emitter, Index, Value, pieces
from .packing import Block

Tile = list[list[Value]]  # by rows


def outer(
    e: Emitter, a: Block, rows: int, b: Block, width: int, k: Index, kept: Block | None = None
) -> Tile:
    """Numbers of A times vectors of B; the sums begin with what is kept of them, or with 0."""
    columns = -(-width // e.lanes)

    def step(at: Index, sums: Sequence[Value]) -> list[Value]:
        return crossed(
            e, sums, rows, columns,
            lambda i: e.spread(e.load(a.at(e, i, at))),
            lambda q: e.load_some(b.at(e, at, q * e.lanes), min(e.lanes, width - q * e.lanes)),
        )  # fmt: skip

    if kept is None:
        sums = [e.constant(0.0, e.lanes)] * (rows * columns)
    else:
        places = [(i, q * e.lanes) for i in range(rows) for q in range(columns)]
        sums = [e.load(kept.at(e, i, j), e.lanes) for i, j in places]
    sums = [*along(e, k, 1, sums, step)]
    return [sums[i * columns : (i + 1) * columns] for i in range(rows)]


def inner(e: Emitter, a: Block, rows: int, b: Block, width: int, k: int) -> Tile:
    """Vectors of A's rows times vectors of B's columns; each row is in pieces of powers of two."""

    def step(at: Index, sums: Sequence[Value], present: int = e.lanes) -> list[Value]:
        return crossed(
            e, sums, rows, width,
            lambda i: e.load_some(a.at(e, i, at), present),
            lambda j: e.load_some(b.at(e, at, j), present),
        )  # fmt: skip

    whole = k - k % e.lanes
    sums = along(e, whole, e.lanes, [e.constant(0.0, e.lanes)] * (rows * width), step)
    if whole < k:
        sums = step(whole, sums, k - whole)
    tile: Tile = []
    at_once = e.lanes // width  # rows whose vectors are added up together
    for top in range(0, rows, at_once):
        group = sums[top * width : (top + at_once) * width]
        totals, lane = over_lanes(e, group)
        for i in range(0, len(group), width):
            parts = [[lane[i + first + j] for j in range(size)] for first, size in pieces(width)]
            tile.append([e.pick(totals, part) for part in parts])
    return tile


def over_lanes(e: Emitter, vectors: Sequence[Value]) -> tuple[Value, list[int]]:
    """A vector of the sums over each vector's lanes, and in which lane each of them is.

    Two vectors become one of half-sums, [x x x x | x x x x] and [y y y y | y y y y] become
    [x x x x | y y y y], until one is left: 21 instructions for 8 vectors, where one alone has 6.
    """
    n = distance = e.lanes
    labels = [[i] * n for i in range(len(vectors))]
    while distance > 1:
        distance //= 2
        starts = [o + side for o in range(0, n, 2 * distance) for side in (0, n)]
        low = [o + lane for o in starts for lane in range(distance)]
        high = [lane + distance for lane in low]
        pairs = [(i, min(i + 1, len(vectors) - 1)) for i in range(0, len(vectors), 2)]
        labels = [[(labels[i] + labels[j])[lane] for lane in low] for i, j in pairs]
        both = [(vectors[i], vectors[j]) for i, j in pairs]
        vectors = [e.b.fadd(e.shuffle(x, y, low), e.shuffle(x, y, high)) for x, y in both]
    return vectors[0], [labels[0].index(i) for i in range(max(labels[0]) + 1)]


def crossed(
    e: Emitter, sums: Sequence[Value], rows: int, columns: int,
    left: Callable[[int], Value], right: Callable[[int], Value],
) -> list[Value]:  # fmt: skip
    """`sums[i, j] += left(i) * right(j)`; the side that takes fewer registers is held."""
    new = [*sums]
    across = columns <= rows
    held = [right(j) for j in range(columns)] if across else [left(i) for i in range(rows)]
    for one_of in range(rows if across else columns):
        one = left(one_of) if across else right(one_of)
        for other_of, other in enumerate(held):
            s = one_of * columns + other_of if across else other_of * columns + one_of
            new[s] = e.fma(one, other, new[s])
    return new


def along(
    e: Emitter, stop: Index, stride: int, sums: Sequence[Value],
    step: Callable[[Index, Sequence[Value]], list[Value]],
) -> Sequence[Value]:  # fmt: skip
    """Steps along k: always a loop, as LLVM moves what is written out into the rows' branches, and
    then runs out of registers. Two or four steps in one were no faster."""
    if isinstance(stop, int) and stop <= stride:
        return step(0, sums) if stop > 0 else sums
    return e.fold(stop, stride, sums, step)
