"""What random programs reach: python -m tests.tensorflow.fuzz.coverage [--programs 1000].

Families of steps, expressions, scenarios and dtypes are counted in the programs; the ops of
gradtape's registry while it runs them.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import importlib
import logging
import pkgutil
import sys
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

from tests.tensorflow.fuzz import expressions, families, interpret
from tests.tensorflow.fuzz.draw import Draw
from tests.tensorflow.fuzz.generate import generate

Counts = collections.Counter[str]

SPARSE = "programs have dense tensors, and sparse ones only on the way there and back"
DRAWN = "a draw: its numbers for a seed are among the recorded answers (randomness)"
# Ops that no program reaches, and why.
ABSENT = {
    **dict.fromkeys(("sparse_max", "sparse_maximum", "sparse_minimum", "sparse_split"), SPARSE),
    **dict.fromkeys(("sparse_max_sparse", "sparse_sum_sparse"), SPARSE),
    **dict.fromkeys(("random_poisson", "random_integers", "shuffle", "categorical"), DRAWN),
    **dict.fromkeys(("binomial", "stateless_binomial", "parameterized_truncated_normal"), DRAWN),
    "random_gamma_grad": DRAWN,
    "join_texts": "a sum of texts; the programs compute with numbers",
    "guarantee_const": "an identity for graphs",
    **dict.fromkeys(("getitem_at", "put_at"), "how a recorded function indexes by a number of its"),
    **dict.fromkeys(("read_window", "write_window"), "of XLA, by no public name"),
}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.tensorflow.fuzz.coverage")
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    with counted_families() as drawn:
        programs = [generate(options.seed, i) for i in range(options.programs)]
    print("families:", ", ".join(f"{name} {n}" for name, n in drawn.most_common()))
    kinds = collections.Counter(program["scenario"]["kind"] for program in programs)
    print("scenarios:", ", ".join(f"{name} {n}" for name, n in kinds.most_common()))
    dtypes: Counts = collections.Counter()
    for program in programs:
        dtypes.update(part["dtype"] for part in [*program["inputs"], *program["steps"]])
    print("dtypes:", ", ".join(f"{name} {n}" for name, n in dtypes.most_common()))
    used = written(programs)
    never = sorted(declared() - set(used))
    print(f"expressions: {len(used)}; of the tables' {len(declared())} never drawn: {never}")
    with counted_ops() as applied:
        run(programs)
    reached = [name for name, n in applied.items() if n]
    print(f"ops: {len(reached)} of {len(applied)} in the registry are reached")
    missing = [f"{name} ({ABSENT.get(name, '?')})" for name, n in applied.items() if not n]
    print("  not reached:", ", ".join(missing))
    return 0


def run(programs: list[Any]) -> None:
    """Let gradtape answer the programs."""
    import gradtape as tf

    logger = logging.getLogger("gradtape")
    before, logger.disabled = logger.disabled, True
    try:
        for program in programs:
            interpret.answer(program, tf)
    finally:
        logger.disabled = before


def written(programs: list[Any]) -> Counts:
    """How often each expression stands in the programs."""
    return collections.Counter(step["op"] for program in programs for step in program["steps"])


def declared() -> set[str]:
    """All expressions of the tables."""
    found: set[str] = set()
    for name, table in vars(expressions).items():
        if name.isupper() and "REDUCE" not in name:  # those are only names of functions
            for text in table.values() if isinstance(table, dict) else [table]:
                found.update(expressions.listed(text))
    return found


@contextlib.contextmanager
def counted_families() -> Iterator[Counts]:
    """Count how often each family finds a step."""
    counts: Counts = collections.Counter({make.__name__: 0 for _, make in families.FAMILIES})
    before = list(families.FAMILIES)

    def counting(make: Callable[[Draw], Any]) -> Callable[[Draw], Any]:
        def counted(draw: Draw) -> Any:
            made = make(draw)
            counts[make.__name__] += 1
            return made

        return counted

    families.FAMILIES[:] = [(weight, counting(make)) for weight, make in before]
    try:
        yield counts
    finally:
        families.FAMILIES[:] = before


@contextlib.contextmanager
def counted_ops() -> Iterator[Counts]:
    """Count the uses of every op's forward: by tensors, and by rules."""
    import gradtape.ops
    from gradtape.core.op import registry

    for info in pkgutil.iter_modules(gradtape.ops.__path__):
        importlib.import_module(f"gradtape.ops.{info.name}")
    counts: Counts = collections.Counter(dict.fromkeys(registry, 0))
    undo: list[Callable[[], None]] = []
    for op in registry.values():
        _count(op, counts, undo)
    try:
        yield counts
    finally:
        for step in undo:
            step()


def _cells(function: Any) -> Iterator[Any]:
    """What a function closes over, and what a function in it does."""
    for cell in function.__closure__ or ():
        yield cell
        if isinstance(cell.cell_contents, FunctionType):
            yield from cell.cell_contents.__closure__ or ()


def _count(op: Any, counts: Counts, undo: list[Callable[[], None]]) -> None:
    forward = op.forward

    def counted(*values: Any, **params: Any) -> Any:
        counts[op.name] += 1
        return forward(*values, **params)

    cells = [c for c in _cells(op.apply) if c.cell_contents is forward]
    for cell in cells:
        cell.cell_contents = counted
    op.forward = counted

    def restore() -> None:
        op.forward = forward
        for cell in cells:
            cell.cell_contents = forward

    undo.append(restore)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
