"""A part of a program as one native function, which Python calls as a builtin.

The function reads the memory of the arrays that it is given by itself. What it computes on the way
lies in one stretch of memory, in which values share room that do not live at the same time.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass, field
from math import prod
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir

from ..backends.numpy import explained, line_of
from ..program import Equation, Var
from . import shelf, singles
from .background import go_on, once
from .crew import JOB_KIND, barrier, crew
from .crew import call_together as crew_call
from .crew import symbols as crew_symbols
from .loops import INDEX, POINTER, NestWriter, likeness, number, roots_of, split
from .machine import Code, host
from .nests import SCRATCH, Nest, Single, needed_outside

LINE = 64
# Where CPython and NumPy keep what is read here; both are parts of their stable layouts.
DATA, FLAGS, TYPE = 16, 64, 8
ENOUGH = 15_000  # nanoseconds that are worth several threads
WHOLE = 0x101  # rows one behind the other, and aligned


@dataclass(eq=False)
class Native:
    """Equations that are computed by one call."""

    name: str
    items: list[Nest | Single]
    body: list[Equation]
    inputs: tuple[Var, ...]
    outputs: tuple[Var, ...]
    constants: dict[Var, Any] = field(default_factory=dict)  # of its inputs, those that stay

    def forward(self, *values: Any) -> tuple:
        """The results as the equations give them, one by one."""
        known = {**self.constants, **dict(zip(self.inputs, values, strict=True))}
        for equation in self.body:
            operands = [known[v] for v in equation.inputs]
            try:
                y = equation.op.forward(*operands, **equation.params)
            except Exception as error:
                raise explained(error, equation, operands) from None
            if equation.outputs:
                several = y if isinstance(y, (tuple, list)) else (y,)
                known.update(zip(equation.outputs, several, strict=True))
        return tuple([known[v] for v in self.outputs])

    @once
    def unit(self) -> Unit:
        return Unit(self)

    # --- what a backend that writes Python has to say ---------------------------------------------
    def written(self, writer: Any, equation: Equation) -> None:
        unit = self.unit
        name = f"{self.name}_call"
        writer.made.append((name, lambda there: unit.instance()))
        empty = writer.name("empty", np.empty)
        for value in self.outputs:
            writer.say(
                f"{value} = {empty}({value.shape}, {writer.name(value.dtype.name, value.dtype)})"
            )
        words = ", ".join([*map(repr, self.inputs), *map(repr, self.outputs)])
        retry = writer.name("again", again)
        for one in self.body:
            where = line_of(one)
            writer.lines.append(f"    # {one}" + (f"  # {where}" if where else ""))
        me = writer.name(self.name, self)
        writer.say(f"{name}({words}) is None or {retry}({me}, {name}, {words})", equation)
        for value in self.outputs:
            if not value.shape:
                writer.say(f"{value} = {value}[()]")


def again(native: Native, call: Callable[..., Any], *values: Any) -> None:
    """Call once more, with arrays whose rows lie one behind the other; and what is refused even
    then is computed equation by equation, which tells what is wrong."""
    count = len(native.inputs)
    given, rooms = values[:count], values[count:]
    sound = [np.ascontiguousarray(v) if np.ndim(v) else np.asarray(v)[()] for v in given]
    if call(*sound, *rooms) is not None:
        for room, array in zip(rooms, native.forward(*given), strict=True):
            room[...] = array


class Unit:
    """The code of a native part."""

    def __init__(self, native: Native) -> None:
        self.native = native
        self.scalars = {v: a for v, a in native.constants.items() if not v.shape}
        alone = {layout.root for i in native.items if isinstance(i, Single) for layout in i.reads}
        self.arrays = [v for v in native.constants if v.shape or v in alone]
        self.stored = needed_outside(native.items, native.outputs)
        self.keys: list[tuple] = []  # what the code of each item depends on
        self.roots: list[list[Var]] = []  # whose pointers it is given
        for item in native.items:
            if isinstance(item, Nest):
                self.keys.append(likeness(item, self.stored, self.scalars))
                self.roots.append(roots_of(item, self.stored, self.scalars))
            else:
                key, roots = singles.of(item).likeness(item)
                self.keys.append(key)
                self.roots.append(roots)
        self.offsets, self.memory = self._plan()

    @once
    def code(self) -> Code:
        _symbols()
        name = shelf.name_of(self._structure())
        found = shelf.find(name)
        if found is None:
            found = host().assemble(self.text)
            shelf.put(name, found)
        return Code(found)

    def _structure(self) -> str:
        """All that the code depends on, as text."""
        numbers: dict[Var, int] = {}
        for value in (*self.native.inputs, *self.native.outputs, *self.arrays, *self.offsets):
            numbers.setdefault(value, len(numbers))
        kinds = [(v.dtype.str, v.shape == (), self.offsets.get(v)) for v in numbers]
        roots = [[numbers[v] for v in roots] for roots in self.roots]
        counts = len(self.native.inputs), len(self.native.outputs), len(self.arrays)
        return repr((counts, kinds, roots, self.keys))

    @property
    def text(self) -> str:
        """The module, in LLVM's language."""
        return self._text(False)

    def _text(self, timed: bool) -> str:
        module = ir.Module("gradtape")
        made: dict[tuple, ir.Function] = {}
        functions = []
        for key, item in zip(self.keys, self.native.items, strict=True):
            if key not in made:
                go_on()
                name = f"part_{len(made)}"
                if isinstance(item, Nest):
                    made[key] = NestWriter(module, name, item, self.stored, self.scalars).function
                else:
                    made[key] = singles.of(item).write(module, name, item)
            functions.append(made[key])
        self._entry(module, functions, timed)
        return str(module)

    def _plan(self) -> tuple[dict[Var, int], int]:
        """Where values lie in the stretch of memory, from the first item to the last that uses
        them: the smallest free gap that is large enough."""
        outside = {*self.native.inputs, *self.native.outputs, *self.native.constants}
        last = {v: k for k, roots in enumerate(self.roots) for v in roots if v not in outside}
        ending: dict[int, list[Var]] = {}
        for value, k in last.items():
            ending.setdefault(k, []).append(value)
        taken: list[tuple[int, int]] = []  # in order
        found: dict[Var, int] = {}
        top = 0
        for k, roots in enumerate(self.roots):
            for value in roots:
                if value in outside or value in found:
                    continue
                size = -(-prod(value.shape) * value.dtype.itemsize // LINE) * LINE or LINE
                at, best = 0, None
                for start, stop in taken:
                    if start - at >= size and (best is None or start - at < best[1]):
                        best = at, start - at
                    at = max(at, stop)
                where = at if best is None else best[0]
                found[value] = where
                taken.append((where, where + size))
                taken.sort()
                top = max(top, where + size)
            for value in ending.get(k, ()):
                size = -(-prod(value.shape) * value.dtype.itemsize // LINE) * LINE or LINE
                taken.remove((found[value], found[value] + size))
        return found, top

    def _entry(self, module: ir.Module, functions: list[ir.Function], timed: bool) -> None:
        native = self.native
        byte = ir.IntType(8)
        kind = ir.FunctionType(POINTER, [POINTER, POINTER, INDEX])
        function = ir.Function(module, kind, "entry")
        myself, args, _ = function.args
        b = ir.IRBuilder(function.append_basic_block())
        at = lambda p, n: b.gep(p, [number(n)], source_etype=byte)
        objects = [
            b.load(at(args, 8 * k), typ=POINTER)
            for k in range(len(native.inputs) + len(native.outputs))
        ]
        pointers: dict[Var, Any] = {}
        sound: Any = ir.Constant(ir.IntType(1), 1)
        for value, there in zip((*native.inputs, *native.outputs), objects, strict=True):
            if not value.shape and value not in native.outputs:
                known = _external(module, f"gradtape_type_{value.dtype.str[1:]}")
                here = b.load(at(there, TYPE), typ=POINTER)
                sound = b.and_(sound, b.icmp_unsigned("==", here, known))
                pointers[value] = at(there, DATA)
            else:
                flags = b.load(at(there, FLAGS), typ=ir.IntType(32))
                wanted = ir.Constant(ir.IntType(32), WHOLE)
                sound = b.and_(sound, b.icmp_unsigned("==", b.and_(flags, wanted), wanted))
                pointers[value] = b.load(at(there, DATA), typ=POINTER)
        compute, refuse = function.append_basic_block(), function.append_basic_block()
        b.cbranch(sound, compute, refuse)
        b.position_at_end(refuse)
        _return(b, "gradtape_true")
        b.position_at_end(compute)
        table = b.load(at(myself, DATA), typ=POINTER)
        arena = b.load(table, typ=POINTER)
        for k, value in enumerate(self.arrays):
            pointers[value] = b.load(at(table, 8 * (k + 1)), typ=POINTER)
        for value, offset in self.offsets.items():
            pointers[value] = at(arena, offset)
        entry = b.function
        clock = _Clock(b, at(table, 8 * (len(self.arrays) + 2))) if timed else None
        parts = self.parts if not timed else [1] * len(native.items)
        shared = max(parts, default=1) > 1
        for item, function, roots in zip(native.items, functions, self.roots, strict=True):
            check = isinstance(function.function_type.return_type, ir.IntType)
            if shared and not check:
                continue  # in a job for several threads, below
            bounds = [] if check else [number(0), number(_parts(item))]
            done = b.call(function, [*[pointers[v] for v in roots], *bounds])
            if clock is not None:
                clock.note()
            if check:
                following = entry.append_basic_block()
                b.cbranch(done, following, refuse)
                b.position_at_end(following)
        if shared:
            crew = b.load(at(table, 8 * (len(self.arrays) + 1)), typ=POINTER)
            self._together(b, functions, pointers, arena, crew)
        _return(b, "gradtape_none")

    @once
    def parts(self) -> list[int]:
        """Into how many parts threads share each item; 1 for what is not worth it. Checks come
        first, so they must not depend on what is computed here."""
        own = {v for roots in self.roots for v in roots if v in self.offsets}
        for item in self.native.items:
            read = item.reads[0].root if isinstance(item, Single) else None
            if isinstance(item, Single) and not item.equation.outputs and read in own:
                return [1] * len(self.native.items)
        return [_parts(i) if _work(i) > ENOUGH else 1 for i in self.native.items]

    def _together(
        self, b: ir.IRBuilder, functions: list[ir.Function], pointers: dict[Var, Any], arena: Any,
        crew: Any,
    ) -> None:  # fmt: skip
        """Call a function for all items that the threads of a crew run, each on its parts."""
        outside = [v for v in pointers if v not in self.offsets]
        table = b.alloca(POINTER, size=number(len(outside) + 2))
        for k, value in enumerate([*[pointers[v] for v in outside], arena, crew]):
            b.store(value, b.gep(table, [number(k)], source_etype=POINTER))
        job = ir.Function(b.module, JOB_KIND, "job")
        job.linkage = "internal"
        crew_call(b, crew, job, table)
        there, me, count = job.args
        b = ir.IRBuilder(job.append_basic_block())
        byte, meet = ir.IntType(8), barrier(b.module)
        read = lambda k: b.load(b.gep(there, [number(k)], source_etype=POINTER), typ=POINTER)
        base, others = read(len(outside)), read(len(outside) + 1)
        numbers = {v: k for k, v in enumerate(outside)}

        def pointer(value: Var) -> Any:
            """Looked up where it is used: a job has more of them than there are registers."""
            if value not in self.offsets:
                return read(numbers[value])
            found = b.gep(base, [number(self.offsets[value])], source_etype=byte)
            if value.number != SCRATCH:
                return found
            return b.gep(found, [b.mul(me, number(value.shape[1]))], source_etype=byte)

        before = 0  # parts of the item before
        after: Any = None  # the end of what the first thread does alone
        for item, function, used, parts in zip(
            self.native.items, functions, self.roots, self.parts, strict=True
        ):
            if isinstance(function.function_type.return_type, ir.IntType):
                continue
            if after is not None and parts > 1:
                b.branch(after)
                b.position_at_end(after)
                after = None
            if before and (before > 1 or parts > 1):
                b.call(meet, [others, count])
            before = parts
            if parts == 1 and after is None:
                mine, after = job.append_basic_block(), job.append_basic_block()
                b.cbranch(b.icmp_unsigned("==", me, number(0)), mine, after)
                b.position_at_end(mine)
            bounds: list[Any] = [number(0), number(_parts(item))]
            if parts > 1:
                bounds = [
                    b.udiv(b.mul(i, number(parts)), count) for i in (me, b.add(me, number(1)))
                ]
            b.call(function, [*map(pointer, used), *bounds])
        if after is not None:
            b.branch(after)
            b.position_at_end(after)
        b.ret_void()

    def timed(self) -> tuple[Callable[..., None], Any]:
        """The function with a clock in it, and an array of the cycles that each item takes."""
        _symbols()
        counts = np.zeros(len(self.native.items), np.uint64)
        code = Code(host().assemble(self._text(True)))
        return self._instance(code, counts), counts

    def instance(self) -> Callable[..., None]:
        """The function, with memory of its own."""
        return self._instance(self.code)

    def _instance(self, code: Code, *more: Any) -> Callable[..., None]:
        address = code.address("entry")
        arena = np.empty(self.memory + LINE, np.uint8)
        start = arena.ctypes.data + -arena.ctypes.data % LINE
        constants = [np.ascontiguousarray(self.native.constants[v]) for v in self.arrays]
        places = [a.ctypes.data for a in constants]
        table = np.array(
            [start, *places, crew().address, *[a.ctypes.data for a in more]], np.uint64
        )
        method = _MethodDef(self.native.name.encode(), address, 0x80, None)  # METH_FASTCALL
        held: Any = table.view(_Table)
        held.held = method, arena, constants, code, more
        return ctypes.pythonapi.PyCFunction_NewEx(ctypes.byref(method), held, None)


def _parts(item: Nest | Single) -> int:
    """Into how many parts an item can be shared."""
    return split(item).parts if isinstance(item, Nest) else singles.of(item).parts(item)


def _work(item: Nest | Single) -> float:
    """About how many nanoseconds an item takes on one core."""
    if isinstance(item, Nest):
        numbers = [prod(step.space) * step.weight for step in item.steps]
        return sum(numbers) / 8
    return singles.of(item).work(item)


class _Clock:
    """Adds up the cycles between two notes."""

    def __init__(self, b: ir.IRBuilder, place: Any) -> None:
        self.b, self.k = b, 0
        self.counts = b.load(place, typ=POINTER)
        kind = ir.FunctionType(INDEX, [])
        self.read = ir.Function(b.module, kind, "llvm.readcyclecounter")
        self.before = b.call(self.read, [])

    def note(self) -> None:
        b = self.b
        now = b.call(self.read, [])
        place = b.gep(self.counts, [number(self.k)], source_etype=INDEX)
        b.store(b.add(b.load(place, typ=INDEX), b.sub(now, self.before)), place)
        self.before, self.k = b.call(self.read, []), self.k + 1


class _Table(np.ndarray):
    """The addresses that a builtin needs, and all that must live as long as it does."""

    held: Any


class _MethodDef(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]  # fmt: skip


ctypes.pythonapi.PyCFunction_NewEx.restype = ctypes.py_object
ctypes.pythonapi.PyCFunction_NewEx.argtypes = (ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)


def _return(b: ir.IRBuilder, name: str) -> None:
    value = _external(b.module, name)
    count = b.module.globals.get("Py_IncRef")
    if count is None:
        count = ir.Function(b.module, ir.FunctionType(ir.VoidType(), [POINTER]), "Py_IncRef")
    b.call(count, [value])
    b.ret(value)


def _external(module: ir.Module, name: str) -> Any:
    found = module.globals.get(name)
    return ir.GlobalVariable(module, ir.IntType(8), name) if found is None else found


def _symbols() -> None:
    """Tell LLVM where the objects of this process are."""
    pointer = lambda f: ctypes.cast(f, ctypes.c_void_p).value
    crew_symbols()
    llvm.add_symbol("gradtape_none", id(None))
    llvm.add_symbol("gradtape_true", id(True))
    llvm.add_symbol("Py_IncRef", pointer(ctypes.pythonapi.Py_IncRef))
    for name in ("f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1"):
        llvm.add_symbol(f"gradtape_type_{name}", id(np.dtype(name).type))
