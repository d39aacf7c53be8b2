"""Dead code: equations whose results nobody uses."""

from __future__ import annotations

from ..program import Program


def remove(program: Program) -> Program:
    needed = {*program.results}
    kept = []
    for equation in reversed(program.equations):
        if equation.must_stay or any(v in needed for v in equation.outputs):
            kept.append(equation)
            needed.update(equation.uses)
    kept.reverse()
    return program.with_equations(kept)
