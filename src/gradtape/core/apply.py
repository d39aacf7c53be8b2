"""Applying an op to tensors: compute with NumPy, then record for whoever follows an operand.

There are two ways to say it, because this is the hottest path of all: `quick` for ops of one or two
operands without parameters, whose records are brief (see `record`), and `general` for all others.
"""

from __future__ import annotations

from contextvars import copy_context
from sys import _getframe
from threading import get_ident
from typing import Any, cast

import numpy as np
from numpy import ndarray

from .op import FLOATS, Op
from .place import caller, users
from .record import Mark, Value, join, next_id

# NumPy's context variable for errors and its "ignore all": 0.15 us, not 1.3 as with `np.errstate`.
(_context := copy_context()).run(np.seterr, all="ignore")
_variable, QUIET = next((k, v) for k, v in _context.items() if copy_context().get(k) is not v)
# An item and no call: after a call, Ctrl-C could arrive before the `try` that gives it back.
silence: Any = type("Silence", (), {"__getitem__": _variable.set})()
restore = _variable.reset
new: Any = Value.__new__

# Bound once, by the layers above: the classes of results and of what is read by `_read`, what
# converts operands, what makes exceptions. (Names, not fields of an object: 0.03 us faster an op.)
Tensor = Variable = operand = operands = complain = wrong_dtype = cast(Any, None)
# And by the compiler: values and class of recorded tensors, which only what converts asks for.
Traced = Recorded = record = cast(Any, None)


def bind(tensor: type, variable: type, convert: Any) -> None:
    """Bind the engine to its classes, and to a module that knows how values become tensors."""
    global Tensor, Variable, operand, operands, complain, wrong_dtype
    Tensor = Value.kind = tensor
    Variable = variable
    operand, operands = convert.to_tensor, convert.pair
    complain, wrong_dtype = convert.complain, convert.wrong_dtype


def tensor(value: Any) -> Any:
    """A tensor that nobody follows."""
    t = new(Tensor if type(value) is not Traced else Recorded)
    t._value, t._mark = value, None
    return t


def quick(op: Op) -> Any:
    """`apply` for an op of one operand, or of two of one dtype, without parameters."""
    forward, takes, two = op.forward, op.takes, len(op.rules) == 2
    discrete = not getattr(op.rules[0], "followed", True)
    picky = not set(FLOATS) <= set(takes)
    only_a, only_b, both = _keeps(op, 0), _keeps(op, 1), _keeps(op, 0, 1)

    # Also the operator method itself (`Tensor.__mul__ = mul.apply`): one call less, 0.08 us.
    def apply(a: Any, b: Any = None) -> Any:
        if a.__class__ is Variable:
            a = a._read()
        if two:
            if b.__class__ is Variable and a.__class__ is Tensor:
                b = b._read()
            if a.__class__ is not Tensor or b.__class__ is not Tensor:
                pair = operands(op, a, b)
                if pair is NotImplemented or Traced in [type(t._value) for t in pair]:
                    return pair if pair is NotImplemented else record(op, pair, {})
                a, b = pair
            x, z = a._value, b._value
            # Scalars of one class have one dtype; `.dtype` of a NumPy scalar is slow.
            if (x.__class__ is ndarray or x.__class__ is not z.__class__) and (
                x.dtype is not z.dtype
            ):
                operands(op, a, b)
        else:
            if a.__class__ is not Tensor:
                a = operand(a)
                if type(a._value) is Traced:
                    return record(op, (a,), {})
            x = z = a._value
        token = silence[QUIET]
        try:
            y = forward(x, z) if two else forward(x)
        except (TypeError, ValueError, AttributeError, MemoryError) as error:
            raise complain(op, error, (x, z)[: len(op.rules)], {}) from None
        finally:
            restore(token)
        a_shape = b_shape = None
        if y.__class__ is ndarray:
            if not (shape := y.shape):
                y = y[()]
            elif two:
                a_shape = None if x.shape == shape else x.shape
                b_shape = None if z.shape == shape else z.shape
        t = new(Tensor)
        t._value = y
        m = a_mark = a._mark
        if two and m is not (b_mark := b._mark):
            m = b_mark if m is None else m if b_mark is None else join(m, b_mark)
        while m is not None and m.live is not m:
            m = m.live
        if (m is None or picky) and x.dtype.kind not in takes:  # what is followed is floating
            if op.of_texts is not None and x.dtype.kind == "O":
                return op.of_texts.apply(a, b)
            raise wrong_dtype(op, x.dtype)
        if m is None or discrete or (m.thread != get_ident() and (m := m.here()) is None):
            t._mark = None
            return t
        t._mark = m
        t._id = i = next_id()
        # An operand that only stopped recorders followed is a constant to those at work.
        a_id = None if a_mark is None or a_mark.live is None else a._id
        b_id = b._id if two and b_mark is not None and b_mark.live is not None else None
        keep_a, keep_b, keep_y = only_a if b_id is None else only_b if a_id is None else both
        user = _getframe(1)
        if user.f_globals.get("__package__") not in users:
            user = caller()
        entry = (
            op, i, user.f_code, user.f_lasti, a_id, b_id,
            a if keep_a else None, b if keep_b else None, t if keep_y else None, a_shape, b_shape,
        )  # fmt: skip
        for append in m.appends:
            append(entry)
        for recorder in m.pushers:
            recorder.push(op, (a, b) if two else (a,), {}, t)
        return t

    return apply


def general(op: Op) -> Any:
    forward, discrete = op.forward, not any(getattr(r, "followed", True) for r in op.rules)

    def apply(*operands: Any, **params: Any) -> Any:
        for a in operands:
            if a.__class__ is not Tensor:
                operands = tuple([a if a.__class__ is Tensor else operand(a) for a in operands])
                if Traced in [type(a._value) for a in operands]:
                    return record(op, operands, params)
                break
        values = [a._value for a in operands]
        token = silence[QUIET]
        try:
            y = forward(*values, **params)
        except (TypeError, ValueError, IndexError, MemoryError) as error:
            raise complain(op, error, values, params) from None
        finally:
            restore(token)
        m = None if discrete else followers(operands)
        if y.__class__ is tuple:
            return several(op, operands, params, y, m)
        t = new(Tensor)
        t._value = y if y.ndim or y.dtype.kind == "O" else y[()]
        if m is None or y.dtype.kind not in "fcV":
            t._mark = None
            return t
        t._mark = m
        t._id = i = next_id()
        note(m, op, i, operands, params, t)
        return t

    return apply


def several(op: Any, operands: Any, params: dict, values: tuple, m: Mark | None) -> tuple:
    """Results of an op with several: its record has no number of its own, but a list of theirs."""
    results, made = [], []
    for y in values:
        t = tensor(y if y.ndim or y.dtype.kind == "O" else y[()])
        i = None
        if m is not None and y.dtype.kind in "fcV":
            t._mark = m
            t._id = i = next_id()
        results.append(t)
        made.append(i)
    if m is not None:
        note(m, op, None, operands, params, tuple(results), made)
    return tuple(results)


def note(m: Mark, op: Any, i: Any, operands: Any, params: dict, y: Any, made: Any = None) -> None:
    """Record an op for those who follow it."""
    ids = [None if (n := a._mark) is None or n.live is None else a._id for a in operands]
    tracked = (True,) if len(ids) == 1 else tuple([k is not None for k in ids])
    names, keep = op.plans.get(tracked) or op.plan(tracked)
    user = caller(3)
    entry = (op, i, user.f_code, user.f_lasti, ids, names, keep(operands, params, y), made)
    for append in m.appends:
        append(entry)
    for recorder in m.pushers:
        recorder.push(op, operands, params, y)


def followers(operands: Any) -> Mark | None:
    """The mark of a result of these operands: who follows any of them, at work in this thread."""
    m: Mark | None = None
    for a in operands:
        if a._mark is not None:
            m = a._mark if m is None else m if m is a._mark else join(m, a._mark)
    if (m := join(m, None)) is not None and m.thread != get_ident():
        return m.here()
    return m


def _keeps(op: Op, *tracked: int) -> tuple[bool, bool, bool]:
    names = [name for i in tracked for name in op.names[i : i + 1]]
    return tuple(any(letter in some for some in names) for letter in "aby")  # type: ignore
