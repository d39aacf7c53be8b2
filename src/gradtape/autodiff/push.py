"""Forward mode: the tangent of an op's result from the tangents of its operands.

Element-wise ops push with their pull (the Jacobian is diagonal), linear and bilinear ops with
themselves. Everything else is transposed: the pull is linear in its cotangent, so pulling the
tangents back through the recorded pull gives the push.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.apply import tensor
from ..core.op import LETTERS, Op
from ..core.operand import Operand
from ..ops.reasons import Reason
from ..ops.rows import Slices
from .recording import Tape, follow
from .sweep import calls, prune, settled, sweep, unbroadcast, wrap

_function = type(sweep)


def push(op: Op, operands: Any, tangents: list, params: dict, results: Any, recorded: bool) -> Any:
    """The tangent tensors of the results (None where there is none), recorded for others or not."""
    if op.push == "linear":
        if results.__class__ is not tuple and results._value.size and not _some(operands):
            return tensor(np.zeros_like(results._value))  # also of a mean, whose value is nan
        return _linear(op, operands, tangents, params, recorded)
    if op.push == "bilinear":
        parts = [
            _call(op, [t if j == i else a for j, a in enumerate(operands)], params, recorded)
            for i, t in enumerate(tangents)
            if t is not None
        ]
        return _total(parts)
    if op.push == "diagonal" and not op.hides_pole:
        return _diagonal(op, operands, tangents, results, recorded)
    return _transposed(op, operands, tangents, params, results, recorded)


def _some(operands: Any) -> bool:
    """Whether there is an element among all operands."""
    return any(a._value.size for a in operands)


def _call(op: Op, operands: Any, params: dict, recorded: bool) -> Any:
    if recorded:
        return op.apply(*operands, **params)
    y = op.forward(*[a._value for a in operands], **params)
    return tuple(map(settled, y)) if y.__class__ is tuple else settled(y)


def _total(parts: list) -> Any:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def _linear(op: Op, operands: Any, tangents: list, params: dict, recorded: bool) -> Any:
    full = [
        t if t is not None else a if _fixed(op, i, a) else tensor(np.zeros_like(a._value))
        for i, (t, a) in enumerate(zip(tangents, operands, strict=True))
    ]
    return _call(op, full, params, recorded)


def _fixed(op: Op, i: int, operand: Any) -> bool:
    """An operand that the op is not linear in: an index, a condition."""
    return operand._value.dtype.kind not in "fcV" or (
        not op.joint and not isinstance(op.rules[i], _function)
    )


def _diagonal(op: Op, operands: Any, tangents: list, result: Any, recorded: bool) -> Any:
    # TensorFlow pulls twice: zeros that hang on no cotangent are None.
    flat = len(op.rules) == 1 and getattr(op.rules[0], "gives", "") == "zeros"
    if flat or result._value.dtype.kind not in "fcV":
        return None
    wrap: Any = Operand if recorded else lambda t: t._value
    total: Any = None
    for i, t in enumerate(tangents):
        if t is None:
            continue
        rule = (op.calls or calls(op))[recorded][i]
        part = rule(wrap(t), operands[0], operands[-1], result)
        if part is not None:
            total = part if total is None else total + part
    if total is None:
        return None
    if total.shape != result._value.shape:
        total = np.broadcast_to(total, result._value.shape)
    return settled(total)


def _transposed(
    op: Op, operands: Any, tangents: list, params: dict, results: Any, recorded: bool
) -> Any:
    several = results.__class__ is tuple
    tape = Tape()
    tape.pauses = False  # it follows the pull, which may be Python code that no other tape sees
    # A stand-in for the cotangent: only its place matters, unless the pull divides by it.
    seeds = [tensor(np.ones_like(r._value)) for r in (results if several else (results,))]
    floating = [s for s in seeds if s._value.dtype.kind in "fcV"]
    # A rule R is plainly linear, and the sweep's transpose is R^H: conj(R^H conj(t)) = R^T t.
    turn = np.conj if not op.real and seeds[0]._value.dtype.kind == "c" else _as_it_is
    tape.start()
    try:
        for seed in floating:
            follow(seed, tape)
        g = [Operand(s) for s in seeds] if several else Operand(seeds[0])
        tracked = tuple(t is not None for t in tangents)
        grads: dict = {}
        for h, t in _pulled(op, g, operands, tangents, params, results, tracked):
            i = h.tensor._id if h.tensor._mark is not None else None
            if i is not None:
                cotangent = turn(Operand(t) if recorded else t._value)
                grads[i] = cotangent if i not in grads else grads[i] + cotangent
        tape.stop()
        wanted = {seed._id for seed in floating}
        found = sweep(reversed(prune(tape.records, wanted)), grads, wanted, recorded)
    finally:
        tape.close()  # also stops it, if a rule raised
    out = []
    for seed in seeds:
        part = found.get(seed._id) if seed._mark is not None else None
        if part.__class__ is Slices:
            part = part.dense()
        out.append(None if part is None else settled(turn(part)))
    if not several and out[0] is None and _level(op, tangents):
        return tensor(np.zeros_like(results._value))
    return tuple(out) if several else out[0]


def _as_it_is(part: Any) -> Any:
    return part


def _level(op: Op, tangents: list) -> bool:
    """Whether TensorFlow answers with zeros: another operand has a derivative, and no tangent."""
    moved = [rule for rule, t in zip(op.rules, tangents, strict=False) if t is not None]
    return any(getattr(rule, "gives", "") == "zeros" for rule in moved) and any(
        isinstance(rule, _function) for rule in op.rules
    )


def _pulled(
    op: Op, g: Any, operands: Any, tangents: list, params: dict, results: Any, tracked: tuple
) -> Any:
    """Pairs of (pulled cotangent, tangent) for the operands that have a tangent."""
    names, keep = op.plan(tracked)
    things = [wrap(kept) for kept in keep(operands, params, results)]
    have = dict(zip(names, things, strict=True))
    parts = op.rules[0](g, *[have[n] for n in op.names[0]]) if op.joint else None
    for i, t in enumerate(tangents):
        if t is None:
            continue
        if parts is not None:
            h = parts[i]
        else:
            rule = op.rules[i]
            if rule is None or isinstance(rule, Reason):
                if isinstance(rule, Reason) and rule.gives == "error":
                    raise LookupError(f"gradient registry has no entry for: {op.label}")
                continue
            h = rule(g, *[have[n] for n in op.names[i]])
        if h.__class__ is Slices:
            h = h.dense()
        if h is None or h.__class__ is not Operand:
            continue
        if op.broadcasts and h.shape != have[LETTERS[i] + "_shape"]:
            h = unbroadcast(h, have[LETTERS[i] + "_shape"], 0)
        yield h, t
