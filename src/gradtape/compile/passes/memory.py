"""Memory: which values live in buffers that the program keeps from call to call, and in which.

A buffer is used again as soon as nobody needs its numbers, by the very equation that uses them last
if it goes element by element. What can be seen from outside (results, new values of variables,
whatever a Python function is given) is a new array at every call.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ...ops import shape
from ..kernels import Fused, by_element, is_new, looks, tile, writes
from ..program import VIEW, Buffer, Effect, Equation, Guard, Piece, Program, Var
from .constants import bytes_of


def plan(program: Program) -> Program:
    return _Plan(program).program


class _Plan:
    def __init__(self, program: Program) -> None:
        self.equations = program.equations
        self.last: dict[Var, int] = {}  # the last equation that needs a value's memory
        self.seen: set[Var] = set()  # whose memory can be seen from outside
        self._follow(program)
        self.pieces: dict[Var, Piece] = {}
        self._join()
        self.buffers: list[Buffer] = []
        self.free: dict[int, list[Buffer]] = {}  # by size
        self.held: dict[Var, Buffer] = {}  # of values whose memory is needed
        self.ending: dict[int, list[Var]] = {}  # those of them that an equation is last to need
        self.root: dict[Var, Var] = {}  # whose memory a value looks at
        self.static: dict[Var, Any] = {}  # stand-ins with the strides of what does not move
        for value, array in program.constants.items():
            if value.shape and array.dtype.kind != "O":
                steps = [n / array.itemsize for n in array.strides]
                if all(n.is_integer() for n in steps):
                    self.static[value] = _stand_in(value.shape, map(int, steps))
        made = [self._decided(k, e) for k, e in enumerate(self.equations)]
        self.program = program.with_equations(made, buffers=tuple(self.buffers))

    def _follow(self, program: Program) -> None:
        """Find until when, and whether from outside, the memory of values is looked at."""
        end = len(self.equations)
        for value in program.results:
            self.last[value] = end
            self.seen.add(value)
        for k in range(end - 1, -1, -1):
            equation = self.equations[k]
            own = is_new(equation) and not looks(equation)
            # What is not known to make new arrays may hand on those that it is given.
            until, seen = k, isinstance(equation.op, (Effect, Guard))
            if not own:
                until = max((self.last.get(v, k) for v in equation.outputs), default=k)
                seen = seen or any(v in self.seen for v in equation.outputs)
            for value in equation.uses:
                if self.last.get(value, -1) < until:
                    self.last[value] = until
                if seen:
                    self.seen.add(value)

    def _join(self) -> None:
        """Let what is joined later be written where it will be needed then."""
        sources = {e.outputs[0]: e for e in self.equations if len(e.outputs) == 1}
        # From the last one on: a piece may have pieces.
        for equation in reversed(self.equations):
            if equation.op is not shape.concat or equation.outputs[0] in self.seen:
                continue
            (whole,), axis, start = equation.outputs, equation.params["axis"], 0
            for value in equation.inputs:
                stop = start + value.shape[axis]
                source = sources.get(value)
                if (
                    source is not None
                    and value not in self.seen
                    and value not in self.pieces
                    and equation.inputs.count(value) == 1
                    and prod(value.shape)
                    and _writes_to(source, first=axis == -len(value.shape))
                ):
                    self.pieces[value] = Piece(whole, axis, start, stop)
                    if self.last[whole] < self.last[value]:
                        self.last[whole] = self.last[value]
                start = stop
        for value, piece in reversed(self.pieces.items()):  # what has pieces lives as long as they
            if self.last[piece.whole] < self.last[value]:
                self.last[piece.whole] = self.last[value]

    def _decided(self, k: int, equation: Equation) -> Equation:
        memory: Any = None
        if looks(equation) and (equation.inputs[0] not in self.static or self._looks(equation)):
            memory = VIEW
        elif isinstance(equation.op, Fused):
            memory = tuple([self._kept(k, equation, value) for value in equation.outputs])
        elif len(equation.outputs) == 1 and writes(equation):
            (value,) = equation.outputs
            memory = self._piece(k, equation, value) or self._kept(k, equation, value)
        for value in self.ending.pop(k, ()):
            if value in self.held:
                buffer = self.held.pop(value)
                self.free.setdefault(buffer.size, []).append(buffer)
        return Equation(
            equation.op, equation.inputs, equation.params, equation.outputs, equation.place, memory
        )

    def _looks(self, equation: Equation) -> bool:
        """Note the looks at memory that does not move; whether that is possible."""
        a = equation.inputs[0]
        found = _look(equation, self.static[a])
        if found is None:
            return False
        for value, look in zip(equation.outputs, found, strict=True):
            self.static[value] = look
            self.root[value] = self.root.get(a, a)
        return True

    def _kept(self, k: int, equation: Equation, value: Var) -> Buffer | None:
        """The buffer for a result, unless it can be seen from outside."""
        if not value.shape or value in self.seen or not prod(value.shape):
            return None
        if value in self.held:  # its pieces were there before
            return self.held[value]
        buffer = self._in_place(k, equation, value) or self._free(bytes_of(value))
        self._hold(k, value, buffer)
        return buffer

    def _piece(self, k: int, equation: Equation, value: Var) -> Piece | None:
        piece = self.pieces.get(value)
        if piece is None:
            return None
        whole = piece.whole
        if whole not in self.static and self._piece(k, equation, whole) is None:
            buffer = self._free(bytes_of(whole))
            self._hold(k, whole, buffer)
        self.static[value] = piece.of(self.static[whole])
        self.root[value] = self.root.get(whole, whole)
        return piece

    def _hold(self, k: int, value: Var, buffer: Buffer) -> None:
        self.held[value] = buffer
        self.ending.setdefault(max(self.last.get(value, k), k), []).append(value)
        self.static[value] = _stand_in(value.shape)

    def _in_place(self, k: int, equation: Equation, made: Var) -> Buffer | None:
        """That of an operand, if this equation is the last to need any of it, and goes through it
        element by element."""
        read: Any = equation.inputs if by_element(equation) else ()
        if isinstance(equation.op, Fused):
            read = equation.op.read_before(made)
        for value in read:
            root = self.root.get(value, value)
            if root in self.held and self.last[root] <= k and self._is_whole(value, made):
                others = [v for v in equation.inputs if self.root.get(v, v) is root]
                if all(self._is_whole(v, made) for v in others):
                    return self.held.pop(root)
        return None

    def _is_whole(self, value: Var, made: Var) -> bool:
        """Whether an operand's numbers lie where the result's would."""
        return bool(
            value.shape == made.shape
            and value.dtype.itemsize == made.dtype.itemsize
            and self.static[value].flags.c_contiguous
            and self.held[self.root.get(value, value)].size == bytes_of(made)
        )

    def _free(self, size: int) -> Buffer:
        free = self.free.get(size)
        if free:
            return free.pop()
        buffer = Buffer(len(self.buffers), size)
        self.buffers.append(buffer)
        return buffer


def _writes_to(source: Equation, first: bool) -> bool:
    """Whether an equation can write to a piece: anything to rows that lie one behind the other,
    and what goes element by element also to parts of rows."""
    if not writes(source) or source.op in (shape.reshape, tile):
        return False
    return first or by_element(source)


def _stand_in(size: tuple[int, ...], strides: Any = None) -> Any:
    """An array of one byte that says it has this shape: to see what looks at it are like."""
    if strides is None:
        steps = [prod(size[k + 1 :]) for k in range(len(size))]
    else:
        steps = [*strides]
    return np.lib.stride_tricks.as_strided(_BYTE, size, steps)


_BYTE = np.zeros(1, np.int8)


def _look(equation: Equation, a: Any) -> tuple | None:
    """The looks at a stand-in; None where numbers would have to be moved."""
    if equation.op is shape.reshape:
        wanted = equation.outputs[0].shape
        if a.flags.c_contiguous:
            return (_stand_in(wanted),)
        return (a.squeeze()[_inserted(wanted)],) if _same_but_ones(a.shape, wanted) else None
    y = equation.op.forward(a, **equation.params)
    return y if y.__class__ is tuple else (y,)


def _same_but_ones(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    return [n for n in a if n != 1] == [n for n in b if n != 1]


def _inserted(wanted: tuple[int, ...]) -> tuple:
    return tuple([None if n == 1 else slice(None) for n in wanted])
