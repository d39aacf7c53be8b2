"""Convolution with a filter for each channel, and its transposes: in vectors along the channels.

What windows there are, and where, `convolutions` says; nothing is added up over channels here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from math import prod

import numpy as np
from llvmlite import ir

from ...ops import convolve
from ..program import Equation, Var
from . import convolutions
from .convolutions import FEW, LINE, OPS, Gathered, Images, Phase, entry, shares, table
from .crew import wanted
from .emitting import I64, POINTER, Emitter, Index, Value, integer, pieces
from .layout import Layout
from .machine import host
from .nests import SCRATCH, Single
from .sharing import Sharing, blocks, heights

ROWS = 6  # results beside each other, or cells, whose sums are held in registers
WRITTEN = 32  # cells that are written out


def fits(equation: Equation, layouts: list[Layout]) -> bool:
    """One result for each channel."""
    if equation.op not in OPS or equation.outputs[0].dtype.char not in "fd":
        return False
    if any(v.dtype != equation.outputs[0].dtype for v in equation.inputs):
        return False
    a, b = layouts
    if equation.op is convolve.conv_filter:
        return equation.params["depth"] == 1 and a.shape[-1] == b.shape[-1] and b.contiguous
    channels = a.shape[-1], equation.outputs[0].shape[-1], b.shape[-1]
    return b.shape[-2] == 1 and len({*channels}) == 1 and b.contiguous


def likeness(item: Single) -> tuple[tuple, list[Var]]:
    told, roots = convolutions.told(item), [x.root for x in item.reads]
    size = -(-_of(item).scratch // LINE) * LINE
    room = [Var(SCRATCH, (wanted(), size), np.dtype(np.uint8))] if size else []
    return ("by channel", *told), [*roots, *item.equation.outputs, *room]


def sharing(item: Single) -> Sharing:
    return _of(item).sharing


def work(item: Single) -> float:
    return _of(item).multiplications / 16


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


def _of(item: Single) -> _Gathered | _Filter:
    return (_Filter if item.equation.op is convolve.conv_filter else _Gathered)(item)


def _channels(e: Emitter, count: int, body: Callable[[Index, int], None]) -> None:
    """`body(first, how many)` for vectors of channels."""
    whole = count - count % e.lanes
    if whole:
        with e.each(0, whole, e.lanes) as c:
            body(c, e.lanes)
    for first, size in pieces(count - whole):
        body(whole + first, size)


class _Gathered(Gathered):
    """Forward, and back to the input."""

    def _choose(self, a: Layout, value: Var) -> None:
        self.lanes = host().lanes(value.dtype.itemsize)
        self.scratch = self.images.room * value.dtype.itemsize
        self.sharing = blocks(value, self.images.batch, self.images.block)
        windows = value.shape if self.forward else a.shape
        self.multiplications = prod(windows) * prod(self.geometry.size)

    def write(self, function: ir.Function) -> None:
        self.e = e = Emitter(ir.IRBuilder(function.append_basic_block()), self.kind, self.lanes)
        given, b, out, *rest, first, last = function.args
        scratch = rest[0] if rest else given
        self.images.clear(e, scratch)
        b = e.at(b, self.filter.offset)
        with e.each(first, last) as block:
            images = self.images.lay(e, given, scratch, block)
            here = e.at(out, e.mul(block, self.images.block * self.out[0]))
            for phase in self.phases:
                self._along(0, phase, images, e.at(here, phase.start), b)
        e.b.ret_void()

    def _along(self, k: int, phase: Phase, source: Value, target: Value, b: Value) -> None:
        e, axes = self.e, self._axes(phase)
        count, read, written = axes[k]
        if k < len(axes) - 1:
            with e.each(0, count) as i:
                places = e.at(source, e.mul(i, read)), e.at(target, e.mul(i, written))
                self._along(k + 1, phase, *places, b)
            return

        def some(c: Index, size: int) -> None:
            for start, times, height in shares(count, ROWS):
                with e.each(0, times) as i:
                    at = e.add(e.mul(i, height), start)
                    window = e.at(source, e.add(e.mul(at, read), c))
                    sums = self._cells(phase, window, [r * read for r in range(height)], b, c, size)
                    for r, value in enumerate(sums):
                        result = e.add(e.mul(e.add(at, r), written), c)
                        e.store(value, e.at(target, result))

        _channels(e, self.images.channels, some)

    def _cells(
        self, phase: Phase, window: Value, apart: list[int], b: Value, c: Index, size: int
    ) -> Sequence[Value]:
        e, channels = self.e, self.images.channels
        sums: Sequence[Value] = [e.constant(0.0, size)] * len(apart)

        def cell(place: Index, number: Index, sums: Sequence[Value]) -> list[Value]:
            factor = e.load(e.at(b, e.add(e.mul(number, channels), c)), size)
            here = e.at(window, place)
            return [
                e.fma(e.load(e.at(here, step), size), factor, total)
                for step, total in zip(apart, sums, strict=True)
            ]

        if len(phase.cells) <= WRITTEN:
            for place, number in phase.cells:
                sums = cell(place, number, sums)
            return sums
        places, numbers = (table(e, column) for column in zip(*phase.cells, strict=True))
        return e.fold(
            len(phase.cells), 1, sums,
            lambda k, sums: cell(entry(e, places, k), entry(e, numbers, k), sums),
        )  # fmt: skip


class _Filter:
    """Back to the filter; threads share its cells."""

    def __init__(self, item: Single) -> None:
        equation, (a, self.results) = item.equation, item.reads
        (value,) = equation.outputs
        g = equation.params["geometry"]
        self.kind, self.lanes = value.dtype.str[1:], host().lanes(value.dtype.itemsize)
        counts, apart = self.results.shape[1:-1], self.results.strides
        self.images = images = Images(a, g.pads, -(-2 * FEW // prod(counts)))
        steps = images.steps[1:-1]
        self.axes = [(images.block, images.steps[0], apart[0])] + [
            (count, s * step, out)
            for count, s, step, out in zip(counts, g.strides, steps, apart[1:-1], strict=True)
        ]
        cells = product(*[[c * d * step for c in range(k)] for k, d, step
                          in zip(g.size, g.dilations, steps, strict=True)])  # fmt: skip
        self.cells = [sum(cell) for cell in cells]
        self.shares = shares(len(self.cells), ROWS)
        self.heights = [height for _, count, height in self.shares for _ in range(count)]
        self.sharing = heights(value, self.heights)
        self.scratch = images.room * value.dtype.itemsize
        self.multiplications = prod(self.results.shape) * len(self.cells)

    def write(self, function: ir.Function) -> None:
        self.e = e = Emitter(ir.IRBuilder(function.append_basic_block()), self.kind, self.lanes)
        given, b, out, *rest, first, last = function.args
        scratch = rest[0] if rest else given
        images, channels = self.images, self.images.channels
        images.clear(e, scratch)
        with e.each(0, images.batch // images.block) as block:
            source = images.lay(e, given, scratch, block)
            moved = e.mul(block, images.block * self.results.strides[0])
            results = e.at(b, e.add(moved, self.results.offset))
            begin = e.b.icmp_signed("==", integer(block), I64(0))
            for part, height in enumerate(self.heights):
                low = self.sharing.edges[part]
                mine = e.b.and_(
                    e.b.icmp_signed("<=", first, I64(part)), e.b.icmp_signed(">", last, I64(part))
                )
                with e.b.if_then(mine):
                    cells = self.cells[low : low + height]

                    def some(c: Index, size: int, low: int = low, cells: list = cells) -> None:
                        target = e.at(out, e.add(low * channels, c))
                        self._add(cells, e.at(source, c), e.at(results, c), target, size, begin)

                    _channels(e, channels, some)
        e.b.ret_void()

    def _add(
        self,
        cells: list[int],
        source: Value,
        results: Value,
        target: Value,
        size: int,
        begin: Value,
    ) -> None:
        """Add sums over the windows of a block to what there is; nothing at the beginning."""
        e = self.e
        places = [e.at(target, k * self.images.channels) for k in range(len(cells))]
        zero = e.constant(0.0, size)
        sums: Sequence[Value] = [e.b.select(begin, zero, e.load(place, size)) for place in places]

        def along(k: int, cell: Index, result: Index, sums: Sequence[Value]) -> Sequence[Value]:
            if k == len(self.axes):
                g = e.load(e.at(results, result), size)
                here = e.at(source, cell)
                return [
                    e.fma(e.load(e.at(here, step), size), g, total)
                    for step, total in zip(cells, sums, strict=True)
                ]
            count, read, written = self.axes[k]

            def step(i: Index, sums: Sequence[Value]) -> Sequence[Value]:
                at = e.add(cell, e.mul(i, read)), e.add(result, e.mul(i, written))
                return along(k + 1, *at, sums)

            return step(0, sums) if count == 1 else e.fold(count, 1, sums, step)

        for place, value in zip(places, along(0, 0, 0, sums), strict=True):
            e.store(value, place)
