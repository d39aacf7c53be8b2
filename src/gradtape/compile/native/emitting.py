"""The few words that kernels are written in: loops, vectors in memory, sums in registers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from llvmlite import ir

I1, I32, I64, POINTER = ir.IntType(1), ir.IntType(32), ir.IntType(64), ir.PointerType()
KINDS = {"f4": ir.FloatType(), "f8": ir.DoubleType()}
Value = Any
Index = Any  # an int, or a value of the program


class Emitter:
    """A builder that knows the numbers of a kernel: their type, and how many a vector holds."""

    def __init__(self, builder: ir.IRBuilder, dtype: str, lanes: int) -> None:
        self.b, self.kind, self.lanes = builder, KINDS[dtype], lanes
        self.itemsize = int(dtype[1])

    # --- integers: constants fold at once, which keeps modules small ------------------------------
    def add(self, x: Index, y: Index) -> Index:
        if isinstance(x, int) and isinstance(y, int):
            return x + y
        if isinstance(x, int):
            x, y = y, x
        return x if isinstance(y, int) and y == 0 else self.b.add(x, integer(y), flags=("nsw",))

    def sub(self, x: Index, y: Index) -> Index:
        if isinstance(y, int):
            return self.add(x, -y)
        return self.b.sub(integer(x), y, flags=("nsw",))

    def mul(self, x: Index, y: int) -> Index:
        if isinstance(x, int) or y == 0:
            return x * y if y else 0
        return x if y == 1 else self.b.mul(x, integer(y), flags=("nsw",))

    def least(self, x: Index, y: Index) -> Index:
        if isinstance(x, int) and isinstance(y, int):
            return min(x, y)
        x, y = integer(x), integer(y)
        return self.b.select(self.b.icmp_signed("<", x, y), x, y)

    # --- control ----------------------------------------------------------------------------------
    @contextmanager
    def each(self, start: Index, stop: Index, step: int = 1) -> Iterator[Index]:
        """What follows, for every index of `range(start, stop, step)`."""
        if all(isinstance(n, int) for n in (start, stop)) and start < stop <= start + step:
            yield start
            return
        index, _, close = self._loop(start, stop, step, ())
        yield index
        close(())

    def fold(
        self, stop: Index, step: int, values: Sequence[Value],
        body: Callable[[Index, Sequence[Value]], Sequence[Value]],
    ) -> Sequence[Value]:  # fmt: skip
        """`values = body(index, values)` for every index of `range(0, stop, step)`, at least 0."""
        index, carried, close = self._loop(0, stop, step, values, True)
        return close(body(index, carried))

    def _loop(
        self, start: Index, stop: Index, step: int, values: Sequence[Value], some: bool = False
    ) -> tuple[Value, list[Value], Callable[[Sequence[Value]], Sequence[Value]]]:
        """A loop whose test stands at its end; a test before it where it may be empty."""
        b = self.b
        body, after = b.append_basic_block("body"), b.append_basic_block("after")
        if some or (isinstance(start, int) and isinstance(stop, int) and start < stop):
            b.branch(body)
        else:
            b.cbranch(b.icmp_signed("<", integer(start), integer(stop)), body, after)
        before = b.block
        b.position_at_end(body)
        index, carried = b.phi(I64), [b.phi(v.type) for v in values]
        index.add_incoming(integer(start), before)
        for phi, value in zip(carried, values, strict=True):
            phi.add_incoming(value, before)

        def close(new: Sequence[Value]) -> Sequence[Value]:
            following = self.add(index, step)
            index.add_incoming(following, b.block)
            for phi, value in zip(carried, new, strict=True):
                phi.add_incoming(value, b.block)
            b.cbranch(b.icmp_signed("<", following, integer(stop)), body, after)
            b.position_at_end(after)
            return new

        return index, carried, close

    # --- memory -----------------------------------------------------------------------------------
    def vector(self, lanes: int) -> Any:
        return self.kind if lanes == 1 else ir.VectorType(self.kind, lanes)

    def at(self, pointer: Value, offset: Index) -> Value:
        """The address of an element."""
        if isinstance(offset, int) and offset == 0:
            return pointer
        return self.b.gep(pointer, [integer(offset)], source_etype=self.kind)

    def load(self, pointer: Value, lanes: int = 1) -> Value:
        return self.b.load(pointer, align=self.itemsize, typ=self.vector(lanes))

    def load_some(self, pointer: Value, present: int) -> Value:
        """A whole vector of which only the first numbers are in memory; the others are 0."""
        if present == self.lanes:
            return self.load(pointer, self.lanes)
        kind, mask = self.vector(self.lanes), ir.VectorType(I1, self.lanes)
        name = f"llvm.masked.load.{mangled(kind)}.p0"
        found = [int(lane < present) for lane in range(self.lanes)]
        align = ir.Constant(I32, self.itemsize)
        rest = ir.Constant(kind, None)
        return self.call(name, kind, pointer, align, ir.Constant(mask, found), rest)

    def store(self, value: Value, pointer: Value) -> None:
        self.b.store(value, pointer, align=self.itemsize)

    def memory(self, count: int) -> Value:
        """Room for some numbers while the function runs."""
        with self.b.goto_entry_block():
            found = self.b.alloca(self.kind, count)
            found.align = self.itemsize * self.lanes
            found.type = POINTER  # as everywhere here, of no kind
        return found

    # --- vectors ----------------------------------------------------------------------------------
    def constant(self, number: float, lanes: int) -> Value:
        one = ir.Constant(self.kind, number)
        return one if lanes == 1 else ir.Constant(self.vector(lanes), [one] * lanes)

    def spread(self, value: Value) -> Value:
        """One number in all lanes."""
        if self.lanes == 1:
            return value
        some = ir.Constant(self.vector(self.lanes), ir.Undefined)
        first = self.b.insert_element(some, value, ir.Constant(I32, 0))
        return self.shuffle(first, some, [0] * self.lanes)

    def shuffle(self, x: Value, y: Value, lanes: Sequence[int]) -> Value:
        """Lanes of two vectors, numbered through."""
        return self.b.shuffle_vector(x, y, ir.Constant(ir.VectorType(I32, len(lanes)), [*lanes]))

    def pick(self, x: Value, lanes: Sequence[int]) -> Value:
        """Some lanes of a vector."""
        if not isinstance(x.type, ir.VectorType) or [*lanes] == [*range(x.type.count)]:
            return x
        if len(lanes) == 1:
            return self.b.extract_element(x, ir.Constant(I32, lanes[0]))
        return self.shuffle(x, ir.Constant(x.type, ir.Undefined), lanes)

    def fma(self, x: Value, y: Value, z: Value) -> Value:
        """`x * y + z`, rounded once where the processor can."""
        return self.call(f"llvm.fmuladd.{mangled(x.type)}", x.type, x, y, z)

    def call(self, name: str, result: Any, *operands: Value) -> Value:
        """A function that LLVM knows."""
        function = self.b.module.globals.get(name)
        if function is None:
            kind = ir.FunctionType(result, [x.type for x in operands])
            function = ir.Function(self.b.module, kind, name)
        return self.b.call(function, operands)


def integer(value: Index) -> Value:
    return _constant(value) if isinstance(value, int) else value


@cache
def _constant(value: int) -> Value:
    return ir.Constant(I64, value)


def mangled(kind: Any) -> str:
    """A type as the names of LLVM's functions have it: `v8f32`."""
    if isinstance(kind, ir.VectorType):
        return f"v{kind.count}{mangled(kind.element)}"
    return "f32" if isinstance(kind, ir.FloatType) else "f64"


def pieces(width: int) -> list[tuple[int, int]]:
    """Where powers of two begin that make up a width, and which: 7 is 4 + 2 + 1."""
    found, start = [], 0
    while start < width:
        size = 1 << ((width - start).bit_length() - 1)
        found.append((start, size))
        start += size
    return found
