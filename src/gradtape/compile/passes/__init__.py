"""The passes: programs in, better programs out, one idea each, in the order of `PASSES`."""

from __future__ import annotations

from collections.abc import Callable

from ..program import Program, verify
from . import (
    algebra,
    common,
    constants,
    dead,
    fuse,
    guards,
    lower,
    memory,
    products,
    rows,
    sums,
    updates,
)

Pass = Callable[[Program], Program]
CHECKED = False  # whether every pass is followed by the verifier, as in tests
PASSES: list[tuple[str, Callable[[Program], Program]]] = [
    ("dead code", dead.remove),
    ("lowering", lower.lower),
    ("constants", constants.fold),
    ("common subexpressions", common.share),
    ("algebra", algebra.simplify),
    ("sums as products", sums.multiply),
    ("products together", products.join),
    ("rows side by side", rows.lengthen),
    ("constants once more", constants.fold_all),
    ("subexpressions once more", common.share),
    ("what is dead now", dead.remove),
    ("guards first", guards.hasten),
    ("updates in place", updates.store),
    ("fusion", fuse.fuse),
    ("memory", memory.plan),
]

# For a backend that fuses and plans memory itself.
_OTHERS = ("sums as products", "rows side by side", "fusion", "memory")
_OWN: dict[Pass, Pass] = {
    updates.store: updates.store_rows,
    products.join: products.join_as_they_lie,
}
NATIVE_PASSES = [(name, _OWN.get(run, run)) for name, run in PASSES if name not in _OTHERS]


def optimise(
    program: Program,
    told: list[tuple[str, int, int]] | None = None,
    passes: list[tuple[str, Callable[[Program], Program]]] = PASSES,
) -> Program:
    """The program after all passes; `told` gets each pass's name and the number of equations
    before and after it."""
    for name, run in passes:
        before = len(program.equations)
        program = run(program)
        if CHECKED:
            verify(program)
        if told is not None:
            told.append((name, before, len(program.equations)))
    return program
