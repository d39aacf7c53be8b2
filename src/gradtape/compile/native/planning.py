"""Which kernel a product gets: the cheapest by a count of cycles, checked against measurements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

from .machine import host

L1 = 32 * 1024
L2 = 512 * 1024
DEPTH = 160  # numbers of k whose part of A and B stays in the first cache
# By what a Zen 3 takes; other processors differ less than forms do.
LATENCY = 4.0  # of an fma: so many cycles must pass before a sum takes its next number
FEW = 24  # rows or columns: with more, dots read too much again and again
COPY, TRANSPOSE, SINGLE = 0.3, 0.3, 2.0  # cycles a number


@dataclass(frozen=True)
class Product:
    """`C[m, n] (+)= alpha * sum_k A[m, k] B[k, n]`; strides (row, column) count elements.

    A transposed operand is one whose row stride is 1. C's column stride is 1, and C shares no
    memory with A and B.
    """

    m: int
    n: int
    k: int
    dtype: str  # "f4" or "f8"
    a: tuple[int, int]
    b: tuple[int, int]
    c: tuple[int, int]
    alpha: float = 1.0
    add: bool = False  # C += instead of C =

    @property
    def itemsize(self) -> int:
        return int(self.dtype[1])


@dataclass(frozen=True)
class Plan:
    """A kernel. Every sum is in one order whatever the tile, so that rows can be shared freely.

    "panels": vectors lie along the columns of C, a tile is `rows` by `columns` vectors of sums.
    "dots": vectors lie along k, a tile is `rows` by `columns` numbers of C.
    "pillars": vectors lie along the rows of C, a tile is `rows` vectors by `columns` numbers.
    """

    form: str
    rows: int
    columns: int
    lanes: int
    packs_a: bool = False  # into rows one behind the other
    packs_b: bool = False  # into panels, or (dots) transposed
    group: int = 1  # panels of B that are packed together, and meet each row of A in turn
    depth: int = 0  # numbers of k after which sums are laid aside until the other columns are there

    def scratch(self, p: Product) -> int:
        """Bytes for what is packed and laid aside."""
        blocked = self.form == "panels" and self.depth < p.k
        aside = (p.m + self.rows) * self.padded(p.n) if blocked else 0
        return (self.room_a(p) + self.room_b(p) + aside) * p.itemsize

    @property
    def stride_a(self) -> int:
        """How far packed rows of A are apart: not at the same place of a cache."""
        return -(-self.depth // 16) * 16 + 16

    def room_a(self, p: Product) -> int:
        """Numbers of A that are packed, with those that a last tile reads beyond."""
        return (p.m + self.rows) * self.stride_a if self.packs_a else 0

    def room_b(self, p: Product) -> int:
        if not self.packs_b:
            return 0
        width = self.columns * self.lanes * self.group
        return p.k * p.n if self.form == "dots" else self.depth * width

    def padded(self, width: int) -> int:
        """A width in whole vectors."""
        return -(-width // self.lanes) * self.lanes


def plan(p: Product) -> Plan:
    """The kernel for a product."""
    return _plan(p, host().lanes(p.itemsize), host().registers)


@cache
def _plan(p: Product, lanes: int, registers: int) -> Plan:
    nothing = Plan("panels", 1, 1, 1, depth=p.k)
    return min(candidates(p, lanes, registers), key=lambda c: cost(p, c), default=nothing)


def candidates(p: Product, lanes: int, registers: int) -> Iterator[Plan]:
    """What a product can be computed by, on a processor with so many vectors of so many numbers."""
    narrow = min(lanes, ceiling_power(p.n))
    dots = p.a[1] == 1 and p.k >= lanes and min(p.m, p.n) <= FEW
    for rows, columns in tiles(registers, 8):
        if rows <= p.m:
            if columns <= -(-p.n // narrow):
                yield settled(p, Plan("panels", rows, columns, narrow))
            if dots and columns <= min(p.n, lanes):
                yield Plan("dots", rows, columns, lanes, packs_b=p.b[0] != 1)
        if p.a[0] == 1 and columns == p.n and rows * lanes <= p.m:
            yield Plan("pillars", rows, columns, lanes)


def settled(p: Product, plan: Plan) -> Plan:
    """With what it packs."""
    depth = max(p.k, 1)
    a, b = p.m * p.k * p.itemsize, p.k * p.b[0] * p.itemsize
    # Rows of B whose distance is a power of two fall into the same places of the first cache.
    crowded = p.b[0] * p.itemsize % 512 == 0
    packs_b = p.b[1] != 1 or (b > (L1 // 2 if crowded else 2 * L1) and p.m >= 4 * plan.rows)
    # Of A's columns a tile takes a few numbers each. Blocks of rows and of k for the caches' sake
    # alone, as Goto has them, were no faster: 70 for 78 GFLOP/s with 512 x 1024 x 1024, and 74 for
    # 74 with 2048 x 2048 x 2048.
    packs_a = p.a[1] != 1 and a > L2 // 4 and p.n >= 512
    if p.a[1] != 1 and a > L1 and not packs_a:
        depth = shared(p.k, DEPTH)
    # In groups, rows of B in pages of their own are visited less often, and a large A is read less
    # often: 87 for 78 GFLOP/s with 512 x 1024 x 1024 (3 panels), 89 for 82 with 2048 cubed (4).
    apart = p.b[1] == 1 and p.b[0] * p.itemsize >= 2048
    group = 8 if packs_b and a > 8 * L2 else 3 if packs_b and apart else 1
    return replace(plan, packs_a=packs_a, packs_b=packs_b, depth=depth, group=group)


def shared(count: int, most: int) -> int:
    """The size of equal shares of at most so many."""
    return -(-count // -(-count // most))


def tiles(registers: int, most: int) -> Iterator[tuple[int, int]]:
    """Numbers of rows and columns whose sums, one side and one of the other fit in registers."""
    for rows in range(1, most + 1):
        for columns in range(1, registers):
            if rows * columns + min(rows, columns) + 1 <= registers:
                yield rows, columns


def cost(p: Product, plan: Plan) -> float:
    """Cycles of a product, roughly."""
    rows, columns = plan.rows, plan.columns
    if plan.form == "pillars":
        height = rows * plan.lanes
        return -(-p.m // height) * (p.k * step(columns, rows) + 3.0 * height * columns)
    if plan.form == "dots":
        steps, across = -(-p.k // plan.lanes), p.n
        ends, packing = 2.0, SINGLE
    else:
        steps, across = p.k, -(-p.n // plan.lanes)
        ends, packing = 1.0, COPY if p.b[1] == 1 else TRANSPOSE
    panel = (plan.depth or p.k) * min(columns * plan.lanes, p.n) * p.itemsize
    near = plan.form == "dots" or p.m * p.k * p.itemsize + panel <= L1
    full, rest = divmod(across, columns)
    cycles = 0.0
    for count, width in ((full, columns), (1, rest)):
        if width:
            each = step(rows, width, near, panel > L1 and plan.form == "panels")
            cycles += count * (steps * each + ends * rows * width + rows)
    cycles *= -(-p.m // rows)
    two = full and (rest or (plan.form == "panels" and p.n % plan.lanes))
    if two and p.m * p.n * p.k < 1_000_000:
        cycles *= 1.03  # a second body, to be compiled too
    return cycles + (p.n * p.k * packing if plan.packs_b else 0.0)


def step(rows: int, columns: int, near: bool = True, far: bool = False) -> float:
    """Cycles for one fma per sum: two of them, and two loads, can begin in each."""
    loads = rows + columns
    latency = LATENCY if near else 1.15 * LATENCY
    bound = max(rows * columns / 2, loads / 2, latency, 1.6 * columns if far else 0.0)
    return bound + (0.1 if near else 0.15) * loads


def ceiling_power(n: int) -> int:
    return 1 << (n - 1).bit_length()
