"""What `step.source()`, `step.explain()` and `step.profile()` show."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np

from .backends import choice
from .backends.numpy import line_of
from .program import Effect, Equation, Guard, Var
from .tree import Take, Tree


class Report:
    """Text that shows itself, in a terminal and in a notebook."""

    def __init__(self, lines: list[str]) -> None:
        self._text = "\n".join(lines)

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__


FORMS = ("numpy", "llvm")


def source(function: Any, form: str = "numpy") -> str:
    """The programs of a function as Python, or their native parts in LLVM's language."""
    if form not in FORMS:
        raise ValueError(
            f"{function._name}.source({form!r}): a program can be shown as 'numpy', which is the "
            "Python code that calls NumPy and native parts, or as 'llvm', which is what the native "
            "parts are made of."
        )
    if form == "llvm" and not choice.installed():
        return f"; llvmlite is not installed, so nothing is native: {choice.INSTALL}\n"
    write, mark = (_python, "#") if form == "numpy" else (_llvm, ";")
    parts = [
        f"{mark} recorded: {take.cause}\n{write(take)}"
        for tree in function._trees.values()
        for take in reversed(tree.takes)
    ]
    return "\n".join(parts) or f"{mark} not called yet\n"


def _python(take: Take) -> str:
    return take.runner.source


def _llvm(take: Take) -> str:
    from .backends.llvm import in_parts
    from .native.parts import obstacles
    from .native.telling import listing

    lines = [f"; runs {choice.reason(take.runner, take.compile)}"]
    try:
        program = in_parts(take.program, take.runner)
        called = {id(equation): why for equation, why in obstacles(program)}
        for equation in program.equations:
            why = called.get(id(equation))
            lines.append(listing(equation.op) if why is None else f"; {_called(equation, why)}")
    except Exception as error:  # which keeps it from becoming native, too
        lines.append(f"; cannot be compiled: {type(error).__name__}: {error}")
    return "\n".join(lines).rstrip() + "\n"


def _called(equation: Equation, why: str) -> str:
    """A call of Python's between native parts."""
    where = line_of(equation)
    return f"{equation.op.name}{f' at {where}' if where else ''}, called by Python: {why}"


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
        lines.append(f"    buffers: {_memory(runner) / 1024:.1f} KiB")
        lines.append(f"    runs {choice.reason(runner, take.compile)}")
        if choice.is_native(runner):
            lines += _parts(runner)
    return lines


def _memory(runner: Any) -> int:
    """Bytes that an instance of a program keeps from call to call."""
    units = [e.op.unit for e in runner.program.equations if hasattr(e.op, "unit")]
    return runner.memory + sum(unit.memory for unit in units)


def _parts(runner: Any) -> list[str]:
    """Native parts and what Python calls between them, with their shares of the time."""
    from .native.parts import obstacles
    from .native.telling import summary

    program = runner.program
    called = {id(equation): why for equation, why in obstacles(program)}
    spent, untold = _measured(runner)
    total = sum(spent.values()) or 1.0
    lines = [f"    in order, {untold or 'with their shares of the time of a call'}:"]
    for equation in program.equations:
        why = called.get(id(equation))
        if why is None:
            told = f"{equation.op.name}: {summary(equation.op)}"
        else:
            told = _called(equation, why)
        share = f"{spent[id(equation)] / total:4.0%} " if id(equation) in spent else ""
        lines.append(f"      {share}{told}")
    return lines


def _measured(runner: Any, seconds: float = 0.1) -> tuple[dict[int, float], str]:
    """The time of each equation in a call with stand-ins for the arguments; or why there is none.
    Variables and random streams stay as they are."""
    program = runner.program
    if any(isinstance(e.op, Effect) for e in program.equations):
        return {}, "not timed, as it calls functions that the world can see"
    values = [_stand_in(v) for v in program.inputs] + [t._value for t, _ in program.captures]
    try:
        found = runner.measured(values, perf_counter, seconds)
    except Exception:  # of an op that such arguments do not suit
        found = None
    if found is None:
        return {}, "not timed, as it depends on its arguments: see profile"
    spent: dict[int, float] = {}
    for equation, time, _ in found:
        spent[id(equation)] = spent.get(id(equation), 0.0) + time
    return spent, ""


def _stand_in(value: Var) -> Any:
    """Numbers that most ops take: as a position 0 is everywhere, as a factor 1 is harmless."""
    if value.dtype is None:
        return 1
    if value.dtype.kind == "O":
        return np.full(value.shape, b"", object)
    made = np.zeros if value.dtype.kind in "iu" else np.ones
    return made(value.shape, value.dtype)[()]


def _cuts(program: Any) -> list[Any]:
    """Effects that come before a guard."""
    last = max((k for k, e in enumerate(program.equations) if isinstance(e.op, Guard)), default=-1)
    return [e for e in program.equations[: max(last, 0)] if isinstance(e.op, Effect)]


def profile(function: Any, args: tuple, kwargs: dict[str, Any], seconds: float = 0.5) -> Report:
    """The time of each of the user's lines in the next call: what is not native is run equation by
    equation, and what is native with a clock in it."""
    bound = function._signature.bind(args, kwargs)
    tree = function._tree(bound)
    tree.some_take(bound, function._may_create)
    times = runner = None
    for take in _takes(tree, bound):
        runner = choice.next_of(take.runner)
        values = [t._value for t in (*bound.leaves, *[c for c, _ in take.program.captures])]
        times = runner.timed(values, perf_counter, seconds)
        if times is not None:
            break
    total = sum((times or {}).values()) or 1.0
    how = "as machine code" if choice.is_native(runner) else "on NumPy"
    lines = [f"{function._name}: {total * 1e6:.1f} us a call, {how}"]
    for where, spent in sorted((times or {}).items(), key=lambda item: -item[1]):
        lines.append(f"  {spent * 1e6:8.1f} us {spent / total:5.0%}  {where}")
    return Report(lines)


def _takes(tree: Tree, bound: Any) -> Iterator[Take]:
    """Recordings that may hold for these arguments; the last one does."""
    yield from tree.takes
    yield tree.tried(bound)
