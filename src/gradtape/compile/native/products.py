"""Matrix products of sizes and strides that are known when they are compiled.

BLAS is not called, even for the largest, where it is up to a tenth faster: its bits depend on how
rows are shared (OpenBLAS, 45 of 45 products that were cut in two), ours do not.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext

from llvmlite import ir

from . import packing, tiles
from .emitting import I32, I64, POINTER, Emitter, Index, Value, integer, pieces
from .packing import Block
from .planning import Plan, Product, plan

__all__ = ["Epilogue", "Product", "emit", "grain", "scratch"]

Epilogue = Callable[[ir.IRBuilder, Value, Value, Value], Value]


def emit(
    module: ir.Module, name: str, product: Product, epilogue: Epilogue | None = None
) -> ir.Function:
    """`void name(A, B, C, i64 first, i64 last, scratch, extra)`: rows `first` to `last` of C.

    Threads can share a product by rows: its bits do not depend on who computes what. Each needs
    `scratch(product)` bytes of its own, best on a multiple of 64. `epilogue(builder, values, row,
    column)` gives what is stored for neighbouring values of C, a vector or one number, each value
    once; it finds `extra` in `builder.function.args[6]`, and may read what C holds there.
    """
    return write(module, name, product, plan(product), epilogue)


def write(
    module: ir.Module, name: str, product: Product, plan: Plan, epilogue: Epilogue | None = None
) -> ir.Function:
    """The same by a kernel of one's choice."""
    kind = ir.FunctionType(ir.VoidType(), [*[POINTER] * 3, I64, I64, POINTER, POINTER])
    function = ir.Function(module, kind, name)
    Kernel(function, product, plan, epilogue).emit()
    return function


def scratch(product: Product) -> int:
    """Bytes that a thread needs for copies of parts of A and B, and for sums on the way."""
    return plan(product).scratch(product)


def grain(product: Product) -> int:
    """Rows that a thread's share is best a multiple of: those of a tile."""
    chosen = plan(product)
    return chosen.rows * (chosen.lanes if chosen.form == "pillars" else 1)


class Kernel:
    """The function of a product while it is written."""

    def __init__(
        self, function: ir.Function, product: Product, plan: Plan, epilogue: Epilogue | None
    ) -> None:
        a, b, c, self.first, self.last, self.scratch, _ = function.args
        self.e = Emitter(ir.IRBuilder(function.append_basic_block()), product.dtype, plan.lanes)
        self.p, self.plan, self.epilogue = product, plan, epilogue
        self.a, self.b, self.c = Block(a, *product.a), Block(b, *product.b), Block(c, *product.c)

    def emit(self) -> None:
        forms = {"panels": self.panels, "dots": self.dots, "pillars": self.pillars}
        if self.p.m and self.p.n:
            forms[self.plan.form]()
        self.e.b.ret_void()

    # --- forms ------------------------------------------------------------------------------------
    def panels(self) -> None:
        e, p, plan = self.e, self.p, self.plan
        if plan.depth >= p.k:
            self.slab(0, p.k, None)
            return
        kept = Block(e.at(self.scratch, plan.room_a(p) + plan.room_b(p)), plan.padded(p.n), 1)
        with e.each(self.first, self.last) as i, e.each(0, kept.row, e.lanes) as j:
            e.store(e.constant(0.0, e.lanes), kept.at(e, i, j))
        with e.each(0, p.k, plan.depth) as at:
            self.slab(at, e.least(plan.depth, e.sub(p.k, at)), kept)
        with e.each(self.first, self.last) as i:
            for first, last, width in self.strips(e.lanes):
                with e.each(first, last, width) as j:
                    self.put_row([e.load(kept.at(e, i, j), e.lanes)], [(0, width)], i, j)

    def slab(self, at: Index, depth: Index, kept: Block | None) -> None:
        """Along `depth` numbers of k from `at` on; sums that are not whole are kept."""
        e, p, plan = self.e, self.p, self.plan
        a = self.a.part(e, 0, at)
        if plan.packs_a:
            packed = Block(e.at(self.scratch, plan.room_b(p)), plan.stride_a, 1)
            count = e.sub(self.last, self.first)
            packing.copy(e, a.part(e, self.first, 0), packed, count, depth)
            a = packed.part(e, e.sub(0, self.first), 0)
        for first, last, width in self.strips(plan.columns * e.lanes):
            padded, together = plan.padded(width), min(plan.group * width, last - first)
            with e.each(first, last, together) as left:
                right = e.least(e.add(left, together), last)
                if plan.packs_b:
                    self.pack_b(at, depth, left, right, width)
                with e.each(self.first, self.last, plan.rows) as row:
                    # A tile does not read beyond A's end, but may beyond that of what is packed.
                    start = row if plan.packs_a else e.least(row, p.m - plan.rows)
                    rows = a.part(e, start, 0)
                    with e.each(left, right, width) if together > width else nullcontext(left) as j:
                        b, present = self.b.part(e, at, j), width
                        if plan.packs_b:
                            place = e.mul(e.sub(j, left), plan.depth)
                            b, present = Block(e.at(self.scratch, place), padded, 1), padded
                        here = kept and kept.part(e, start, j)
                        tile = tiles.outer(e, rows, plan.rows, b, present, depth, here)
                        self.finish(tile, start, row, j, width, here)

    def pack_b(self, at: Index, depth: Index, left: Index, right: Index, width: int) -> None:
        """Columns of B as panels one behind the other."""
        e, plan = self.e, self.plan
        padded = plan.padded(width)
        if plan.group == 1:
            panel, source = Block(self.scratch, padded, 1), self.b.part(e, at, left)
            packing.copy(e, source, panel, depth, width, fill=True)
            return
        # Where each row is in a page of its own, finding the page takes longer than copying.
        by_rows = self.b.column == 1
        with e.each(0, depth) if by_rows else nullcontext(0) as i, e.each(left, right, width) as j:
            place = e.add(e.mul(e.sub(j, left), plan.depth), e.mul(i, padded))
            panel = Block(e.at(self.scratch, place), padded, 1)
            source = self.b.part(e, e.add(at, i), j)
            packing.copy(e, source, panel, 1 if by_rows else depth, width, fill=True)

    def dots(self) -> None:
        e, p, plan = self.e, self.p, self.plan
        b = self.b
        if plan.packs_b:
            b = Block(self.scratch, 1, p.k)
            packing.copy(e, self.b.turned, b.turned, p.n, p.k)
        for first, last, width in self.strips(plan.columns):
            with (
                e.each(first, last, width) as j,
                e.each(self.first, self.last, plan.rows) as row,
            ):
                start = e.least(row, p.m - plan.rows)
                rows, across = self.a.part(e, start, 0), b.part(e, 0, j)
                tile = tiles.inner(e, rows, plan.rows, across, width, p.k)
                self.finish(tile, start, row, j, width)

    def pillars(self) -> None:
        """The panels of the transposed product; its tiles go through memory to be turned."""
        e, p = self.e, self.p
        height = self.plan.rows * e.lanes
        turned = e.memory(p.n * height)
        with e.each(self.first, self.last, height) as row:
            start = e.least(row, p.m - height)
            a = self.a.part(e, start, 0).turned
            for j, vectors in enumerate(tiles.outer(e, self.b.turned, p.n, a, height, p.k)):
                for q, vector in enumerate(vectors):
                    e.store(vector, e.at(turned, j * height + q * e.lanes))
            with e.each(row, e.least(e.add(row, height), self.last)) as i:
                here = e.at(turned, e.sub(i, start))
                for j, size in pieces(p.n):
                    self.put(self._gathered(here, range(j, j + size), height), size, i, j)

    def _gathered(self, start: Value, places: range, distance: int) -> Value:
        e = self.e
        values = [e.load(e.at(start, place * distance)) for place in places]
        if len(values) == 1:
            return values[0]
        found = ir.Constant(e.vector(len(values)), ir.Undefined)
        for lane, value in enumerate(values):
            found = e.b.insert_element(found, value, ir.Constant(I32, lane))
        return found

    # --- which parts of C -------------------------------------------------------------------------
    def strips(self, width: int) -> list[tuple[int, int, int]]:
        """Columns of C: from where to where strips are so wide, and from there on what is left."""
        n = self.p.n
        full = n - n % width
        found = [(0, full, width), (full, n, n - full)]
        return [(first, last, wide) for first, last, wide in found if first < last]

    # --- ends -------------------------------------------------------------------------------------
    def finish(
        self, tile: tiles.Tile, start: Index, row: Index, j: Index, width: int,
        kept: Block | None = None,
    ) -> None:  # fmt: skip
        """A tile that begins at row `start`: its rows from `row` on and before the last."""
        e = self.e
        spans = self.spans(width)
        if self.epilogue is None or kept is not None or self.p.k <= 8:
            left = e.sub(self.last, row)
            for i, values in enumerate(tile):
                at = e.add(start, i)
                with e.b.if_then(e.b.icmp_unsigned("<", e.sub(at, row), left)):
                    if kept is None:
                        self.put_row(values, spans, at, j)
                        continue
                    for value, (first, _) in zip(values, spans, strict=True):
                        e.store(value, kept.at(e, i, first))
            return
        # An epilogue may be long: it is written once, not for each row, unless sums are so short
        # that the way through memory counts (54 for 78 GFLOP/s with 32 x 64 x 4).
        here = Block(e.memory(len(tile) * self.plan.padded(width)), self.plan.padded(width), 1)
        for i, values in enumerate(tile):
            for value, (first, _) in zip(values, spans, strict=True):
                e.store(value, here.at(e, i, first))
        sizes = [getattr(value.type, "count", 1) for value in tile[0]]
        with e.each(row, e.least(e.add(start, len(tile)), self.last)) as at:
            places = [(here.at(e, e.sub(at, start), first)) for first, _ in spans]
            values = [e.load(place, size) for place, size in zip(places, sizes, strict=True)]
            self.put_row(values, spans, at, j)

    def spans(self, width: int) -> list[tuple[int, int]]:
        """Where the vectors in a row of a tile begin, and how many of their numbers count."""
        if self.plan.form == "dots":
            return pieces(width)
        lanes = self.e.lanes
        return [(first, min(lanes, width - first)) for first in range(0, width, lanes)]

    def put_row(
        self, values: list[Value], spans: list[tuple[int, int]], i: Index, j: Index
    ) -> None:
        for value, (start, count) in zip(values, spans, strict=True):
            for first, size in pieces(count):
                part = self.e.pick(value, range(first, first + size))
                self.put(part, size, i, self.e.add(j, start + first))

    def put(self, value: Value, size: int, i: Index, j: Index) -> None:
        """Store neighbouring numbers of C."""
        e, p = self.e, self.p
        to, alpha = self.c.at(e, i, j), e.constant(p.alpha, size)
        if p.add:
            old = e.load(to, size)
            value = e.b.fadd(old, value) if p.alpha == 1 else e.fma(alpha, value, old)
        elif p.alpha != 1:
            value = e.b.fmul(alpha, value)
        if self.epilogue is not None:
            value = self.epilogue(e.b, value, integer(i), integer(j))
        e.store(value, to)
