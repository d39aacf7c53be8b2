"""The function of a native part that Python calls: it finds the memory of the arrays that it is
given, and calls the functions of the part's items, in this thread or in all of a crew.

Long parts are called in stretches, and many arrays read in stretches. LLVM's time for a function
grows faster than the function: 4,000 calls in one take 10 s, and 0.6 s in stretches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from llvmlite import ir

from ..program import Var
from .crew import JOB_KIND, barrier, call_together, ticks
from .loops import INDEX, POINTER, number
from .nests import SCRATCH

# Where CPython and NumPy keep what is read here; both are parts of their stable layouts.
DATA, FLAGS, TYPE = 16, 64, 8
WHOLE = 0x101  # rows one behind the other, and aligned
STRETCH = 64  # items
BIT, BYTE = ir.IntType(1), ir.IntType(8)
Find = Callable[[Var], Any]  # the pointer to a value


class Entry:
    """Writes the function `entry`; `unit` says what lies where, `functions` are those of items."""

    def __init__(
        self, unit: Any, module: ir.Module, functions: list[ir.Function], timed: bool
    ) -> None:
        self.unit, self.module, self.functions, self.timed = unit, module, functions, timed
        self.items = unit.native.items
        self.given = [*unit.native.inputs, *unit.native.outputs]
        self.numbers = {v: k for k, v in enumerate(self.given)}
        self.constants = {v: k + 1 for k, v in enumerate(unit.arrays)}  # behind the arena's address
        self._write()

    def _write(self) -> None:
        kind = ir.FunctionType(POINTER, [POINTER, POINTER, INDEX])
        function = ir.Function(self.module, kind, "entry")
        myself, args, _ = function.args
        begin, refuse = function.append_basic_block(), function.append_basic_block()
        b = ir.IRBuilder(refuse)
        _return(b, "gradtape_true")
        b.position_at_end(begin)
        parts = [1] * len(self.items) if self.timed else self.unit.parts
        shared = max(parts, default=1) > 1
        if shared or max(len(self.items), len(self.given)) > STRETCH:
            self._in_stretches(b, myself, args, parts, refuse)
        else:
            pointers, sound = self._arrays(b, args, range(len(self.given)))
            _go_on(b, sound, refuse)
            table = b.load(_at(b, myself, DATA), typ=POINTER)
            find = self._direct(b, pointers, table)
            self._calls(b, range(len(self.items)), find, table, refuse)
        _return(b, "gradtape_none")

    def _in_stretches(
        self, b: ir.IRBuilder, myself: Any, args: Any, parts: list[int], refuse: ir.Block
    ) -> None:
        """Lay down in memory what other functions need, and let them do it: the pointers to what is
        given, and the table behind them."""
        there = b.alloca(POINTER, size=number(len(self.given) + 1))
        for some in _stretches(range(len(self.given))):
            _go_on(b, b.call(self._reading(some), [args, there]), refuse)
        table = b.load(_at(b, myself, DATA), typ=POINTER)
        b.store(table, _at(b, there, 8 * len(self.given)))
        shared = max(parts, default=1) > 1
        checks = [isinstance(f.function_type.return_type, ir.IntType) for f in self.functions]
        for some in _stretches([k for k, check in enumerate(checks) if check or not shared]):
            _go_on(b, b.call(self._stretch(some), [there]), refuse)
        if shared:
            crew, memory = (_read(b, table, len(self.constants) + k) for k in (1, 2))
            together = [k for k, check in enumerate(checks) if not check]
            call_together(b, crew, self._job(together, parts), there, memory)

    # --- memory -----------------------------------------------------------------------------------
    def _arrays(self, b: ir.IRBuilder, args: Any, some: Sequence[int]) -> tuple[list[Any], Any]:
        """The pointers to the numbers of what Python gives, and whether all are as expected."""
        pointers, sound = [], ir.Constant(BIT, 1)
        objects = [_read(b, args, k) for k in some]
        for k, there in zip(some, objects, strict=True):
            value = self.given[k]
            if not value.shape and k < len(self.unit.native.inputs):
                known = _external(self.module, f"gradtape_type_{value.dtype.str[1:]}")
                here = b.load(_at(b, there, TYPE), typ=POINTER)
                sound = b.and_(sound, b.icmp_unsigned("==", here, known))
                pointers.append(_at(b, there, DATA))
            else:
                flags = b.load(_at(b, there, FLAGS), typ=ir.IntType(32))
                wanted = ir.Constant(ir.IntType(32), WHOLE)
                sound = b.and_(sound, b.icmp_unsigned("==", b.and_(flags, wanted), wanted))
                pointers.append(b.load(_at(b, there, DATA), typ=POINTER))
        return pointers, sound

    def _reading(self, some: Sequence[int]) -> ir.Function:
        """`bool reading(args, pointers)`: find some pointers; false if there are none."""
        function = self._private(f"reading_{some[0]}", ir.FunctionType(BIT, [POINTER, POINTER]))
        args, there = function.args
        b = ir.IRBuilder(function.append_basic_block())
        pointers, sound = self._arrays(b, args, some)
        for k, pointer in zip(some, pointers, strict=True):
            b.store(pointer, _at(b, there, 8 * k))
        b.ret(sound)
        return function

    def _direct(self, b: ir.IRBuilder, pointers: list[Any], table: Any) -> Find:
        arena = _read(b, table, 0)
        known = dict(zip(self.given, pointers, strict=True))
        for value, k in self.constants.items():
            known[value] = _read(b, table, k)
        for value, offset in self.unit.offsets.items():
            known[value] = _at(b, arena, offset)
        return known.__getitem__

    def _looked_up(self, b: ir.IRBuilder, there: Any, table: Any, me: Any = None) -> Find:
        """Pointers found where they are used: there are more of them than registers."""
        arena = _read(b, table, 0)

        def find(value: Var) -> Any:
            if value in self.constants:
                return _read(b, table, self.constants[value])
            if value not in self.unit.offsets:
                return _read(b, there, self.numbers[value])
            found = _at(b, arena, self.unit.offsets[value])
            if me is None or value.number != SCRATCH:
                return found
            return b.gep(found, [b.mul(me, number(value.shape[1]))], source_etype=BYTE)

        return find

    def _pointers(self, b: ir.IRBuilder, k: int, find: Find) -> Iterator[Any]:
        """What the function of an item is given: where it begins to read or write."""
        for value, start in zip(self.unit.roots[k], self.unit.starts[k], strict=True):
            place = find(value)
            yield _at(b, place, start * value.dtype.itemsize) if start else place

    # --- calls ------------------------------------------------------------------------------------
    def _calls(
        self, b: ir.IRBuilder, some: Sequence[int], find: Find, table: Any, refuse: ir.Block
    ) -> None:
        """Call the functions of some items; a check that fails leads to `refuse`."""
        clock = _Clock(b, _read(b, table, len(self.constants) + 3)) if self.timed else None
        for k in some:
            function = self.functions[k]
            check = isinstance(function.function_type.return_type, ir.IntType)
            bounds = [] if check else [number(0), number(self.unit.sharings[k].parts)]
            done = b.call(function, [*self._pointers(b, k, find), *bounds])
            if clock is not None:
                clock.note(k)
            if check:
                _go_on(b, done, refuse)

    def _stretch(self, some: Sequence[int]) -> ir.Function:
        """`bool stretch(pointers)`: some items in a row; false if a check fails."""
        function = self._private(f"stretch_{some[0]}", ir.FunctionType(BIT, [POINTER]))
        (there,) = function.args
        b = ir.IRBuilder(function.append_basic_block())
        refuse = function.append_basic_block()
        table = _read(b, there, len(self.given))
        self._calls(b, some, self._looked_up(b, there, table), table, refuse)
        b.ret(ir.Constant(BIT, 1))
        b.position_at_end(refuse)
        b.ret(ir.Constant(BIT, 0))
        return function

    def _private(self, name: str, kind: ir.FunctionType) -> ir.Function:
        function = ir.Function(self.module, kind, name)
        function.linkage = "internal"
        function.attributes.add("noinline")
        return function

    def _job(self, items: list[int], parts: list[int]) -> ir.Function:
        """What each thread of a crew does: its parts of all items, in stretches."""
        job = self._private("job", JOB_KIND)
        b = ir.IRBuilder(job.append_basic_block())
        meet = barrier(self.module)
        before = 0  # parts of the item before
        for some in _stretches(items):
            b.call(self._together(some, parts, before, meet), job.args)
            before = parts[some[-1]]
        b.ret_void()
        return job

    def _together(
        self, some: Sequence[int], parts: list[int], before: int, meet: ir.Function
    ) -> ir.Function:
        function = self._private(f"together_{some[0]}", JOB_KIND)
        there, me, count = function.args
        b = ir.IRBuilder(function.append_basic_block())
        table = _read(b, there, len(self.given))
        find = self._looked_up(b, there, table, me)
        crew = _read(b, table, len(self.constants) + 1)
        after: Any = None  # the end of what the first thread does alone
        for k in some:
            if after is not None and parts[k] > 1:
                b.branch(after)
                b.position_at_end(after)
                after = None
            if before and (before > 1 or parts[k] > 1):
                b.call(meet, [crew, count])
            before = parts[k]
            if parts[k] == 1 and after is None:
                mine, after = function.append_basic_block(), function.append_basic_block()
                b.cbranch(b.icmp_unsigned("==", me, number(0)), mine, after)
                b.position_at_end(mine)
            bounds: list[Any] = [number(0), number(self.unit.sharings[k].parts)]
            if parts[k] > 1:
                ends = me, b.add(me, number(1))
                bounds = [b.udiv(b.mul(i, number(parts[k])), count) for i in ends]
            b.call(self.functions[k], [*self._pointers(b, k, find), *bounds])
        if after is not None:
            b.branch(after)
            b.position_at_end(after)
        b.ret_void()
        return function


class _Clock:
    """Adds up the cycles between two notes."""

    def __init__(self, b: ir.IRBuilder, counts: Any) -> None:
        self.b, self.counts = b, counts
        self.before = ticks(b)

    def note(self, k: int) -> None:
        b = self.b
        now = ticks(b)
        place = b.gep(self.counts, [number(k)], source_etype=INDEX)
        b.store(b.add(b.load(place, typ=INDEX), b.sub(now, self.before)), place)
        self.before = ticks(b)


def _stretches(items: Sequence[int]) -> Iterator[Sequence[int]]:
    for k in range(0, len(items), STRETCH):
        yield items[k : k + STRETCH]


def _at(b: ir.IRBuilder, pointer: Any, offset: int) -> Any:
    return b.gep(pointer, [number(offset)], source_etype=BYTE)


def _read(b: ir.IRBuilder, pointer: Any, k: int) -> Any:
    """The pointer at a place of a table of them."""
    return b.load(_at(b, pointer, 8 * k), typ=POINTER)


def _go_on(b: ir.IRBuilder, sound: Any, refuse: ir.Block) -> None:
    following = b.function.append_basic_block()
    b.cbranch(sound, following, refuse)
    b.position_at_end(following)


def _return(b: ir.IRBuilder, name: str) -> None:
    value = _external(b.module, name)
    count = b.module.globals.get("Py_IncRef")
    if count is None:
        count = ir.Function(b.module, ir.FunctionType(ir.VoidType(), [POINTER]), "Py_IncRef")
    b.call(count, [value])
    b.ret(value)


def _external(module: ir.Module, name: str) -> Any:
    found = module.globals.get(name)
    return ir.GlobalVariable(module, BYTE, name) if found is None else found
