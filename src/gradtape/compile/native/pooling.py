"""Pooling and its way back, in vectors along the channels; threads share images.

Windows that lie inside the image are written out cell by cell. Where some reach beyond its edge,
loops go through the cells that do not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from math import prod
from typing import Any

import numpy as np
from llvmlite import ir

from ...ops import pool
from ..program import Equation, Var
from .emitting import I64, POINTER, Emitter, Index, Value, integer, pieces
from .layout import Layout, rows
from .machine import host
from .nests import Single
from .sharing import Sharing, by_rows

BACK = {pool.max_spread, pool.avg_spread}
OPS = {pool.max_pool, pool.avg_pool, *BACK}
WRITTEN = 16  # cells of a window that are written out


def fits(equation: Equation, layouts: list[Layout]) -> bool:
    if equation.op not in OPS or equation.outputs[0].dtype.char not in "fd":
        return False
    if any(v.dtype != equation.outputs[0].dtype for v in equation.inputs):
        return False
    side_by_side = all(x.strides[-1] == 1 or x.shape[-1] == 1 for x in layouts)
    geometry = equation.params["geometry"]
    return side_by_side and all(d == 1 for d in geometry.dilations)


def likeness(item: Single) -> tuple[tuple, list[Var]]:
    equation, (value,) = item.equation, item.equation.outputs
    told = (
        equation.op.name, equation.params["geometry"], value.shape, value.dtype.str,
        *[(x.shape, x.strides, x.offset) for x in item.reads],
    )  # fmt: skip
    return told, [*dict.fromkeys(x.root for x in item.reads), value]


def sharing(item: Single) -> Sharing:
    return by_rows(item.equation.outputs[0])


def work(item: Single) -> float:
    shapes = [item.equation.outputs[0].shape, *[x.shape for x in item.reads]]
    return max(prod(shape) for shape in shapes) / 4


def write(module: ir.Module, name: str, item: Single) -> ir.Function:
    _, roots = likeness(item)
    kind = ir.FunctionType(ir.VoidType(), [*[POINTER] * len(roots), I64, I64])
    function = ir.Function(module, kind, name)
    function.linkage = "internal"
    function.attributes.add("noinline")
    for argument in function.args[: len(roots)]:
        argument.add_attribute("noalias")
    _Pooling(item, function, roots).write()
    return function


class _Pooling:
    def __init__(self, item: Single, function: ir.Function, roots: list[Var]) -> None:
        (value,) = item.equation.outputs
        lanes = host().lanes(value.dtype.itemsize)
        kind = value.dtype.str[1:]
        self.e = Emitter(ir.IRBuilder(function.append_basic_block()), kind, lanes)
        self.op, self.geometry = item.equation.op, item.equation.params["geometry"]
        *pointers, self.first, self.last = function.args
        where = dict(zip(roots, pointers, strict=True))
        self.given = [(self.e.at(where[x.root], x.offset), x.strides) for x in item.reads]
        self.out = pointers[-1], rows(value.shape)
        images = value.shape if self.op in BACK else item.reads[0].shape
        self.image, self.channels = images[1:-1], images[-1]
        self.counts = self.geometry.counts(self.image)
        self.least = float(np.finfo(value.dtype).min)
        # The last window along each axis may end beyond the image, as may the first begin before.
        self.inside = prod(self.geometry.size) <= WRITTEN and all(
            not low and (count - 1) * s + k <= n
            for n, count, k, s, (low, _) in zip(
                self.image, self.counts, self.geometry.size, self.geometry.strides,
                self.geometry.pads, strict=True,
            )
        )  # fmt: skip

    def write(self) -> None:
        e = self.e
        with e.each(self.first, self.last) as n:
            given = [(e.at(start, e.mul(n, s[0])), s[1:]) for start, s in self.given]
            out = e.at(self.out[0], e.mul(n, self.out[1][0])), self.out[1][1:]
            if self.op in BACK and not self.geometry.tiles(self.image):
                self._clear(out[0])
            self._along([], given, out)
        e.b.ret_void()

    def _clear(self, start: Value) -> None:
        e, count = self.e, self.out[1][0]
        whole = count - count % e.lanes
        if whole:
            with e.each(0, whole, e.lanes) as i:
                e.store(e.constant(0.0, e.lanes), e.at(start, i))
        for first, size in pieces(count - whole):
            e.store(e.constant(0.0, size), e.at(start, whole + first))

    def _along(self, window: list[Index], given: list, out: tuple) -> None:
        e, k = self.e, len(window)
        if k < len(self.counts):
            with e.each(0, self.counts[k]) as i:
                self._along([*window, i], given, out)
            return
        whole = self.channels - self.channels % e.lanes
        turn = {
            pool.max_pool: self._max_pool, pool.avg_pool: self._avg_pool,
            pool.max_spread: self._max_spread, pool.avg_spread: self._avg_spread,
        }[self.op]  # fmt: skip
        bounds = [self._bounds(k, i) for k, i in enumerate(window)]
        if whole:
            with e.each(0, whole, e.lanes) as c:
                turn(window, bounds, given, out, c, e.lanes)
        for first, size in pieces(self.channels - whole):
            turn(window, bounds, given, out, whole + first, size)

    # --- windows ----------------------------------------------------------------------------------
    def _bounds(self, k: int, i: Index) -> tuple[Index, Index, Index]:
        """Where a window begins along an axis, its first cell in the image and the one behind its
        last."""
        e, g = self.e, self.geometry
        begin = e.sub(e.mul(i, g.strides[k]), g.pads[k][0])
        if self.inside:
            return begin, 0, g.size[k]
        low, high = e.sub(0, begin), e.sub(self.image[k], begin)
        return begin, _most(e, low, 0), e.least(high, g.size[k])

    @contextmanager
    def _cells(self, bounds: list) -> Iterator[list[Index]]:
        """What follows, for every cell of a window that is in the image."""
        e = self.e

        def open(k: int) -> Iterator[list[Index]]:
            if k == len(bounds):
                yield []
                return
            _, low, high = bounds[k]
            with e.each(low, high) as i:
                for rest in open(k + 1):
                    yield [i, *rest]

        yield from open(0)

    def _place(self, array: tuple, indices: list[Index], c: Index) -> Value:
        e, (start, strides) = self.e, array
        total: Index = c
        for i, stride in zip(indices, strides, strict=False):
            total = e.add(total, e.mul(i, stride))
        return e.at(start, total)

    def _at_cell(self, array: tuple, bounds: list, cell: list[Index], c: Index) -> Value:
        places = [self.e.add(begin, i) for (begin, _, _), i in zip(bounds, cell, strict=True)]
        return self._place(array, places, c)

    def _each(self, bounds: list, held: list[Value], body: Callable[..., list[Value]]) -> list:
        """`held = body(cell, number of the cell, *held)` for every cell of a window."""
        e, size = self.e, self.geometry.size
        across = rows(size)
        if self.inside:
            for number, inner in enumerate(product(*map(range, size))):
                held = body(list(inner), number, *held)
            return held
        rooms = []
        for value in held:
            with e.b.goto_entry_block():
                rooms.append(e.b.alloca(value.type))
            e.b.store(value, rooms[-1])
        with self._cells(bounds) as cell:
            k: Index = 0
            for i, step in zip(cell, across, strict=True):
                k = e.add(k, e.mul(i, step))
            old = [e.b.load(room, typ=value.type) for room, value in zip(rooms, held, strict=True)]
            for room, value in zip(rooms, body(cell, k, *old), strict=True):
                e.b.store(value, room)
        return [e.b.load(room, typ=value.type) for room, value in zip(rooms, held, strict=True)]

    def _count(self, bounds: list, size: int) -> Value:
        """How many cells of a window are in the image."""
        e = self.e
        if self.inside:
            return e.constant(float(prod(self.geometry.size)), size)
        total = None
        for _, low, high in bounds:
            length = integer(e.sub(high, low))
            total = length if total is None else e.b.mul(total, length)
        return self._spread(e.b.sitofp(total, e.kind), size)

    def _spread(self, value: Value, size: int) -> Value:
        e = self.e
        if size == 1:
            return value
        kind = ir.VectorType(value.type, size)
        some = ir.Constant(kind, ir.Undefined)
        first = e.b.insert_element(some, value, ir.Constant(ir.IntType(32), 0))
        return e.shuffle(first, some, [0] * size)

    # --- the ops ----------------------------------------------------------------------------------
    def _max_pool(
        self, window: list, bounds: list, given: list, out: tuple, c: Index, size: int
    ) -> None:
        e = self.e

        def better(cell: list, _: Index, best: Value) -> list[Value]:
            value = e.load(self._at_cell(given[0], bounds, cell, c), size)
            # NaN is greater than nothing
            return [e.b.select(e.b.fcmp_ordered(">", value, best), value, best)]

        (best,) = self._each(bounds, [e.constant(self.least, size)], better)
        e.store(best, self._place(out, window, c))

    def _avg_pool(
        self, window: list, bounds: list, given: list, out: tuple, c: Index, size: int
    ) -> None:
        e = self.e

        def more(cell: list, _: Index, total: Value) -> list[Value]:
            return [e.b.fadd(total, e.load(self._at_cell(given[0], bounds, cell, c), size))]

        (total,) = self._each(bounds, [e.constant(-0.0, size)], more)
        e.store(e.b.fdiv(total, self._count(bounds, size)), self._place(out, window, c))

    def _max_spread(
        self, window: list, bounds: list, given: list, out: tuple, c: Index, size: int
    ) -> None:
        """The first of the greatest gets it: the first cell, unless a later one is greater. In
        three dimensions each of the greatest does, as in TensorFlow, if it is finite."""
        e = self.e
        if len(self.counts) == 3:
            self._max_spread_to_all(window, bounds, given, out, c, size)
            return
        whole = ir.IntType(8 * e.itemsize)
        kind = whole if size == 1 else ir.VectorType(whole, size)
        nobody = ir.Constant(kind, -1 if size == 1 else [-1] * size)

        def number(k: Index) -> Value:
            if isinstance(k, int):
                return ir.Constant(kind, k if size == 1 else [k] * size)
            return self._spread(k if whole.width == 64 else e.b.trunc(k, whole), size)

        def better(cell: list, k: Index, best: Value, winner: Value) -> list[Value]:
            value = e.load(self._at_cell(given[1], bounds, cell, c), size)
            first = e.b.icmp_signed("==", winner, nobody)
            greater = e.b.or_(first, e.b.fcmp_ordered(">", value, best))
            return [
                e.b.select(greater, value, best), e.b.select(greater, number(k), winner)
            ]  # fmt: skip

        _, winner = self._each(bounds, [e.constant(0.0, size), nobody], better)
        g = e.load(self._place(given[0], window, c), size)

        def give(cell: list, k: Index) -> list[Value]:
            own = e.b.icmp_signed("==", winner, number(k))
            self._put(e.b.select(own, g, e.constant(0.0, size)), out, bounds, cell, c, size)
            return []

        self._each(bounds, [], give)

    def _max_spread_to_all(
        self, window: list, bounds: list, given: list, out: tuple, c: Index, size: int
    ) -> None:
        e = self.e
        g, y = (e.load(self._place(given[k], window, c), size) for k in (0, 2))
        finite = e.b.fcmp_ordered("==", e.b.fsub(y, y), e.constant(0.0, size))

        def give(cell: list, k: Index) -> list[Value]:
            value = e.load(self._at_cell(given[1], bounds, cell, c), size)
            own = e.b.and_(finite, e.b.fcmp_ordered("==", value, y))
            self._put(e.b.select(own, g, e.constant(0.0, size)), out, bounds, cell, c, size)
            return []

        self._each(bounds, [], give)

    def _avg_spread(
        self, window: list, bounds: list, given: list, out: tuple, c: Index, size: int
    ) -> None:
        e = self.e
        g = e.load(self._place(given[0], window, c), size)
        share = e.b.fdiv(g, self._count(bounds, size))

        def give(cell: list, k: Index) -> list[Value]:
            self._put(share, out, bounds, cell, c, size)
            return []

        self._each(bounds, [], give)

    def _put(self, value: Value, out: tuple, bounds: list, cell: list, c: Index, size: int) -> None:
        e = self.e
        place = self._at_cell(out, bounds, cell, c)
        if not self.geometry.apart():
            value = e.b.fadd(e.load(place, size), value)
        e.store(value, place)


def _most(e: Emitter, x: Any, y: int) -> Any:
    if isinstance(x, int):
        return max(x, y)
    return e.b.select(e.b.icmp_signed(">", x, integer(y)), x, integer(y))
