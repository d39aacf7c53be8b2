"""The backward sweep: from the cotangents of the targets to those of the sources.

One loop over the records, newest first. The mode is chosen once per call: plain arrays when nobody
records the sweep itself, operands when somebody does (higher order). `lead` counts further leading
axes of the cotangents: a stack of them is swept at once, which is how Jacobians are made.
Broadcasting is undone here, for all ops.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.apply import QUIET, restore, silence, tensor
from ..core.op import LETTERS, Op
from ..core.operand import Operand
from ..core.record import BRIEF, Value
from ..ops.kernels.pending import Awaited, Pending, Products, Rows
from ..ops.reasons import Reason
from ..ops.reduce import sum_of
from ..ops.rows import Slices
from ..ops.shape import cast, identity

# Cotangents that are no arrays yet, and have a method `dense`.
_SPECIAL: frozenset[Any] = frozenset({Slices, Products, Rows, Awaited})
_KEEPS_SLICES = (identity, cast)


def sweep(records: Any, grads: dict, wanted: set, recorded: bool, lead: int = 0) -> dict:
    """Pull the cotangents in `grads` (by id) back through the records (newest first).

    Returns the cotangents of the `wanted` ids that were reached.
    """
    found: dict = {}
    pop = grads.pop
    brief = _brief if recorded or lead else _plain
    # Complex cotangents come from the targets or out of an op between real and complex numbers;
    # a sweep that has met neither does not look at dtypes.
    some_complex = True in [_is_complex(g) for g in grads.values()]
    token = silence[QUIET]
    try:
        for record in records:
            i = record[1]
            g = pop(i, None)
            if g is None:
                if i is not None or (g := _parts(record[7], grads, found, wanted)) is None:
                    continue
            elif i in wanted:
                found[i] = g
            op = record[0]
            if g.__class__ in _SPECIAL and not (g.__class__ is Slices and op in _KEEPS_SLICES):
                g = g.dense()
            if len(record) == BRIEF:
                pull = brief
            else:
                some_complex = some_complex or op.real
                pull = _row_by_row if lead and not op.batches else _general
            if some_complex and not op.real and _is_complex(g):
                _conjugated(pull, record, op, g, grads, recorded, lead)
            else:
                pull(record, op, g, grads, recorded, lead)
        for i in wanted:
            if i in grads:
                found[i] = grads[i]
            if isinstance(found.get(i), Pending):
                found[i] = found[i].dense()
    finally:
        restore(token)
    return found


def prune(records: list, wanted: set) -> list:
    """The part of the recording that joins the wanted ids to anything.

    Worth a pass only when the tape follows more than it is asked for: the weights of a network
    that is differentiated with respect to its input, say.
    """
    useful = set(wanted)
    kept = []
    for record in records:
        if len(record) == BRIEF:
            a, b = record[4:6]
            use_a, use_b = a in useful, b in useful
            if not (use_a or use_b):
                continue
            if not use_a and a is not None:
                record = (*record[:4], None, *record[5:])
            elif not use_b and b is not None:
                record = (*record[:5], None, *record[6:])
        else:
            ids = record[4]
            if not any(k in useful for k in ids):
                continue
            if not all(k is None or k in useful for k in ids):
                ids = [k if k in useful else None for k in ids]
                record = (*record[:4], ids, *record[5:])
            if record[7] is not None:
                useful.update(k for k in record[7] if k is not None)
        useful.add(record[1])
        kept.append(record)
    return kept


def _is_complex(g: Any) -> bool:
    if g.__class__ is list:
        return any(part is not None and part.dtype.kind == "c" for part in g)
    return g.__class__ is not Slices and g.dtype.kind == "c"


def _conjugated(pull: Any, record: tuple, op: Op, g: Any, grads: dict, *mode: Any) -> None:
    """Of a holomorphic op the cotangent is g * conj(derivative) = conj(conj(g) * derivative)."""
    pulled: dict = {}
    pull(record, op, _conj(g), pulled, *mode)
    for i, h in pulled.items():
        old = grads.get(i)
        grads[i] = _conj(h) if old is None else old + _conj(h)


def _conj(g: Any) -> Any:
    if g.__class__ is list:
        return [None if part is None else np.conj(part) for part in g]
    if g.__class__ is Slices:
        return Slices(np.conj(g.values), g.indices, g.shape, g.sizes)
    return np.conj(g)


# How to call a rule on what a brief record kept, by the names in the rule's signature.
_PLAIN: dict[tuple[str, ...], Any] = {
    (): lambda r: lambda g, a, b, y: r(g),
    ("a",): lambda r: lambda g, a, b, y: r(g, a._value),
    ("b",): lambda r: lambda g, a, b, y: r(g, b._value),
    ("y",): lambda r: lambda g, a, b, y: r(g, y._value),
    ("a", "b"): lambda r: lambda g, a, b, y: r(g, a._value, b._value),
    ("a", "y"): lambda r: lambda g, a, b, y: r(g, a._value, y._value),
    ("b", "y"): lambda r: lambda g, a, b, y: r(g, b._value, y._value),
    ("a", "b", "y"): lambda r: lambda g, a, b, y: r(g, a._value, b._value, y._value),
}


def _on_operands(rule: Any, names: tuple[str, ...]) -> Any:
    places = ["aby".index(name) for name in names]
    return lambda g, *kept: rule(g, *[Operand(kept[k]) for k in places])


def calls(op: Op) -> Any:
    """The rules of an op as functions of (g, a, b, y): on plain arrays, and on operands."""
    plain, on_operands = [], []
    for rule, names in zip(op.rules, op.names, strict=True):
        if rule is None or isinstance(rule, Reason):
            plain.append(_without_grad(op, rule))
            on_operands.append(plain[-1])
        else:
            plain.append(_PLAIN[names](rule))
            on_operands.append(_on_operands(rule, names))
    op.calls = plain, on_operands
    return op.calls


def _without_grad(op: Op, reason: Reason | None) -> Any:
    def rule(g: Any, *_: Any) -> Any:
        if reason is None or reason.gives == "none":
            return None
        if reason.gives == "zeros":
            return np.zeros_like(g)
        raise LookupError(f"gradient registry has no entry for: {op.label} ({reason.why})")

    return rule


def _plain(record: tuple, op: Op, g: Any, grads: dict, recorded: bool, lead: int) -> None:
    """`_brief` on arrays and without a stack, as training needs it."""
    _, _, _, _, a_id, b_id, a, b, y, a_shape, b_shape = record
    rules = (op.calls or calls(op))[0]
    if a_id is not None:
        h = rules[0](g, a, b, y)
        if h is not None:
            if a_shape is not None:
                h = unbroadcast(h, a_shape, 0)
            old = grads.get(a_id)
            grads[a_id] = h if old is None else old + h
    if b_id is not None:
        old = grads.get(b_id)
        if (
            old is not None
            and op.later is not None
            and (later := op.later(old, g, a, b_shape)) is not None
        ):
            grads[b_id] = later
            return
        h = rules[1](g, a, b, y)
        if h is not None:
            if b_shape is not None:
                h = unbroadcast(h, b_shape, 0)
            grads[b_id] = h if old is None else old + h


def _brief(record: tuple, op: Op, g: Any, grads: dict, recorded: bool, lead: int) -> None:
    _, _, _, _, a_id, b_id, a, b, y, a_shape, b_shape = record
    rules = (op.calls or calls(op))[recorded]
    if a_id is not None:
        h = rules[0](g, a, b, y)
        if h is not None:
            if a_shape is not None:
                h = unbroadcast(h, a_shape, lead)
            old = grads.get(a_id)
            grads[a_id] = h if old is None else old + h
    if b_id is not None:
        h = rules[1](g, a, b, y)
        if h is not None:
            if b_shape is not None:
                h = unbroadcast(h, b_shape, lead)
            old = grads.get(b_id)
            grads[b_id] = h if old is None else old + h


def _general(record: tuple, op: Op, g: Any, grads: dict, recorded: bool, lead: int) -> None:
    ids, names, kept = record[4:7]
    values = [wrap(v) for v in kept] if recorded else [_unwrap(v) for v in kept]
    parts: Any = op.joint and op.rules[0](g, *_chosen(op.names[0], names, values))
    for k, i in enumerate(ids):
        if i is None:
            continue
        if op.joint:
            h = parts[k]
        else:
            rule = op.rules[k]
            if rule is None or isinstance(rule, Reason):
                h = _without_grad(op, rule)(g)
            else:
                if k and op.meanwhile and not (recorded or lead):
                    rule = op.meanwhile
                h = rule(g, *_chosen(op.names[k], names, values))
        if h is None:
            continue
        if op.broadcasts:
            shape = values[names.index(LETTERS[k] + "_shape")]
            if h.shape[lead:] != shape:
                h = unbroadcast(h, shape, lead)
        old = grads.get(i)
        grads[i] = h if old is None else old + h


def _chosen(wanted: tuple[str, ...], names: tuple[str, ...], values: list) -> list:
    """What a rule names, of what was kept: all of it, if only one operand is followed."""
    return values if wanted == names else [values[names.index(name)] for name in wanted]


def _parts(ids: list, grads: dict, found: dict, wanted: set) -> list | None:
    """The cotangents of several results, None where there is none."""
    parts = [grads.pop(i, None) for i in ids]
    for k, g in enumerate(parts):
        if g is not None:
            if ids[k] in wanted:
                found[ids[k]] = g
            if g.__class__ in _SPECIAL:
                parts[k] = g.dense()
    return parts if any(g is not None for g in parts) else None


def _row_by_row(record: tuple, op: Any, g: Any, grads: dict, recorded: bool, lead: int) -> None:
    """Pull a stack of cotangents through an op whose rule takes only one at a time."""
    several = g.__class__ is list
    rows = next(part for part in g if part is not None).shape[0] if several else g.shape[0]
    pulled: list[dict] = []
    for r in range(rows) or (None,):  # of no rows, one of zeros, for the shapes
        part: dict = {}
        row = [None if p is None else _row(p, r) for p in g] if several else _row(g, r)
        _general(record, op, row, part, recorded, 0)
        pulled.append(part)
    for i in pulled[0]:
        parts = [p[i].dense() if p[i].__class__ is Slices else p[i] for p in pulled]
        h = np.stack(parts) if rows else np.stack(parts)[:0]
        old = grads.get(i)
        grads[i] = h if old is None else old + h


def _row(g: Any, r: int | None) -> Any:
    return np.sum(g, axis=(0,)) if r is None else g[r]


def unbroadcast(h: Any, shape: tuple[int, ...], lead: int) -> Any:
    """Sum a cotangent over the axes that broadcasting added or stretched."""
    given = h.shape
    if given == shape:
        return h
    if h.__class__ is np.ndarray and given[1:] == shape and not lead:
        return np.add.reduce(h, 0)  # the usual case: a bias
    extra = h.ndim - lead - len(shape)
    axes = tuple(range(lead, lead + extra))
    axes += tuple(
        lead + extra + k
        for k, n in enumerate(shape)
        if n == 1 and h.shape[lead + extra + k] != 1
    )  # fmt: skip
    if axes:
        if h.__class__ is not np.ndarray:
            h = np.sum(h, axis=axes)
        elif h.size > 4096 and axes == tuple(range(len(axes))) and h.dtype.char in "fd":
            # Long rows first: 64 x 28 x 28 x 16 numbers to 16 in 0.1 ms, at once in 1.1.
            for _ in axes:
                h = np.add.reduce(h, 0)
        elif axes == (h.ndim - 1,):
            h = sum_of(h, (-1,))
        else:
            h = np.add.reduce(h, axes)  # 2 us faster than np.sum, which asks more questions
    if h.shape[lead:] != shape:
        h = np.reshape(h, h.shape[:lead] + shape)
    return h


def settled(value: Any) -> Any:
    """The tensor of a cotangent or tangent: a recorded one's own, or one made of the array."""
    if value.__class__ is Operand:
        return value.tensor
    return tensor(value if value.ndim else value[()])


def _unwrap(kept: Any) -> Any:
    if isinstance(kept, Value):
        return kept._value
    if kept.__class__ is tuple and kept and isinstance(kept[0], Value):
        return tuple([t._value for t in kept])
    return kept


def wrap(kept: Any) -> Any:
    """What was kept, as a recorded rule sees it."""
    if isinstance(kept, Value):
        return Operand(kept)
    if kept.__class__ is tuple and kept and isinstance(kept[0], Value):
        return tuple(map(Operand, kept))
    return kept
