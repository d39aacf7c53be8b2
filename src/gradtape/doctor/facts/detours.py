"""Finds the values that left the tape as arrays or numbers and came back as constants."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from types import CodeType
from typing import Any

import numpy as np

from ..source.flow import Stack, connection
from ..source.place import Place, at, by_code, full_name, parents
from ..trace import Event, Value

# How far back an exit is looked for when only the source can tell.
REACH = 400
SCALARS = ("float()", "int()", "bool()", "complex()")
ARRAYS = ("numpy", "scipy")  # packages whose functions compute with arrays
_BUILTINS = ("float", "int", "complex", "round")


@dataclass(eq=False)
class Exit:
    """A tensor became an array or a Python number."""

    value: Value
    how: str
    result: Any
    stack: Stack
    time: float

    @property
    def place(self) -> Place:
        return at(*self.stack[0])

    @property
    def stores(self) -> bool:
        """Did an array take the number, in `array[k] = tensor`?"""
        node = self.place.node
        return isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)

    @property
    def scalar(self) -> bool:
        """Did it become a Python number, at once or by way of an array (`.numpy().item()`)?"""
        node = self.place.node
        if self.stores:
            return False
        if self.how in SCALARS and isinstance(node, ast.Call):
            # NumPy asks a tensor for its float when it makes an array of a list of tensors.
            return full_name(self.place.file, node.func).partition(".")[0] not in ARRAYS
        return self.how in SCALARS or (np.ndim(self.result) == 0 and _made_a_number(self.place))


@dataclass(eq=False)
class Entry:
    """An array or a Python number became an operand."""

    value: Value
    given: Any
    stack: Stack
    time: float
    operand: int | None = None  # its number among the operands, where that is known


def link(exits: Sequence[Exit], entries: Sequence[Entry]) -> list[Event]:
    """An event for every entry that some exits lead to."""
    exits = [e for e in exits if e.how != "bool()"]
    found: list[Event] = []
    last: dict[tuple, float] = {}
    for entry in entries if exits else ():
        if _literal(entry):
            continue
        before = [e for e in exits if e.time < entry.time][-REACH:]
        # In a loop, first what left since the round before.
        since = last.get(entry.stack[0], -1)
        event = _link([e for e in before if e.time > since], entry)
        if event is None and since >= 0:
            event = _link(before, entry)
        if event is not None:
            found.append(event)
        last[entry.stack[0]] = entry.time
    return found


def _link(before: Sequence[Exit], entry: Entry) -> Event | None:
    found = _the_same(before, entry.given)
    sure = bool(found)
    if not found:
        judged = [(e, connection(e.stack, entry.stack, entry.operand)) for e in before]
        found = [e for e, how in judged if how == "inside"]
        sure = bool(found)
        found = _once(found or [e for e, how in judged if how])
    if not found:
        return None
    first = found[0]
    scalar = all(e.scalar for e in found)
    time = max(e.time for e in found)  # after all that it is made of
    return Event(
        first.how, word(first), [e.value for e in found], [entry.value], first.place, time,
        way="python" if scalar else "numpy", back=at(*entry.stack[0]), sure=sure,
        attrs={"exits": found, "entry": entry},
    )  # fmt: skip


def word(exit: Exit) -> str:
    """How it left, in a word of the user's: `np.mean` of `np.mean(parts)`."""
    node = exit.place.node
    if exit.stores and isinstance(node, ast.Subscript):
        return f"{ast.unparse(node.value)}[...]"
    if exit.how == ".numpy()" or not isinstance(node, ast.Call):
        return exit.how
    text = ast.unparse(node.func)
    return exit.how if text in _BUILTINS or len(text) > 30 else text


def _once(exits: list[Exit]) -> list[Exit]:
    """Of one value that left several times at a place, the last."""
    return list({(e.place, id(e.value)): e for e in exits}.values())


# --- the same thing -------------------------------------------------------------------------------
def _the_same(exits: Sequence[Exit], came: Any) -> list[Exit]:
    """The exits whose results are what came: the object itself, its memory, or its very numbers."""
    if isinstance(came, (list, tuple)):
        found = [e for part in came[:64] for e in _the_same(exits, part)]
        return list(dict.fromkeys(found))
    best, chosen = 0, None
    for e in exits:
        rank = _rank(e.result, came)
        if rank and rank >= best:
            best, chosen = rank, e
    return [] if chosen is None else [chosen]


def _rank(left: Any, came: Any) -> int:
    if left is came:
        return 0 if isinstance(left, (bool, np.bool_)) or _small(left) else 3
    if isinstance(left, np.ndarray) and isinstance(came, np.ndarray):
        if left.size and np.may_share_memory(left, came):
            return 2
        return int(left.size == came.size > 1 and left.size <= 1 << 16 and _equal(left, came))
    if np.ndim(left) == 0 and np.ndim(came) == 0 and isinstance(came, (float, np.floating)):
        return int(not _small(came) and bool(left == came))
    return 0


def _small(number: Any) -> bool:
    """Numbers that a program has of many sources: equality says nothing."""
    if np.ndim(number):
        return False
    try:
        return float(number) == int(number) and abs(number) < 1000
    except (TypeError, ValueError, OverflowError):
        return False


def _equal(left: np.ndarray, came: np.ndarray) -> bool:
    a, b = left.ravel(), came.ravel()
    if a.dtype.kind not in "fc" or b.dtype.kind not in "fc":
        return False
    if abs(a[0] - b[0]) > 1e-6 * abs(b[0]) or not np.any(a != a[0]):
        return False
    return bool(np.allclose(a, b, rtol=1e-6, atol=0, equal_nan=True))


# --- what the source says -------------------------------------------------------------------------
def _literal(entry: Entry) -> bool:
    """A number that stands in the source as it is came from nowhere else."""
    if not isinstance(entry.given, (int, float, complex)):
        return False
    return abs(entry.given) in _numbers(*entry.stack[0])


@by_code(4096)
def _numbers(code: CodeType, offset: int) -> frozenset[float]:
    """The numbers in the text of an expression."""
    place = at(code, offset)
    node: ast.AST | None = place.node or place.statement
    parts = ast.walk(node) if node is not None else ()
    values = [part.value for part in parts if isinstance(part, ast.Constant)]
    return frozenset(abs(v) for v in values if isinstance(v, (int, float, complex)))


def _made_a_number(place: Place) -> bool:
    """Is the array at once given to `float`, to a function of `math`, or asked for its `item`?"""
    node, file = place.node, place.file
    if isinstance(node, ast.Call) and full_name(file, node.func).startswith("math."):
        return True
    for outer in parents(place)[:2]:
        if isinstance(outer, ast.Attribute) and outer.attr in ("item", "tolist"):
            return True
        if isinstance(outer, ast.Call) and node in outer.args:
            name = full_name(file, outer.func)
            return name in _BUILTINS or name.startswith("math.")
    return False
