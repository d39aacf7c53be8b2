"""Which equations share a loop: nests of loops, made of equations in the order of a program.

A loop goes through a space of indices; an equation that gives a value of that shape is a step of
it, and so is a sum over such a value. What a step computes stays in a register for the steps behind
it. A sum over the last axes is known when these are gone through, so loops that need it may follow
in the same nest, row by row, while the row is still in the cache: a softmax is one nest.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable
from dataclasses import dataclass, field

from ..program import Equation, Var
from .functions import BINARY, UNARY
from .layout import Layout, rows

FUNCTIONS = {*UNARY, *BINARY}

SCRATCH = -1  # the number of values that are room for an equation's own use
MOST = 100  # steps of a loop
MOST_SINGLE = 400  # of single numbers: LLVM takes 2 s for 2,500 steps in a block, 7 s for 5,000
Space = tuple[int, ...]


@dataclass(eq=False)
class Step:
    """An equation in a loop, and how it reaches what it needs along the axes of the space."""

    equation: Equation
    space: Space
    reads: list[tuple[Var, tuple[int, ...], int]]  # the root, strides along the axes, an offset
    reduced: tuple[int, ...] = ()  # axes of the space that a sum goes over
    kept: tuple[int, ...] = ()  # strides of the result along the axes of the space
    offset: int = 0  # and where it begins
    piece: bool = False  # does it give only a part of the value?
    # Of what is picked: which read gives positions, and how far apart are the rows of the first.
    picks: int | None = None

    @property
    def result(self) -> Var:
        return self.equation.outputs[0]

    @property
    def weight(self) -> float:
        """How many additions it takes about as long as."""
        return 8.0 if self.equation.op.name in FUNCTIONS else 1.0


@dataclass(eq=False)
class Loop:
    space: Space
    steps: list[Step] = field(default_factory=list)


@dataclass(eq=False)
class Nest:
    """Loops that share their first `outer` axes."""

    loops: list[Loop]
    outer: int = 0
    home: dict[Var, tuple[Loop, Step]] = field(default_factory=dict)  # who computes what

    @property
    def steps(self) -> Iterable[Step]:
        return (step for loop in self.loops for step in loop.steps)


@dataclass(eq=False)
class Single:
    """An equation that is computed on its own, such as a product."""

    equation: Equation
    reads: list[Layout]


def squeezed(shape: Space) -> tuple[Space, list[int]]:
    """A shape without axes of size 1, and the axes that are left."""
    axes = [k for k, n in enumerate(shape) if n != 1]
    return tuple(shape[k] for k in axes), axes


def step_of(
    equation: Equation, space: Space, layouts: list[Layout], reduced: Iterable[int] = ()
) -> Step:
    """A step in the space of a shape; `reduced` are axes of the shape."""
    small, axes = squeezed(space)
    reads = []
    for layout in layouts:
        strides = layout.broadcast(space)
        reads.append((layout.root, tuple(strides[k] for k in axes), layout.offset))
    gone = {*reduced}
    over = tuple(i for i, k in enumerate(axes) if k in gone)
    left = tuple(n for i, n in enumerate(small) if i not in over)
    apart = iter(rows(left))
    kept = tuple(0 if i in over else next(apart) for i in range(len(small)))
    return Step(equation, small, reads, over, kept)


class Grouping:
    """Puts steps into nests; `items` is what there is to do, in order."""

    def __init__(self) -> None:
        self.items: list[Nest | Single] = []
        self.maker: dict[Var, int] = {}  # which item computes a value
        self.open: dict[Space, list[int]] = {}  # items with a loop that is not full yet

    def single(self, equation: Equation, reads: list[Layout]) -> None:
        self.items.append(Single(equation, reads))
        for value in equation.outputs:
            self.maker[value] = len(self.items) - 1

    def step(self, step: Step) -> None:
        last = max((self.maker.get(root, -1) for root, _, _ in step.reads), default=-1)
        k = self._joined(step, last)
        if k is None:
            k = len(self.items)
            nest = Nest([Loop(step.space)])
            self.items.append(nest)
            _append(nest, nest.loops[0], step)
            self.open.setdefault(step.space, []).append(k)
        self.maker[step.result] = max(k, self.maker.get(step.result, k))

    def _joined(self, step: Step, last: int) -> int | None:
        """The item that takes the step: that of its last operand, or one behind it."""
        item = self.items[last] if last >= 0 else None
        if isinstance(item, Nest):
            count = len(item.loops)
            if _in_loop(item, step) or _phase(item, step):
                if len(item.loops) > count:
                    insort(self.open.setdefault(step.space, []), last)
                return last
        open = self.open.get(step.space, [])
        at = bisect_right(open, last)
        while at < len(open):
            nest = self.items[open[at]]
            assert isinstance(nest, Nest)
            if _in_loop(nest, step):
                return open[at]
            del open[at]  # full: behind its operands nothing else keeps it out
        return None


def _append(nest: Nest, loop: Loop, step: Step) -> None:
    loop.steps.append(step)
    nest.home[step.result] = loop, step


def _in_loop(nest: Nest, step: Step) -> bool:
    """Add it to the loop of the nest that goes through the same space, if what it needs of the
    nest is in registers there, or was computed by loops before."""
    for at, loop in enumerate(nest.loops):
        full = len(loop.steps) >= (MOST if loop.space else MOST_SINGLE)
        if loop.space == step.space and not full and _reaches(nest, step, at):
            _append(nest, loop, step)
            return True
    return False


def _reaches(nest: Nest, step: Step, at: int) -> bool:
    for root, strides, offset in step.reads:
        if root not in nest.home:
            continue
        loop, made = nest.home[root]
        where = nest.loops.index(loop)
        if where > at:
            return False
        if where == at:
            if step.picks is not None:
                return False
            if made.reduced or made.piece or offset or strides != made.kept:
                return False
        elif not _row_local(made, strides, offset, nest.outer):
            return False
    # What is summed over the axes that the loops share is there only when all is done.
    return True


def _row_local(made: Step, strides: tuple[int, ...], offset: int, outer: int) -> bool:
    """Is what is read of a value in a turn of the outer axes computed in that turn?"""
    if offset or made.piece or any(k < outer for k in made.reduced):
        return False
    return strides[:outer] == made.kept[:outer]


def _phase(nest: Nest, step: Step) -> bool:
    """Add a loop of its own to the nest, behind those that compute what it needs."""
    inside = [read for read in step.reads if read[0] in nest.home]
    outer = nest.outer
    if len(nest.loops) == 1 and not outer:
        firsts = [r.reduced[0] for root, _, _ in inside if (r := nest.home[root][1]).reduced]
        outer = min([*firsts, len(step.space)]) if firsts else 0
    if not outer or any(loop.space[:outer] != step.space[:outer] for loop in nest.loops):
        return False
    for root, strides, offset in inside:
        if not _row_local(nest.home[root][1], strides, offset, outer):
            return False
    nest.outer = outer
    for at, loop in enumerate(nest.loops):
        if loop.space == step.space and _reaches(nest, step, at):
            _append(nest, loop, step)
            return True
    loop = Loop(step.space)
    nest.loops.append(loop)
    _append(nest, loop, step)
    return True


def needed_outside(items: list[Nest | Single], results: Iterable[Var]) -> set[Var]:
    """The values whose memory somebody reads: another loop, a single equation, or the world."""
    found = set(results)
    for item in items:
        if isinstance(item, Single):
            found.update(layout.root for layout in item.reads)
            continue
        for loop in item.loops:
            for step in loop.steps:
                for root, _, _ in step.reads:
                    home = item.home.get(root)
                    if home is None or home[0] is not loop:
                        found.add(root)
    return found
