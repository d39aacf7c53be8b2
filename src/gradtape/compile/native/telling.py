"""What native parts tell of themselves: their text with the user's lines, and what is in them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from ..backends.numpy import line_of
from ..program import Equation
from . import (
    chance,
    channelwise,
    checks,
    convolutions,
    matrices,
    pooling,
    scattering,
    singles,
)
from .crew import size
from .nests import Nest, Single
from .timing import OURS
from .unit import Native

WORDS = {
    matrices: "product", convolutions: "convolution", channelwise: "convolution by channels",
    pooling: "pooling", scattering: "sum into rows", chance: "draw", checks: "check",
}  # fmt: skip
_FUNCTION = re.compile(r'define .*@"?(part_\d+)"?\(')


def equations_of(item: Nest | Single) -> list[Equation]:
    if isinstance(item, Single):
        return [item.equation]
    return [step.equation for step in item.steps]


def places(equations: Iterable[Equation]) -> list[str]:
    """The user's lines that equations come from, each once."""
    return [*dict.fromkeys(line_of(e) or OURS for e in equations)]


def sort(item: Nest | Single) -> str:
    """What an item is, in a word."""
    if isinstance(item, Nest):
        return "loop" if any(loop.space for loop in item.loops) else "block of single numbers"
    return WORDS.get(singles.of(item), item.equation.op.name)


# --- the text -------------------------------------------------------------------------------------
def listing(native: Native) -> str:
    """A native part in LLVM's language; before each function stands what it computes."""
    unit = native.unit
    names = unit.names
    items: dict[str, list[Nest | Single]] = {}
    for name, item in zip(names, native.items, strict=True):
        items.setdefault(name, []).append(item)
    lines = [f"; {native.name}: {summary(native)}"]
    for line in unit.text.splitlines():
        found = _FUNCTION.match(line)
        if found:
            lines += _heading(found[1], items[found[1]])
        lines.append(line)
    return "\n".join(lines) + "\n"


def _heading(name: str, items: list[Nest | Single]) -> list[str]:
    first, *others = items
    lines = [f"; {name}: a {sort(first)}, {', '.join(places(equations_of(first)))}"]
    lines += [f";   {e}  # {line_of(e) or OURS}" for e in equations_of(first)]
    if others:
        there = places(e for item in others for e in equations_of(item))
        lines.append(f";   and {len(others)} more like it, {', '.join(there)}")
    return lines


# --- in words -------------------------------------------------------------------------------------
def summary(native: Native) -> str:
    """`41 equations in 12 loops and 6 products, 4 of them shared by 2 threads`."""
    counted = Counter(map(sort, native.items))
    found = [_several(n, word) for word, n in counted.items()]
    inside = " and ".join([", ".join(found[:-1]), found[-1]] if found[1:] else found)
    count = sum(len(equations_of(item)) for item in native.items)
    shared = sum(parts > 1 for parts in native.unit.parts)
    threads = size()
    if threads == 1:
        how = "on one thread"
    elif not shared:
        how = f"too small to be shared by {threads} threads"
    else:
        how = f"{shared} of them shared by {threads} threads"
    return f"{_several(count, 'equation')} in {inside}, {how}"


def _several(count: int, word: str) -> str:
    first, _, rest = word.partition(" ")
    return f"{count} {word}" if count == 1 else f"{count} {first}s{' ' * bool(rest)}{rest}"
