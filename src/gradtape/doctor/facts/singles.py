"""The single elements of a query's targets: the gradient of each, and how it hangs on the source.

`tape.gradient` adds them up. Whether that loses something is seen when a few of them are walked
back one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...traits import Family
from ..trace import Event, Query, Value
from .backward import walk
from .faults import descendants

if TYPE_CHECKING:
    from ..trace import Trace
    from .case import Case

TRIED = 3  # elements of the targets, and the neighbour of each
SMALL = 1e-4  # what is left of gradients that cancel


def targets_of(query: Query) -> list[Value]:
    """The targets of a plain gradient, if they have several elements together; else nothing."""
    if query.method != "gradient" or query.seeds is not None or query.error is not None:
        return []
    if not all(isinstance(t, Value) and t.floating for t in query.targets):
        return []
    found = list(query.targets)
    return found if sum(int(np.size(t.array)) for t in found) > 1 else []


def each(case: Case, chosen: list[int] | None = None) -> Iterator[tuple[int, Any]]:
    """The gradients of a few single elements, with their numbers in all targets together.

    Neighbours are among them: they belong to one row, if anything does.
    """
    targets = targets_of(case.query)
    sizes = [int(np.size(t.array)) for t in targets]
    starts = np.cumsum([0, *sizes])
    some = [round(k) for k in np.linspace(0, max(starts[-1] - 2, 0), TRIED)]
    for k in sorted({k + n for k in some for n in (0, 1)}) if chosen is None else chosen:
        seeds = []
        for target, start, size in zip(targets, starts, sizes, strict=False):
            seed = np.zeros(size, np.asarray(target.array).dtype)
            if start <= k < start + size:
                seed[k - start] = 1
            seeds.append(seed.reshape(target.shape))
        found = walk(case.trace, replace(case.query, seeds=seeds), case.tape).cotangents
        yield k, sum(np.asarray(found[n]) for n in case.nodes if n in found)


def mixes(case: Case) -> bool:
    """Do several elements depend on one of the source? Else the sum loses nothing."""
    total: Any = 0
    for _, found in each(case):
        total = total + (np.abs(found) > 0).astype(int)
    return bool(np.any(np.asarray(total) > 1))


def cancel(case: Case) -> bool:
    """Has every element a gradient, and their sum next to none?"""
    given = case.answer.array
    largest = [float(np.abs(found).max()) for _, found in each(case) if np.size(found)]
    if given is None or not largest or not np.isfinite(largest).all():
        return False
    rest = float(np.abs(np.asarray(given)).max()) if np.size(given) else 0.0
    return min(largest) > 0 and rest <= SMALL * min(largest)


def by_rows(case: Case) -> int:
    """How many elements each row of the target has, if a row depends on the same row of the source
    and on no other, as a model's outputs do on its examples; else 0."""
    targets = targets_of(case.query)
    if len(targets) != 1 or not case.nodes:
        return 0
    shape, given = targets[0].shape, case.nodes[0].shape
    if not shape or not given or shape[0] != given[0] or shape[0] < 2:
        return 0
    width = int(np.prod(shape[1:]))
    if width < 2:
        return 0
    uses = np.zeros((given[0], int(np.prod(given[1:]))), int)
    rows = sorted({0, shape[0] // 2, shape[0] - 1})
    for k, found in each(case, [row * width + n for row in rows for n in (0, 1)]):
        moved = np.abs(np.broadcast_to(found, given)).reshape(uses.shape) > 0
        if moved.any() and set(np.flatnonzero(moved.any(axis=1))) != {k // width}:
            return 0
        uses += moved
    return width if (uses > 1).any() else 0


def of_gradient(case: Case) -> Query | None:
    """The query whose answer by the same source the targets are, up to a sign."""
    first = None
    for target in targets_of(case.query):
        maker: Event | None = target.maker
        while maker is not None and (maker.is_a(Family.RESHAPES) or maker.kind == "Neg"):
            maker = maker.inputs[0].maker
        asked = [
            q for q in case.trace.queries
            if maker is not None and q.place == maker.place and q.time < case.query.time
            and q.method == "gradient" and any(a.source is case.source for a in q.answers)
        ]  # fmt: skip
        if not asked:
            return None
        first = asked[-1]
    return first


def results(trace: Trace, query: Query) -> list[Value]:
    """What the query gave, where something was computed from it."""
    answers = [e for e in trace.events if e.way == "gradient" and e.time == query.time]
    return [o for e in answers for o in e.outputs]


def beside_targets(case: Case) -> bool:
    """Is the result, as it is, put together with the target element by element?"""
    targets, queue = targets_of(case.query), results(case.trace, case.query)
    seen = set(queue)
    while queue:
        value = queue.pop()
        for event in value.users:
            if not event.is_a(Family.ELEMENTWISE) or event.way != "op":
                continue
            if any(v in targets and v.shape == value.shape and v.shape for v in event.inputs):
                return True
            new = [o for o in event.outputs if o.shape == value.shape and o not in seen]
            seen.update(new)
            queue += new
    return False


def squared(case: Case) -> bool:
    """Is the result squared element by element, and not for its length? So is information."""
    for value in results(case.trace, case.query):
        for event in value.users:
            twice = event.kind == "Mul" and all(v is value for v in event.inputs)
            power = event.kind == "Pow" and np.all(np.asarray(event.inputs[-1].array) == 2)
            if not (twice or power or event.kind == "Square"):
                continue
            if not any(
                user.is_a(Family.REDUCES | Family.CONTRACTS)
                for o in event.outputs
                for user in o.users
            ):
                return True
    return False


def trains(case: Case) -> bool:
    """Was the gradient then used to change the very variable?"""
    if case.variable is None:
        return False
    later = descendants(results(case.trace, case.query))
    return any(v.variable is case.variable for v in later)
