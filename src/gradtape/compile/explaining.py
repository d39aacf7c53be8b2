"""What `step.source()`, `step.explain()` and `step.profile()` show."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from .backends.numpy import line_of
from .tree import Tree


class Report:
    """Text that shows itself, in a terminal and in a notebook."""

    def __init__(self, lines: list[str]) -> None:
        self._text = "\n".join(lines)

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__


def source(function: Any) -> str:
    """The programs of a function as Python."""
    parts = [
        f"# recorded: {take.cause}\n{take.runner.source}"
        for tree in function._trees.values()
        for take in reversed(tree.takes)
    ]
    return "\n".join(parts) or "# not called yet\n"


def explain(function: Any) -> Report:
    """Recordings and their causes, passes, memory."""
    trees = list(function._trees.values())
    total = sum(tree.recordings for tree in trees)
    lines = [f"{function._name}: {_times(len(trees), 'kind')} of arguments, recorded {total} times"]
    for tree in trees:
        lines += _tree(tree)
    return Report(lines)


def _times(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _tree(tree: Tree) -> list[str]:
    lines = []
    if tree.eager:
        lines.append(f"  runs eagerly: {tree.eager}")
    for take in reversed(tree.takes):
        program, runner = take.program, take.runner
        lines.append(f"  recorded: {take.cause}")
        lines.append(
            f"    {_times(len(program.equations), 'equation')}, "
            f"{_times(len(runner.program.equations), 'equation')} after the passes"
        )
        for name, before, after in take.passes:
            if before != after:
                lines.append(f"      {name}: {before} -> {after}")
        lines += [f"    guard: {e.op.name} at {line_of(e)}" for e in program.guards]
        lines += [
            f"    cut: {e.op.name} at {line_of(e)} comes before a guard" for e in _cuts(program)
        ]
        lines.append(f"    buffers: {runner.memory / 1024:.1f} KiB")
    return lines


def _cuts(program: Any) -> list[Any]:
    """Effects that come before a guard."""
    from .program import Effect, Guard

    last = max((k for k, e in enumerate(program.equations) if isinstance(e.op, Guard)), default=-1)
    return [e for e in program.equations[: max(last, 0)] if isinstance(e.op, Effect)]


def profile(function: Any, args: tuple, kwargs: dict[str, Any], seconds: float = 0.5) -> Report:
    """The time of each of the user's lines: the program is run equation by equation."""
    bound = function._signature.bind(args, kwargs)
    take = function._tree(bound).some_take(bound, function._may_create)
    times = take.runner.timed([leaf._value for leaf in bound.leaves], perf_counter, seconds)
    total = sum(times.values()) or 1.0
    lines = [f"{function._name}: {total * 1e6:.1f} us a call"]
    for where, spent in sorted(times.items(), key=lambda item: -item[1]):
        lines.append(f"  {spent * 1e6:8.1f} us {spent / total:5.0%}  {where}")
    return Report(lines)
