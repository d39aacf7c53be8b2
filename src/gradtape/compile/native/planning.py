"""Which kernel a product gets: the cheapest by a count of cycles, checked against measurements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

from .machine import host

L1 = 32 * 1024
HALF_L2 = 256 * 1024
# By what a Zen 3 takes; other processors differ less than forms do.
LATENCY = 4.0  # of an fma: so many cycles must pass before a sum takes its next number
TILE = 10.0  # cycles to begin and end a tile
COPY, TRANSPOSE, SINGLE = 0.2, 0.5, 1.5  # cycles a number


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
    height: int = 0  # rows of C between two packings
    depth: int = 0  # numbers of k after which sums are laid aside, until all columns are there

    def scratch(self, p: Product) -> int:
        """Bytes for what is packed and laid aside."""
        aside = p.m * self.padded(p.n) if self.form == "panels" and self.depth < p.k else 0
        return (self.room_a(p) + self.room_b(p) + aside) * p.itemsize

    def room_a(self, p: Product) -> int:
        """Numbers of A that are packed at a time, with those that a last tile reads beyond."""
        return (self.height + self.rows) * self.depth if self.packs_a else 0

    def room_b(self, p: Product) -> int:
        if not self.packs_b:
            return 0
        return p.k * p.n if self.form == "dots" else self.depth * self.columns * self.lanes

    def padded(self, width: int) -> int:
        """A width in whole vectors."""
        return -(-width // self.lanes) * self.lanes


@cache
def plan(p: Product) -> Plan:
    """The kernel for a product."""
    return min(candidates(p), key=lambda c: cost(p, c))


def candidates(p: Product) -> Iterator[Plan]:
    lanes = host().lanes(p.itemsize)
    for rows, columns in tiles(host().registers, 8):
        if rows <= p.m:
            narrow = min(lanes, ceiling_power(p.n))
            if columns <= -(-p.n // narrow):
                yield settled(p, Plan("panels", rows, columns, narrow))
            if p.a[1] == 1 and columns <= min(p.n, lanes) and p.k >= lanes:
                yield Plan("dots", rows, columns, lanes, packs_b=p.b[0] != 1)
        if p.a[0] == 1 and columns == p.n and rows * lanes <= p.m:
            yield Plan("pillars", rows, columns, lanes)


def settled(p: Product, plan: Plan) -> Plan:
    """With what it packs, and how often."""
    # Unpacked rows of B fall into the same places of the first cache when it is larger.
    large = p.k * p.b[0] * p.itemsize > L1 and p.m >= 4 * plan.rows
    plan = replace(plan, packs_b=p.b[1] != 1 or large, height=p.m, depth=max(p.k, 1))
    if p.a[1] != 1 and p.k * p.a[1] * p.itemsize > HALF_L2:
        plan = replace(plan, packs_a=True)
    budget = HALF_L2 if plan.packs_a else 16 * HALF_L2
    height = max(budget // (plan.depth * p.itemsize), 16 * plan.rows)
    return replace(plan, height=min(height // plan.rows * plan.rows, p.m))


def tiles(registers: int, most: int) -> Iterator[tuple[int, int]]:
    """Numbers of rows and columns whose sums, one side and one of the other fit in registers."""
    for rows in range(1, most + 1):
        for columns in range(1, registers):
            if rows * columns + min(rows, columns) + 1 <= registers:
                yield rows, columns


def cost(p: Product, plan: Plan) -> float:
    """Cycles of a product, roughly."""
    if plan.form == "panels":
        return _panels(p, plan)
    if plan.form == "dots":
        return _dots(p, plan)
    tall = -(-p.m // (plan.rows * plan.lanes))
    ends = 3.0 * plan.rows * plan.lanes * plan.columns
    return tall * (p.k * _step(plan.columns, plan.rows) + TILE + ends)


def _panels(p: Product, plan: Plan) -> float:
    vectors = -(-p.n // plan.lanes)
    full, rest = divmod(vectors, plan.columns)
    per_row = full * (p.k * _step(plan.rows, plan.columns) + TILE + plan.rows * plan.columns)
    if rest:
        per_row += p.k * _step(plan.rows, rest) + TILE + plan.rows * rest
    cycles = -(-p.m // plan.rows) * per_row
    if plan.packs_b:
        cycles += p.n * p.k * (COPY if p.b[1] == 1 else TRANSPOSE)
    if full and (rest or p.n % plan.lanes):
        cycles *= 1.03  # a second body, to be compiled too
    return cycles


def _dots(p: Product, plan: Plan) -> float:
    full, rest = divmod(p.n, plan.columns)
    steps = -(-p.k // plan.lanes)
    cycles = 0.0
    for count, columns in ((full, plan.columns), (1, rest)):
        if columns:
            sums = plan.rows * columns
            cycles += count * (steps * _step(plan.rows, columns) + TILE + 2.0 * sums)
    cycles *= -(-p.m // plan.rows)
    return cycles + (p.n * p.k * SINGLE if plan.packs_b else 0.0)


def _step(rows: int, columns: int) -> float:
    """Cycles for one fma per sum: two of them, and two loads, can begin in each."""
    return max(rows * columns / 2, (rows + columns) / 2, LATENCY)


def ceiling_power(n: int) -> int:
    return 1 << (n - 1).bit_length()
