"""What a traced function read from Python when it was traced, and would find changed now.

A `tf.function` reads numbers, flags, lists and functions of Python's once. Here is what became of
them, and where that shows in the step that is looked at: only what is seen to have been computed
with the old one counts, because a function may have been traced again, or run without a graph.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...traits import Family
from ..source import flow
from ..source.place import Place, Written, at, parents
from ..trace import Event, Value, Variable
from .branches import ENDS, outside
from .holding import holds

if TYPE_CHECKING:
    from .case import Case

PLAIN = (bool, int, float)
LOOPS = (ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)
NEAR = 4  # ops between a number and the variable that it updates


class Stale(NamedTuple):
    """A reading that gives something else now."""

    sight: Any
    node: ast.expr
    old: Any
    now: Any

    @property
    def place(self) -> Written:
        return Written(self.sight.code, self.node)


def stale(case: Case) -> list[Stale]:
    """The readings of the functions of this step that changed since these were traced."""
    found: list[Stale] = case.question.once(stale, lambda: list(_stale(case)))
    return found


def number(case: Case) -> tuple[Stale, Event] | None:
    """A number that the graph keeps, on the way from the source to the target or into an update of
    the source."""
    found: list[tuple[Stale, Event]] = case.question.once(number, lambda: list(_numbers(case)))
    on_the_way = case.question.once("makers", lambda: set(case.question.makers))
    for one, event in found:
        if (event in on_the_way and case.leads_to(*event.inputs)) or _updates(event, case.variable):
            return one, event
    return None


def turned(case: Case, culprits: list[Event]) -> tuple[Place, Stale] | None:
    """A condition that led to one of these events and would lead elsewhere now."""
    for event in culprits if stale(case) else ():
        for code, offset in _frames(event):
            place = at(code, offset)
            for sight, changed in _of(case, place):
                for test, taken in _tests(place):
                    own = [s for s in changed if _within(s.node, test)]
                    if own and _truth(sight, test, case) is (not taken):
                        return Written(sight.code, test), own[0]
    return None


def replaced(case: Case, culprits: list[Event]) -> Stale | None:
    """A function that led to one of these events, and is another one now."""
    for event in culprits:
        codes = [code for code, _ in _frames(event)]
        for found in stale(case):
            if isinstance(found.now, FunctionType) and found.old.held in codes:
                return found
    return None


def left_out(case: Case) -> tuple[Place, Stale] | None:
    """A loop that would come to the source now, and ended before it when it was traced."""
    owner = None if case.variable is None else case.variable.owner
    for code, sights in _by_code(case).items() if owner is not None else ():
        for over, entries in _loops(code):
            for sight, changed in sights:
                own = [s for s in changed if _within(s.node, over)]
                if own and any(holds(e, owner) for e in _entries(sight, over, entries, case)):
                    return Written(code, over), own[0]
        for loop in [n for n in flow.statements(code) if isinstance(n, ast.For)]:
            for sight, changed in sights:
                own = [s for s in changed if _within(s.node, loop.iter)]
                if own and _many(sight, loop.iter, case) and _takes(sight, loop, owner, case):
                    return Written(code, loop.iter), own[0]
    return None


def _many(sight: Any, over: ast.expr, case: Case) -> int:
    """How many steps a loop would have now."""
    try:
        if isinstance(over, ast.Call) and getattr(over.func, "id", "") == "range":
            return len(range(*[sight.value(part, outside(case)) for part in over.args]))
        return len(sight.value(over, outside(case)))
    except Exception:  # whatever stands there
        return 0


def _takes(sight: Any, loop: ast.For, owner: Any, case: Case) -> bool:
    """Does the body of a loop take the source, or a layer that has it?"""
    for part in (part for statement in loop.body for part in ast.walk(statement)):
        if isinstance(part, (ast.Name, ast.Attribute, ast.Subscript)) and ast.unparse(part) not in (
            "self", "cls"
        ):  # fmt: skip
            try:
                if holds(sight.value(part, outside(case)), owner):
                    return True
            except Exception:  # whatever stands there
                continue
    return False


# --- what changed ---------------------------------------------------------------------------------
def _stale(case: Case) -> Iterator[Stale]:
    sights = case.trace.sights
    if sights is None:
        return
    ran = {c for e in case.trace.events if case.tape.number in e.tapes for c, _ in _frames(e)}
    ran.add(case.tape.place.code)
    known = list(sights.everything())
    stored = {name for sight in known for s in flow.statements(sight.code) for name in _stored(s)}
    for sight in known:
        if sight.code in ran or sight.by in ran:
            ran.add(sight.code)
            for node, old, now in sight.changed(outside(case)):
                if _last(node) not in stored:  # else the function itself changes it
                    yield Stale(sight, node, old, now)


def _stored(statement: ast.stmt) -> set[str]:
    """The attributes and outer names that a statement of a function sets."""
    names = {name for name in flow.bound(statement) if "." in name}
    if isinstance(statement, (ast.Global, ast.Nonlocal)):
        names |= set(statement.names)
    return {name.rpartition(".")[2] for name in names}


def _last(node: ast.expr) -> str:
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _by_code(case: Case) -> dict[CodeType, list[tuple[Any, list[Stale]]]]:
    """The functions with something stale, with what they could see."""
    found: dict[CodeType, dict[int, tuple[Any, list[Stale]]]] = {}
    for one in stale(case):
        own = found.setdefault(one.sight.code, {}).setdefault(id(one.sight), (one.sight, []))
        own[1].append(one)
    return {code: list(sights.values()) for code, sights in found.items()}


def _of(case: Case, place: Place) -> list[tuple[Any, list[Stale]]]:
    """What is stale in the function that a place stands in: a comprehension is a part of it."""
    by_code = _by_code(case)
    if place.code in by_code or not place.code.co_name.startswith("<"):
        return by_code.get(place.code, [])
    found = []
    for code, sights in by_code.items():
        function = flow.function_of(code)
        last = 0 if function is None else function.end_lineno or 0
        if function is not None and function.lineno <= place.line <= last:
            found += sights if code.co_filename == place.code.co_filename else []
    return found


def _frames(event: Event) -> list[tuple[CodeType, int]]:
    return [(event.place.code, event.place.offset), *event.outer]


# --- numbers --------------------------------------------------------------------------------------
def _numbers(case: Case) -> Iterator[tuple[Stale, Event]]:
    by_code = _by_code(case)
    for event in case.trace.events if by_code else ():
        for sight, changed in by_code.get(event.place.code, []) if event.way == "op" else ():
            for part in flow.operands(event.place):
                own = _kept(case, event, sight, changed, part)
                if own is not None:
                    yield own, event


def _kept(
    case: Case, event: Event, sight: Any, changed: list[Stale], part: ast.AST
) -> Stale | None:
    """The reading in an operand that the graph keeps the old number of."""
    whole = part
    if isinstance(part, ast.Name):
        whole = flow.given_once(sight.code, part.id) or part
    own = [one for one in changed if _within(one.node, whole)]
    if not own:
        return None
    try:
        then = sight.value(part, outside(case), then=True)
        now = sight.value(part, outside(case))
    except Exception:  # whatever stands there
        return None
    if not all(isinstance(n, (*PLAIN, np.ndarray, np.generic)) for n in (then, now)):
        return None
    if np.array_equal(then, now):
        return None
    kept = any(_is_constant(v, then) for v in event.inputs) or _computed_with(event, then, now)
    return own[0] if kept else None


def _computed_with(event: Event, then: Any, now: Any) -> bool:
    """Of an array that was changed in place, and is known only as it is now: did the op give what
    it gives for the old numbers?"""
    arrays = [v.array for v in event.inputs]
    where = [k for k, v in enumerate(event.inputs) if v.kind == "array" and _same(v.array, now)]
    if event.replay is None or len(where) != 1 or len(event.outputs) != 1:
        return False
    arrays[where[0]] = np.asarray(then, np.asarray(now).dtype)
    (made, *_), _ = event.replay(arrays)
    return _same(made, event.outputs[0].array) and not _same(event.replay(
        [v.array for v in event.inputs])[0][0], made)  # fmt: skip


def _same(one: Any, other: Any) -> bool:
    return np.shape(one) == np.shape(other) and bool(np.allclose(one, other))


def _is_constant(value: Value, number: Any) -> bool:
    if value.variable is not None or value.array is None:
        return False
    if value.maker is not None and not value.maker.is_a(Family.CONSTANTS | Family.RESHAPES):
        return False
    array, wanted = np.asarray(value.array), np.asarray(number)
    if array.dtype.kind not in "fiub" or wanted.dtype.kind not in "fiub":
        return False
    same = array.shape == wanted.shape or array.size == wanted.size == 1
    return same and bool(np.allclose(array.reshape(wanted.shape), wanted, rtol=1e-3, atol=1e-12))


def _updates(event: Event, variable: Variable | None) -> bool:
    """Does a variable get what this computes?"""
    if variable is None:
        return False
    queue = [(value, 0) for value in event.outputs]
    while queue:
        value, deep = queue.pop()
        for user in value.users:
            if user.way == "assign":
                if any(v.variable is variable for v in user.outputs):
                    return True
            elif user.way == "op" and deep < NEAR:
                queue += [(made, deep + 1) for made in user.outputs]
    return False


# --- conditions and loops -------------------------------------------------------------------------
def _tests(place: Place) -> Iterator[tuple[ast.expr, bool]]:
    """The conditions around an expression, and how they were decided for it to run."""
    node: Any = place.node or place.statement
    above = parents(place) if place.node is not None else []
    for outer in above:
        if isinstance(outer, (ast.If, ast.IfExp)):
            body = outer.body if isinstance(outer.body, list) else [outer.body]
            other = outer.orelse if isinstance(outer.orelse, list) else [outer.orelse]
            if node in body:
                yield outer.test, True
            elif node in other:
                yield outer.test, False
        for name in ("body", "orelse"):
            block = getattr(outer, name, None)
            if isinstance(block, list) and node in block:
                for before in block[: block.index(node)]:
                    if isinstance(before, ast.If) and isinstance(before.body[-1], ENDS):
                        yield before.test, False
        node = outer


def _truth(sight: Any, test: ast.expr, case: Case) -> bool | None:
    """How a condition would be decided now."""
    try:
        return bool(sight.truth(test, outside(case)))
    except Exception:  # whatever stands there
        return None


def _loops(code: CodeType) -> Iterator[tuple[ast.expr, list[ast.expr]]]:
    """What the loops of a function go over, with the entries that they take by their number."""
    for statement in flow.statements(code):
        for node in ast.walk(statement):
            found = [node] if isinstance(node, ast.For) else getattr(node, "generators", [])
            for loop in found:
                taken = [
                    part.value for part in ast.walk(node) if isinstance(part, ast.Subscript)
                    and ast.unparse(part.slice) == ast.unparse(loop.target)
                ]  # fmt: skip
                yield loop.iter, taken


def _entries(sight: Any, over: ast.expr, taken: list[ast.expr], case: Case) -> list[Any]:
    """What a loop would come to now."""
    try:
        if isinstance(over, ast.Call) and isinstance(over.func, ast.Name):
            if over.func.id != "range" or len(over.args) != 1:
                inner = over.args[0] if over.func.id in ("enumerate", "list", "reversed") else None
                return [] if inner is None else _entries(sight, inner, taken, case)
            many = sight.value(over.args[0], outside(case))
            lists = [sight.value(part, outside(case)) for part in taken]
            return [entry for held in lists for entry in list(held)[:many]]
        found = sight.value(over, outside(case))
    except Exception:  # whatever stands there
        return []
    if isinstance(found, dict):
        return [*found.values()]
    return list(found) if isinstance(found, (list, tuple, set)) else []


def _within(node: ast.AST, whole: ast.AST) -> bool:
    own = ast.unparse(node)
    return any(type(part) is type(node) and ast.unparse(part) == own for part in ast.walk(whole))
