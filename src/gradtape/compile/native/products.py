"""Matrix products of sizes and strides that are known when they are compiled."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from llvmlite import ir

from . import packing
from .emitting import I64, POINTER, Emitter, Index, Value, pieces
from .packing import Block
from .planning import Plan, Product, plan

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
    kind = ir.FunctionType(ir.VoidType(), [*[POINTER] * 3, I64, I64, POINTER, POINTER])
    function = ir.Function(module, kind, name)
    Kernel(function, product, plan(product), epilogue).emit()
    return function


def scratch(product: Product) -> int:
    """Bytes that a thread needs for parts of A and B that are copied."""
    return plan(product).scratch(product)


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
        {"panels": self.panels, "dots": self.dots, "pillars": self.pillars}[self.plan.form]()
        self.e.b.ret_void()

    # --- forms ------------------------------------------------------------------------------------
    def panels(self) -> None:
        e, p = self.e, self.p
        with self.bands() as (a, top, bottom, limit):
            for columns, width in self.strips(self.plan.columns * e.lanes):
                with columns as j:
                    b = Block(self.b.at(e, 0, j), *p.b)
                    padded = -(-width // e.lanes) * e.lanes
                    if self.plan.packs_b:
                        packed = Block(self.scratch, padded, 1)
                        packing.copy(e, b, packed, p.k, width)
                        b, present = packed, padded
                    else:
                        present = width
                    with e.each(top, bottom, self.plan.rows) as row:
                        start = row if limit is None else e.least(row, limit)
                        rows = Block(a.at(e, start, 0), a.row, a.column)
                        sums = self.outer_sums(rows, self.plan.rows, b, present)
                        self.finish(sums, start, row, bottom, j, width)

    def dots(self) -> None:
        e, p = self.e, self.p
        b = self.b
        if self.plan.packs_b:
            packed = Block(self.scratch, p.k, 1)
            packing.copy(e, Block(b.start, b.column, b.row), packed, p.n, p.k)
            b = Block(self.scratch, 1, p.k)
        with self.bands() as (a, top, bottom, limit):
            for columns, width in self.strips(self.plan.columns):
                with columns as j, e.each(top, bottom, self.plan.rows) as row:
                    start = row if limit is None else e.least(row, limit)
                    sums = self.inner_sums(
                        Block(a.at(e, start, 0), *p.a), Block(b.at(e, 0, j), b.row, b.column), width
                    )
                    self.finish(sums, start, row, bottom, j, width)

    def pillars(self) -> None:
        """The panels of the transposed product; its tiles go through memory to be turned."""
        e, p = self.e, self.p
        height = self.plan.rows * e.lanes
        turned = e.memory(p.n * height)
        with e.each(self.first, self.last, height) as row:
            start = e.least(row, p.m - height)
            b = Block(self.b.start, p.b[1], p.b[0])
            a = Block(self.a.at(e, start, 0), p.a[1], 1)
            for j, vectors in enumerate(self.outer_sums(b, p.n, a, height)):
                for q, vector in enumerate(vectors):
                    e.store(vector, e.at(turned, j * height + q * e.lanes))
            with e.each(row, e.least(e.add(row, height), self.last)) as i:
                for j, size in pieces(p.n):
                    value = self.gathered(e.at(turned, e.sub(i, start)), j, size, height)
                    self.put(value, size, i, j)

    # --- which parts of C -------------------------------------------------------------------------
    @contextmanager
    def bands(self) -> Iterator[tuple[Block, Index, Index, Index | None]]:
        """Rows of C with the rows of A for them, packed where they are: from where to where, and
        the last that a tile can begin at without reading beyond A's end."""
        e, p, plan = self.e, self.p, self.plan
        if not plan.packs_a and plan.height >= p.m:
            yield self.a, self.first, self.last, p.m - plan.rows
            return
        with e.each(self.first, self.last, plan.height) as top:
            bottom = e.least(e.add(top, plan.height), self.last)
            if not plan.packs_a:
                yield self.a, top, bottom, p.m - plan.rows
                return
            room = e.at(self.scratch, plan.b_room(p) if plan.packs_b else 0)
            part = Block(self.a.at(e, top, 0), *p.a)
            packing.copy(e, part, Block(room, p.k, 1), e.sub(bottom, top), p.k)
            # Rows are counted from A's first, not from the first that is packed.
            begin = e.b.gep(room, [e.mul(e.sub(0, top), p.k)], source_etype=e.kind)
            yield Block(begin, p.k, 1), top, bottom, None

    def strips(self, width: int) -> list[tuple[contextmanager[Index], int]]:
        """Columns of C, as loops over where strips begin, with the strips' widths."""
        n = self.p.n
        full = n - n % width
        found = [(self.e.each(0, full, width), width)] if full else []
        return [*found, (self.e.each(full, n, width), n - full)] if full < n else found

    # --- sums -------------------------------------------------------------------------------------
    def outer_sums(self, a: Block, rows: int, b: Block, width: int) -> list[list[Value]]:
        """A tile: numbers of A times vectors of B, along k."""
        e, k = self.e, self.p.k
        vectors = range(-(-width // e.lanes))

        def of_a(at: Index, i: int) -> Value:
            return e.spread(e.load(a.at(e, i, at)))

        def of_b(at: Index, q: int) -> Value:
            return e.load_some(b.at(e, at, q * e.lanes), min(e.lanes, width - q * e.lanes))

        def step(at: Index, sums: Sequence[Value]) -> list[Value]:
            new = [*sums]
            if len(vectors) <= rows:  # the side with fewer registers is held
                held = [of_b(at, q) for q in vectors]
                for i in range(rows):
                    x = of_a(at, i)
                    for q in vectors:
                        s = i * len(vectors) + q
                        new[s] = e.fma(x, held[q], new[s])
            else:
                held = [of_a(at, i) for i in range(rows)]
                for q in vectors:
                    y = of_b(at, q)
                    for i in range(rows):
                        s = i * len(vectors) + q
                        new[s] = e.fma(held[i], y, new[s])
            return new

        sums = self.along(k, 1, 4, [e.constant(0.0, e.lanes)] * (rows * len(vectors)), step)
        return [[*sums[i * len(vectors) : (i + 1) * len(vectors)]] for i in range(rows)]

    def inner_sums(self, a: Block, b: Block, width: int) -> list[list[Value]]:
        """A tile: vectors of A's rows times vectors of B's columns, and the sums over lanes."""
        e, k, rows = self.e, self.p.k, self.plan.rows

        def step(at: Index, sums: Sequence[Value], present: int = e.lanes) -> list[Value]:
            new = [*sums]
            right = [e.load_some(b.at(e, at, j), present) for j in range(width)]
            for i in range(rows):
                left = e.load_some(a.at(e, i, at), present)
                for j in range(width):
                    new[i * width + j] = e.fma(left, right[j], new[i * width + j])
            return new

        whole = k - k % e.lanes
        sums = self.along(whole, e.lanes, 2, [e.constant(0.0, e.lanes)] * (rows * width), step)
        if whole < k:
            sums = step(whole, sums, k - whole)
        return self.lane_sums([*sums], rows, width)

    def along(
        self, stop: int, stride: int, unrolled: int, sums: Sequence[Value],
        step: Callable[[Index, Sequence[Value]], list[Value]],
    ) -> Sequence[Value]:  # fmt: skip
        """Steps along k; a few are written out, many are a loop."""
        if stop <= unrolled * stride:
            for at in range(0, stop, stride):
                sums = step(at, sums)
            return sums
        return self.e.fold(stop, stride, sums, step)

    def lane_sums(self, sums: list[Value], rows: int, width: int) -> list[list[Value]]:
        """The sum over each vector's lanes; as many vectors as there are lanes go together."""
        e, n = self.e, self.e.lanes
        at_once = max(n // width, 1)  # rows
        found: list[list[Value]] = []
        for top in range(0, rows, at_once):
            count = min(at_once, rows - top) * width
            vectors = sums[top * width : top * width + count]
            labels: list[list[int]] = [[s] * n for s in range(count)]
            distance = n
            while distance > 1:
                # [x x x x | x x x x] and [y y y y | y y y y] become [x x x x | y y y y]
                distance //= 2
                blocks = range(0, n, 2 * distance)
                low = [s for o in blocks for side in (0, n) for s in range(o + side, o + side + distance)]
                high = [s + distance for s in low]
                pairs = [(i, min(i + 1, len(vectors) - 1)) for i in range(0, len(vectors), 2)]
                labels = [[(labels[x] + labels[y])[s] for s in low] for x, y in pairs]
                vectors = [
                    e.b.fadd(
                        e.shuffle(vectors[x], vectors[y], low),
                        e.shuffle(vectors[x], vectors[y], high),
                    )
                    for x, y in pairs
                ]
            (vector,), (label,) = vectors, labels
            for i in range(count // width):
                lanes = [label.index(i * width + j) for j in range(width)]
                found.append(
                    [e.pick(vector, lanes[o : o + s]) for o, s in pieces(width)]
                )
        return found

    def gathered(self, start: Value, first: int, count: int, distance: int) -> Value:
        """Numbers from memory, as far apart."""
        e = self.e
        values = [e.load(e.at(start, (first + j) * distance)) for j in range(count)]
        if count == 1:
            return values[0]
        found = ir.Constant(e.vector(count), ir.Undefined)
        for j, value in enumerate(values):
            found = e.b.insert_element(found, value, ir.Constant(ir.IntType(32), j))
        return found

    # --- ends -------------------------------------------------------------------------------------
    def finish(
        self, sums: list[list[Value]], start: Index, row: Index, bottom: Index, j: Index, width: int
    ) -> None:
        """Store a tile that begins at row `start`: its rows from `row` on, and before `bottom`."""
        e = self.e
        spans = self.spans(width)
        if self.epilogue is None:
            left = e.sub(bottom, row)
            for i, values in enumerate(sums):
                at = e.add(start, i)
                with e.where(e.b.icmp_unsigned("<", e.sub(at, row), left)):
                    self.put_row(values, spans, at, j)
            return
        # An epilogue is written once, not for every row: its loop costs less than its compilation.
        padded = -(-width // e.lanes) * e.lanes
        tile = e.memory(len(sums) * padded)
        for i, values in enumerate(sums):
            for value, (offset, _) in zip(values, spans, strict=True):
                e.store(value, e.at(tile, i * padded + offset))
        with e.each(row, e.least(e.add(start, len(sums)), bottom)) as at:
            here = e.at(tile, e.mul(e.sub(at, start), padded))
            values = [
                e.load(e.at(here, offset), s)
                for offset, size in spans for s in [size if self.plan.form == "dots" else e.lanes]
            ]
            self.put_row(values, spans, at, j)

    def spans(self, width: int) -> list[tuple[int, int]]:
        """Where the vectors of a row of a tile begin, and how many of their numbers count."""
        if self.plan.form == "dots":
            return pieces(width)
        return [(o, min(self.e.lanes, width - o)) for o in range(0, width, self.e.lanes)]

    def put_row(
        self, values: list[Value], spans: list[tuple[int, int]], i: Index, j: Index
    ) -> None:
        for value, (offset, count) in zip(values, spans, strict=True):
            for first, size in pieces(count):
                part = self.e.pick(value, range(first, first + size))
                self.put(part, size, i, self.e.add(j, offset + first))

    def put(self, value: Value, size: int, i: Index, j: Index) -> None:
        """Store neighbouring numbers of a row of C."""
        e, p = self.e, self.p
        to = self.c.at(e, i, j)
        factor = e.constant(p.alpha, size)
        if p.add:
            old = e.load(to, size)
            value = e.b.fadd(old, value) if p.alpha == 1 else e.fma(factor, value, old)
        elif p.alpha != 1:
            value = e.b.fmul(factor, value)
        if self.epilogue is not None:
            column = j if not isinstance(j, int) else ir.Constant(I64, j)
            value = self.epilogue(e.b, value, i, column)
        e.store(value, to)
