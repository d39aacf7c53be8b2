"""Convolution and its two transposes, straight from the images: no window is ever laid out.

A window's cells lie at fixed distances from where it begins, so a tile of results is a sum over
these distances, and a row of cells that lie one behind the other is one loop. Only images that have
a border are copied, into the cache, to get it. The way back to the input is the same sum over the
windows that an input takes part in; of windows several steps apart, one for each remainder.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

import numpy as np
from llvmlite import ir

from ...ops import convolve
from ..program import Equation, Var
from . import packing, tiles
from .crew import wanted
from .emitting import I64, POINTER, Emitter, Index, Value, integer, pieces
from .layout import Layout, rows
from .machine import host
from .nests import SCRATCH, Single
from .packing import Block
from .planning import L1, LATENCY, ceiling_power
from .planning import tiles as forms
from .sharing import Sharing, blocks, heights

OPS = {convolve.conv, convolve.conv_input, convolve.conv_filter}
BYTES = np.dtype(np.uint8)
LINE = 64
FEW = 24  # windows that are gone through by loops with a table of where they begin
SWEPT = 200  # windows of a filter's sum between two times that its tiles are stored
WRITTEN = 8  # steps of a sum that are written out
TILE = 10.0  # cycles to begin and end a tile


def fits(equation: Equation, layouts: list[Layout]) -> bool:
    """Without groups of channels, in the two precisions that vectors have."""
    if equation.op not in OPS or equation.outputs[0].dtype.char not in "fd":
        return False
    if any(v.dtype != equation.outputs[0].dtype for v in equation.inputs):
        return False
    a, b = layouts
    if equation.op is convolve.conv:
        return a.shape[-1] == b.shape[-2]
    if equation.op is convolve.conv_input:
        return equation.params["shape"][-1] == b.shape[-2]
    return a.shape[-1] == equation.params["depth"] and b.contiguous


def likeness(item: Single) -> tuple[tuple, list[Var]]:
    (a, b), (value,) = item.reads, item.equation.outputs
    size = -(-_of(item).scratch // LINE) * LINE
    room = [Var(SCRATCH, (wanted(), size), BYTES)] if size else []
    return told(item), [a.root, b.root, value, *room]


def told(item: Single) -> tuple:
    """All that the code depends on."""
    equation, (value,) = item.equation, item.equation.outputs
    return (
        equation.op.name, equation.params["geometry"], value.shape, value.dtype.str,
        *[(x.shape, x.strides, x.offset) for x in item.reads],
    )  # fmt: skip


def sharing(item: Single) -> Sharing:
    return _of(item).sharing


def work(item: Single) -> float:
    return _of(item).multiplications / 40


def write(module: ir.Module, name: str, item: Single) -> ir.Function:
    task = _of(item)
    pointers = [POINTER] * (4 if task.scratch else 3)
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [*pointers, I64, I64]), name)
    function.linkage = "internal"
    function.attributes.add("noinline")
    for argument in function.args[: len(pointers)]:
        argument.add_attribute("noalias")
    task.write(function)
    return function


def _of(item: Single) -> Gathered | _Filter:
    return (_Filter if item.equation.op is convolve.conv_filter else Gathered)(item)


# --- images with a border -------------------------------------------------------------------------
class Images:
    """Some images at a time, at most a few, with zeros around them."""

    def __init__(self, layout: Layout, pads: Sequence[tuple[int, int]], few: int) -> None:
        self.layout, self.pads = layout, pads
        self.batch, *self.inner, self.channels = layout.shape
        sizes = [n + low + high for n, (low, high) in zip(self.inner, pads, strict=True)]
        self.copied = any(map(any, pads)) or not layout.contiguous
        self.steps = rows((self.batch, *sizes, self.channels))
        self.block = max(n for n in range(1, min(few, self.batch) + 1) if not self.batch % n)
        self.room = self.block * self.steps[0] if self.copied else 0

    def clear(self, e: Emitter, scratch: Value) -> None:
        if any(map(any, self.pads)):
            _fill(e, scratch, self.room)

    def lay(self, e: Emitter, given: Value, scratch: Value, block: Index) -> Value:
        """Where the images of a block are."""
        strides, sizes = self.layout.strides, self.layout.shape
        start = e.add(e.mul(block, self.block * strides[0]), self.layout.offset)
        source = e.at(given, start)
        if not self.copied:
            return source
        inside = sum(low * n for (low, _), n in zip(self.pads, self.steps[1:], strict=False))
        target = e.at(scratch, inside)
        across, channel = strides[-2:]
        apart, there, counts = (across, channel), (self.channels, 1), (sizes[-2], sizes[-1])
        if channel == 1 and across == self.channels:  # a row as a whole
            apart, there, counts = (0, 1), (0, 1), (1, sizes[-2] * sizes[-1])

        def along(k: int, source: Value, target: Value) -> None:
            if k == len(sizes) - 2:
                packing.copy(e, Block(source, *apart), Block(target, *there), *counts)
                return
            with e.each(0, sizes[k] if k else self.block) as i:
                along(
                    k + 1, e.at(source, e.mul(i, strides[k])), e.at(target, e.mul(i, self.steps[k]))
                )

        along(0, source, target)
        return scratch


def _fill(e: Emitter, start: Value, count: int) -> None:
    zeros = count - count % e.lanes
    if zeros:
        with e.each(0, zeros, e.lanes) as at:
            e.store(e.constant(0.0, e.lanes), e.at(start, at))
    for i in range(zeros, count):
        e.store(e.constant(0.0, 1), e.at(start, i))


def table(e: Emitter, numbers: Sequence[int]) -> Value:
    module = e.b.module
    kind = ir.ArrayType(I64, len(numbers))
    found = ir.GlobalVariable(module, kind, module.get_unique_name("table"))
    found.linkage, found.global_constant = "internal", True
    found.initializer = ir.Constant(kind, [*numbers])
    return e.b.bitcast(found, POINTER) if found.type != POINTER else found


def entry(e: Emitter, table: Value, k: Index) -> Value:
    return e.b.load(e.b.gep(table, [integer(k)], source_etype=I64), typ=I64, align=8)


# --- tiles ----------------------------------------------------------------------------------------
def shares(size: int, most: int) -> list[tuple[int, int, int]]:
    """A size in parts of at most so many, as equal as can be: (first, how many, each)."""
    count = -(-size // most)
    small, larger = divmod(size, count)
    found = [(0, larger, small + 1)] if larger else []
    return [*found, (larger * (small + 1), count - larger, small)]


def _tile(size: int, n: int, depth: int, lanes: int) -> tuple[int, int]:
    """How many rows and vectors of sums are held in registers: the fewest cycles by a count."""
    vectors = -(-n // lanes)

    def away(width: int) -> float:
        """Cycles a vector of a strip takes that does not stay in the first cache: of 400 steps,
        tiles of 3 by 4 take 16 million cycles where 6 by 2 take 11."""
        return 0.25 * width if depth * width * host().vector_bytes > L1 / 2 else 0.0

    def cycles(rows: int, columns: int) -> float:
        total = 0.0
        for _, count, height in shares(size, rows):
            for groups, width in ((vectors // columns, columns), (1, vectors % columns)):
                if width:
                    step = max(height * width / 2, (height + width) / 2, LATENCY) + away(width)
                    total += count * groups * (100 * step + TILE + height * width)
        return total

    found = [
        (rows, columns)
        for rows, columns in forms(host().registers, 8)
        if rows <= size and columns <= vectors
    ]
    return min(found, key=lambda form: cycles(*form))


@dataclass(frozen=True)
class _Strips:
    """The columns of a result, some vectors at a time."""

    n: int
    lanes: int
    columns: int

    @property
    def width(self) -> int:
        return self.columns * self.lanes

    @property
    def padded(self) -> int:
        return -(-self.n // self.lanes) * self.lanes

    def each(self, e: Emitter) -> Iterator[tuple[Index, int]]:
        """Where strips begin, and their widths, each in a loop of its own."""
        full = self.n - self.n % self.width
        if full:
            with e.each(0, full, self.width) as j:
                yield j, self.width
        if full < self.n:
            yield full, self.n - full

    def store(self, e: Emitter, values: Sequence[Value], width: int, place: Value) -> None:
        for q, value in enumerate(values):
            for first, size in pieces(min(self.lanes, width - q * self.lanes)):
                part = e.pick(value, range(first, first + size))
                e.store(part, e.at(place, q * self.lanes + first))


# --- forward, and back to the input ---------------------------------------------------------------
@dataclass(frozen=True)
class Phase:
    """Results whose windows have the same cells."""

    axes: list[tuple[int, int, int]]  # how many, how far apart their windows and they are
    start: int  # where the first of them is
    cells: list[tuple[int, int]]  # where cells are in the window, and which ones of the filter


class Gathered:
    """Results that are sums over cells of the operand's channels times a part of the filter."""

    def __init__(self, item: Single) -> None:
        equation, (a, self.filter) = item.equation, item.reads
        (value,) = equation.outputs
        self.geometry = equation.params["geometry"]
        self.kind = value.dtype.str[1:]
        self.out = rows(value.shape)
        self.forward = equation.op is convolve.conv
        self.phases = self._forward(a, value) if self.forward else self._back(a, value)
        self._choose(a, value)

    def _choose(self, a: Layout, value: Var) -> None:
        """The tiles, and what they need."""
        n = value.shape[-1]
        lanes = min(host().lanes(value.dtype.itemsize), ceiling_power(n))
        self.lanes = lanes
        self.chunk = self._chunk(self.phases[0])
        count = prod(c for c, _, _ in self._axes(self.phases[0])[self.chunk :])
        depth = prod(self.geometry.size) * a.shape[-1] // len(self.phases)
        self.rows, columns = _tile(count, n, depth, lanes)
        self.strips = _Strips(n, lanes, columns)
        cells = prod(self.geometry.size)
        self.panels = cells * self.images.channels * self.strips.padded
        self.scratch = (self._aligned(self.images.room) + self.panels) * value.dtype.itemsize
        self.sharing = blocks(value, self.images.batch, self.images.block)
        windows = a.shape if not self.forward else value.shape
        self.multiplications = prod(windows[:-1]) * cells * a.shape[-1] * n

    def _aligned(self, count: int) -> int:
        return -(-count // LINE) * LINE

    def _forward(self, a: Layout, value: Var) -> list[Phase]:
        g = self.geometry
        counts = value.shape[1:-1]
        self.images = Images(a, g.pads, -(-2 * FEW // prod(counts)))
        steps = self.images.steps[1:-1]
        axes = [
            (count, s * step, out)
            for count, s, step, out in zip(counts, g.strides, steps, self.out[1:-1], strict=True)
        ]
        places = product(*[[c * d * step for c in range(k)] for k, d, step
                           in zip(g.size, g.dilations, steps, strict=True)])  # fmt: skip
        return [Phase(axes, 0, [(sum(place), k) for k, place in enumerate(places)])]

    def _back(self, a: Layout, value: Var) -> list[Phase]:
        g = self.geometry
        inner = value.shape[1:-1]
        # For each axis and remainder: how many inputs there are, and which cells of the filter meet
        # the result how many places behind the input's number.
        along: list[list[tuple[int, int, list[tuple[int, int]]]]] = []
        pads = []
        for n, count, k, s, d, (low, _) in zip(inner, a.shape[1:-1], *g, strict=True):
            found = []
            for p in range(min(s, n)):
                shifts = [
                    ((p + low - c * d) // s, c) for c in range(k) if not (p + low - c * d) % s
                ]
                found.append((p, -(-(n - p) // s), sorted(shifts)))
            least = min([m for _, _, shifts in found for m, _ in shifts], default=0)
            most = max([q - 1 + m for _, q, shifts in found for m, _ in shifts], default=0)
            pads.append((max(-least, 0), max(most - count + 1, 0)))
            along.append(found)
        windows = prod(q for _, q, _ in [found[0] for found in along])
        self.images = Images(a, pads, -(-2 * FEW // windows))
        steps = self.images.steps[1:-1]
        which = rows(g.size)
        phases = []
        for phase in product(*along):
            axes = [
                (q, step, s * out)
                for (_, q, _), step, s, out in zip(
                    phase, steps, g.strides, self.out[1:-1], strict=True
                )
            ]
            start = sum(p * out for (p, _, _), out in zip(phase, self.out[1:-1], strict=True))
            cells = []
            for cell in product(*[shifts for _, _, shifts in phase]):
                place = sum(
                    (low + m) * step
                    for (m, _), (low, _), step in zip(cell, pads, steps, strict=True)
                )
                cells.append((place, sum(c * k for (_, c), k in zip(cell, which, strict=True))))
            phases.append(Phase(axes, start, cells))
        return phases

    def _axes(self, phase: Phase) -> list[tuple[int, int, int]]:
        if self.images.block == 1:
            return phase.axes
        return [(self.images.block, self.images.steps[0], self.out[0]), *phase.axes]

    def _chunk(self, phase: Phase) -> int:
        """From which axis on results are numbered through."""
        axes = self._axes(phase)
        first = len(axes) - 1
        while first and prod(count for count, _, _ in axes[first:]) < FEW:
            first -= 1
        return first

    # --- code -------------------------------------------------------------------------------------
    def write(self, function: ir.Function) -> None:
        e = Emitter(ir.IRBuilder(function.append_basic_block()), self.kind, self.lanes)
        given, b, out, scratch, first, last = function.args
        self.e = e
        self.images.clear(e, scratch)
        panels = e.at(scratch, self._aligned(self.images.room))
        self._pack(b, panels)
        plans = [self._plan(phase) for phase in self.phases]
        with e.each(first, last) as block:
            images = self.images.lay(e, given, scratch, block)
            here = e.at(out, e.mul(block, self.images.block * self.out[0]))
            at = 0
            for phase, plan in zip(self.phases, plans, strict=True):
                self._phase(phase, plan, images, e.at(panels, at), here)
                at += len(phase.cells) * self.images.channels * self.strips.padded
        e.b.ret_void()

    def _pack(self, b: Value, panels: Value) -> None:
        """The filter strip by strip, cell after cell as the windows have them."""
        e, channels = self.e, self.images.channels
        *cells, row, column = self.filter.strides
        if not self.forward:
            row, column = column, row
        sizes = self.geometry.size
        places = [
            sum(i * stride for i, stride in zip(cell, cells, strict=True))
            for cell in product(*map(range, sizes))
        ]
        at = 0
        for phase in self.phases:
            if not phase.cells:
                continue
            count = len(phase.cells)
            begins = table(e, [self.filter.offset + places[k] for _, k in phase.cells])
            for j, width in self.strips.each(e):
                present = -(-width // self.lanes) * self.lanes
                start = e.add(at, e.mul(j, count * channels))
                with e.each(0, count) as cell:
                    source = e.at(b, e.add(entry(e, begins, cell), e.mul(j, column)))
                    target = e.at(panels, e.add(start, e.mul(cell, channels * present)))
                    packing.copy(
                        e, Block(source, row, column), Block(target, present, 1), channels, width
                    )
            at += count * channels * self.strips.padded

    def _plan(self, phase: Phase) -> tuple:
        """Tables of where windows begin, where results are, and where rows of cells begin."""
        axes = self._axes(phase)[self.chunk :]
        turns = list(product(*[range(count) for count, _, _ in axes]))
        places = [
            [sum(i * axis[which] for i, axis in zip(turn, axes, strict=True)) for turn in turns]
            for which in (1, 2)
        ]
        channels, cells = self.images.channels, [place for place, _ in phase.cells]
        length = 1
        while length < len(cells) and cells[length] == cells[length - 1] + channels:
            length += 1
        if any(
            cells[k] != cells[k - k % length] + k % length * channels for k in range(len(cells))
        ):
            length = 1
        runs = cells[::length]
        return (
            len(turns),
            [table(self.e, p) for p in (*places, runs)],
            len(runs),
            length * channels,
        )

    def _phase(self, phase: Phase, plan: tuple, images: Value, panels: Value, out: Value) -> None:
        e, strips = self.e, self.strips
        count, (begins, results, runs), many, length = plan
        outer = self._axes(phase)[: self.chunk]
        for j, width in strips.each(e):
            panel = e.at(panels, e.mul(j, many * length))
            there = e.at(out, e.add(phase.start, j))

            def along(k: int, source: Value, target: Value, panel: Value, width: int) -> None:
                if k < len(outer):
                    size, read, written = outer[k]
                    with e.each(0, size) as i:
                        along(
                            k + 1, e.at(source, e.mul(i, read)), e.at(target, e.mul(i, written)),
                            panel, width,
                        )  # fmt: skip
                    return
                for start, times, height in shares(count, self.rows):
                    with e.each(0, times) as i:
                        p = e.add(e.mul(i, height), start)
                        numbers = [e.add(p, r) for r in range(height)]
                        windows = [e.at(source, entry(e, begins, n)) for n in numbers]
                        tile = self._sums(windows, panel, width, runs, many, length)
                        for n, values in zip(numbers, tile, strict=True):
                            strips.store(e, values, width, e.at(target, entry(e, results, n)))

            along(0, images, there, panel, width)

    def _sums(
        self, windows: list[Value], panel: Value, width: int, runs: Value, many: int, length: int
    ) -> tiles.Tile:
        e, height = self.e, len(windows)
        columns = -(-width // self.lanes)
        present = columns * self.lanes
        sums: Sequence[Value] = [e.constant(0.0, self.lanes)] * (height * columns)

        def run(r: Index, sums: Sequence[Value]) -> Sequence[Value]:
            here = entry(e, runs, r)
            starts = [e.at(window, here) for window in windows]
            cells = e.at(panel, e.mul(r, length * present))

            def step(t: Index, sums: Sequence[Value]) -> list[Value]:
                at = e.at(cells, e.mul(t, present))
                return tiles.crossed(
                    e, sums, height, columns,
                    lambda i: e.spread(e.load(e.at(starts[i], t))),
                    lambda q: e.load(e.at(at, q * self.lanes), self.lanes),
                )  # fmt: skip

            return _along(e, length, sums, step)

        if many:
            sums = run(0, sums) if many == 1 else e.fold(many, 1, sums, run)
        return [[*sums[i * columns : (i + 1) * columns]] for i in range(height)]


def _along(e: Emitter, count: int, sums: Sequence[Value], step: Any) -> Sequence[Value]:
    """Steps of a sum: a few are written out, more are a loop."""
    if count > WRITTEN:
        return e.fold(count, 1, sums, step)
    for t in range(count):
        sums = step(t, sums)
    return sums


# --- back to the filter ---------------------------------------------------------------------------
class _Filter:
    """A filter's cotangent: for each of its numbers a sum over all windows. Threads share its rows,
    so that every sum is one thread's."""

    def __init__(self, item: Single) -> None:
        equation, (a, self.results) = item.equation, item.reads
        (value,) = equation.outputs
        g = equation.params["geometry"]
        self.kind = value.dtype.str[1:]
        n = value.shape[-1]
        counts = self.results.shape[1:-1]
        self.images = images = Images(a, g.pads, -(-2 * FEW // prod(counts)))
        steps = images.steps[1:-1]
        apart = self.results.strides
        axes = [(images.block, images.steps[0], apart[0])] if images.block > 1 else []
        axes += [
            (count, s * step, out)
            for count, s, step, out in zip(counts, g.strides, steps, apart[1:-1], strict=True)
        ]
        self.axes = _merged(axes)
        # Some rows at a time, so that what all tiles read of them stays in the first cache.
        count, read, written = self.axes[0]
        each = max(SWEPT // prod(n for n, _, _ in self.axes[1:]), 1)
        some = max(n for n in range(1, min(each, count) + 1) if not count % n)
        self.turns = count // some, some * read, some * written
        self.axes[0] = some, read, written
        cells = product(*[[c * d * step for c in range(k)] for k, d, step
                          in zip(g.size, g.dilations, steps, strict=True)])  # fmt: skip
        self.places = [sum(cell) + c for cell in cells for c in range(images.channels)]
        self.lanes = min(host().lanes(value.dtype.itemsize), ceiling_power(n))
        size = len(self.places)
        self.rows, columns = _tile(size, n, prod(counts) * images.block, self.lanes)
        self.strips = _Strips(n, self.lanes, columns)
        self.shares = shares(size, self.rows)
        self.sharing = heights(value, [h for _, count, h in self.shares for _ in range(count)])
        self.scratch = images.room * value.dtype.itemsize
        self.multiplications = prod(self.results.shape) * size

    def write(self, function: ir.Function) -> None:
        self.e = e = Emitter(ir.IRBuilder(function.append_basic_block()), self.kind, self.lanes)
        given, b, out, *rest, first, last = function.args
        scratch = rest[0] if rest else given
        images, n = self.images, self.strips.n
        images.clear(e, scratch)
        places = table(e, self.places)
        bounds, done = [], 0
        for start, count, height in self.shares:  # those of the parts that are this thread's
            low, high = (e.least(_most(e, e.sub(x, done), 0), count) for x in (first, last))
            bounds.append((start, height, low, high))
            done += count
            with e.each(e.mul(low, height * n), e.mul(high, height * n)) as i:
                e.store(e.constant(0.0, 1), e.at(out, e.add(i, start * n)))
        with e.each(0, images.batch // images.block) as block:
            source = images.lay(e, given, scratch, block)
            moved = e.mul(block, images.block * self.results.strides[0])
            results = e.at(b, e.add(moved, self.results.offset))
            with e.each(0, self.turns[0]) as turn:
                source = e.at(source, e.mul(turn, self.turns[1]))
                results = e.at(results, e.mul(turn, self.turns[2]))
                self._tiles(source, results, out, places, bounds)
        e.b.ret_void()

    def _tiles(
        self, source: Value, results: Value, out: Value, places: Value, bounds: list
    ) -> None:
        e, n = self.e, self.strips.n
        for start, height, low, high in bounds:
            for j, width in self.strips.each(e):
                with e.each(low, high) as i:
                    row = e.add(e.mul(i, height), start)
                    numbers = [e.add(row, r) for r in range(height)]
                    cells = [e.at(source, entry(e, places, k)) for k in numbers]
                    target = e.at(out, e.add(e.mul(row, n), j))
                    self._add(cells, e.at(results, j), width, target)

    def _add(self, cells: list[Value], results: Value, width: int, target: Value) -> None:
        """Add a tile's sums over the windows to what there is."""
        e, height, lanes = self.e, len(cells), self.lanes
        columns = -(-width // lanes)
        here = [min(lanes, width - q * lanes) for q in range(columns)]
        places = [
            (e.at(target, i * self.strips.n + q * lanes), here[q])
            for i in range(height)
            for q in range(columns)
        ]
        sums: Sequence[Value] = [e.constant(0.0, lanes)] * len(places)

        def along(k: int, cell: Index, result: Index, sums: Sequence[Value]) -> Sequence[Value]:
            if k == len(self.axes):
                return tiles.crossed(
                    e, sums, height, columns,
                    lambda i: e.spread(e.load(e.at(cells[i], cell))),
                    lambda q: e.load_some(e.at(e.at(results, result), q * lanes), here[q]),
                )  # fmt: skip
            count, read, written = self.axes[k]

            def step(i: Index, sums: Sequence[Value]) -> Sequence[Value]:
                at = e.add(cell, e.mul(i, read)), e.add(result, e.mul(i, written))
                return along(k + 1, *at, sums)

            return step(0, sums) if count == 1 else e.fold(count, 1, sums, step)

        sums = along(0, 0, 0, sums)
        for (place, present), value in zip(places, sums, strict=True):
            total = e.b.fadd(e.load_some(place, present), value)
            for first, size in pieces(present):
                e.store(e.pick(total, range(first, first + size)), e.at(place, first))


def _most(e: Emitter, x: Value, y: int) -> Value:
    return e.b.select(e.b.icmp_signed(">", x, integer(y)), x, integer(y))


def _merged(axes: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Axes that can be gone through as one."""
    found = axes[:1]
    for count, read, written in axes[1:]:
        before, *apart = found[-1]
        if apart == [count * read, count * written]:
            found[-1] = before * count, read, written
        else:
            found.append((count, read, written))
    return found
