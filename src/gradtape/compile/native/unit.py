"""A part of a program as one native function, which Python calls as a builtin.

The function reads the memory of the arrays that it is given by itself. What it computes on the way
lies in one stretch of memory, in which values share room that do not live at the same time.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from weakref import ref

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir

from ...core.apply import QUIET, restore, silence
from ..backends.numpy import explained, line_of
from ..program import Equation, Var
from . import shelf, singles
from .arena import LINE, arranged
from .background import go_on, once
from .crew import MEMORY, crew, size
from .crew import symbols as crew_symbols
from .entry import Entry
from .loops import NestWriter, likeness, roots_of, sharing, starts_of
from .machine import Code, Module, host
from .nests import Nest, Single, needed_outside
from .sharing import Sharing, check, check_results
from .timing import shares, work

MANY = 40  # functions, with which it is worth a look whether there need to be so many
# Nanoseconds of an item that threads share, and of all such items: below, they would wait longer
# for each other than they save.
ENOUGH, WORTH = 2_000, 30_000


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
        if writer.clocks is not None:  # and once more, to see which item takes how long
            clocked, cycles = unit.timed()
            threads = [min(parts, size()) for parts in unit.parts]
            writer.clocks[len(writer.lines) + 1] = partial(shares, self.items, threads, cycles)
            writer.say(f"{writer.name(f'{name}_clocked', clocked)}({words})")
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
        token = silence[QUIET]
        try:
            found = native.forward(*given)
        finally:
            restore(token)
        for room, array in zip(rooms, found, strict=True):
            room[...] = array


# The code of units that live, by name: parts that are alike share it.
_codes: dict[str, ref[Code]] = {}


class Unit:
    """The code of a native part."""

    def __init__(self, native: Native) -> None:
        self.native = native
        alone = {layout.root for i in native.items if isinstance(i, Single) for layout in i.reads}
        self.stored = needed_outside(native.items, native.outputs)
        self.scalars = {v: a for v, a in native.constants.items() if not v.shape}
        self.keys, self.roots = self._likeness(self.scalars)
        if len({*self.keys}) > MANY:  # perhaps as only numbers differ: then these are read, too
            keys, roots = self._likeness({})
            if len({*keys}) <= len({*self.keys}) / 2:
                self.scalars, self.keys, self.roots = {}, keys, roots
        self.starts: list[list[int]] = []
        for item, pointed_at in zip(native.items, self.roots, strict=True):
            starts = starts_of(item) if isinstance(item, Nest) else {}
            self.starts.append([starts.get(v, 0) for v in pointed_at])
        # Whatever is no loop reads single numbers from memory.
        self.arrays = [v for v in native.constants if v not in self.scalars or v in alone]
        outside = {*native.inputs, *native.outputs, *native.constants}
        self.offsets, self.memory = arranged(self.roots, outside)

    def _likeness(self, scalars: dict[Var, Any]) -> tuple[list[tuple], list[list[Var]]]:
        """For each item what its code depends on, and whose pointers it is given."""
        keys: list[tuple] = []
        several: list[list[Var]] = []
        for item in self.native.items:
            if isinstance(item, Nest):
                keys.append(likeness(item, self.stored, scalars))
                several.append(roots_of(item, self.stored, scalars))
            else:
                key, roots = singles.of(item).likeness(item)
                keys.append(key)
                several.append(roots)
        return keys, several

    @once
    def code(self) -> Code:
        _symbols()
        name = shelf.name_of(self._structure())
        reference = _codes.get(name)
        code = None if reference is None else reference()
        if code is None:
            found = shelf.find(name)
            if found is None:
                found = self._assembled(False)
                shelf.put(name, found)
            code = Code(found)
            _codes[name] = ref(code, partial(_codes.pop, name))
        return code

    def _structure(self) -> str:
        """All that the code depends on, as text."""
        numbers: dict[Var, int] = {}
        for value in (*self.native.inputs, *self.native.outputs, *self.arrays, *self.offsets):
            numbers.setdefault(value, len(numbers))
        kinds = [(v.dtype.str, v.shape == (), self.offsets.get(v)) for v in numbers]
        roots = [[numbers[v] for v in roots] for roots in self.roots]
        counts = len(self.native.inputs), len(self.native.outputs), len(self.arrays)
        return repr((counts, kinds, roots, self.starts, self.keys, self.parts))

    @property
    def text(self) -> str:
        """The module and the one beside it, in LLVM's language."""
        module = self._module(False)
        return f"{module}\n{module.plain}"

    def _assembled(self, timed: bool) -> bytes:
        module = self._module(timed)
        return host().assemble(module, plain=module.plain if module.plain.functions else None)

    @property
    def names(self) -> list[str]:
        """The function of each item; those that are alike share one."""
        numbers: dict[tuple, int] = {}
        return [f"part_{numbers.setdefault(key, len(numbers))}" for key in self.keys]

    def _module(self, timed: bool) -> Module:
        module = Module("gradtape")
        made: dict[tuple, ir.Function] = {}
        functions = []
        for key, name, item in zip(self.keys, self.names, self.native.items, strict=True):
            if key not in made:
                go_on()
                if isinstance(item, Nest):
                    made[key] = NestWriter(module, name, item, self.stored, self.scalars).function
                else:
                    made[key] = singles.of(item).write(module, name, item)
            functions.append(made[key])
        Entry(self, module, functions, timed)
        return module

    @once
    def parts(self) -> list[int]:
        """Into how many parts threads share each item; 1 for what is not worth it. What may refuse
        comes first, so it must not depend on what is computed here."""
        made = {v for equation in self.native.body for v in equation.outputs}
        for item in self.native.items:
            if isinstance(item, Single) and singles.may_refuse(item) and item.reads[0].root in made:
                return [1] * len(self.native.items)
        sharings = self.sharings
        spent = [work(item) for item in self.native.items]
        shared = [time > ENOUGH and s.parts > 1 for time, s in zip(spent, sharings, strict=True)]
        if sum(time for time, one in zip(spent, shared, strict=True) if one) < WORTH:
            return [1] * len(self.native.items)
        return [s.parts if one else 1 for s, one in zip(sharings, shared, strict=True)]

    @once
    def sharings(self) -> list[Sharing]:
        """How threads could share each item. It is checked before there is any code, also of what
        is not shared."""
        sharings = []
        for item in self.native.items:
            if isinstance(item, Nest):
                results = [step.result for step in item.steps if step.result in self.stored]
                sharings.append(sharing(item, self.stored))
            else:
                results = [*item.equation.outputs]
                sharings.append(singles.of(item).sharing(item))
            check_results(sharings[-1], results)
        check(sharings)
        return sharings

    def timed(self) -> tuple[Callable[..., None], Any]:
        """The function with a clock in it, and an array of the cycles that each item takes."""
        _symbols()
        counts = np.zeros(len(self.native.items), np.uint64)
        code = Code(self._assembled(True))
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
        memory = np.zeros(MEMORY, np.uint64)
        beside = [crew().address, *[a.ctypes.data for a in (memory, *more)]]
        table = np.array([start, *places, *beside], np.uint64)
        method = _MethodDef(self.native.name.encode(), address, 0x80, None)  # METH_FASTCALL
        held: Any = table.view(_Table)
        held.held = method, arena, constants, code, memory, more
        return ctypes.pythonapi.PyCFunction_NewEx(ctypes.byref(method), held, None)


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


def _symbols() -> None:
    """Tell LLVM where the objects of this process are."""
    pointer = lambda f: ctypes.cast(f, ctypes.c_void_p).value
    crew_symbols()
    llvm.add_symbol("gradtape_none", id(None))
    llvm.add_symbol("gradtape_true", id(True))
    llvm.add_symbol("Py_IncRef", pointer(ctypes.pythonapi.Py_IncRef))
    for name in ("f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1"):
        llvm.add_symbol(f"gradtape_type_{name}", id(np.dtype(name).type))
