"""Guards first: what they need is computed before everything else, so that a program that does not
hold is given up early. A guard after an effect stays after it."""

from __future__ import annotations

from ..program import Effect, Equation, Guard, Program, Var


def hasten(program: Program) -> Program:
    if not program.guards:
        return program
    made: list[Equation] = []
    part: list[Equation] = []
    for equation in program.equations:
        part.append(equation)
        if isinstance(equation.op, Effect):
            made += _ordered(part)
            part = []
    return program.with_equations(made + _ordered(part))


def _ordered(part: list[Equation]) -> list[Equation]:
    """Equations up to an effect, those that lead to guards in front."""
    needed, early = set[Var](), set[int]()
    for k in range(len(part) - 1, -1, -1):
        equation = part[k]
        if isinstance(equation.op, Guard) or any(v in needed for v in equation.outputs):
            early.add(k)
            needed.update(equation.uses)
    return [e for k, e in enumerate(part) if k in early] + [
        e for k, e in enumerate(part) if k not in early
    ]
