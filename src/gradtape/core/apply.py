"""Applying an op to tensors: compute with NumPy, then record for whoever follows an operand.

There are three shapes of one idea, because this is the hottest path of all: one operand, two
operands (both element-wise and without parameters), and everything else.

A record of the first two is `(op, id, a_id, b_id, a, b, y, a_shape, b_shape, place)` and of the
third `(op, id, ids, names, kept, place)`; what no rule needs is None or left out.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar, copy_context
from threading import get_ident
from typing import Any

import numpy as np
from numpy import ndarray

from .op import LETTERS, Discrete, Op
from .place import caller
from .record import Mark, Value, join, next_id


def _quiet_setting() -> tuple[ContextVar, Any]:
    """NumPy's own context variable for floating-point errors, and its value for "ignore all".

    Setting it directly takes 0.15 us where `with np.errstate` takes 1.3.
    """
    context = copy_context()
    before = dict(context)
    context.run(np.seterr, all="ignore")
    ((variable, value),) = [(k, v) for k, v in context.items() if before.get(k) is not v]
    return variable, value


_variable, QUIET = _quiet_setting()
hush, unhush = _variable.set, _variable.reset
new = Value.__new__

# The layer above fills these in (`install`): the class of results, the conversion of an operand
# that is no tensor, of a pair that must agree in dtype, and the exception to raise for NumPy's.
Tensor: type = Value
operand: Callable[[Any], Any]
operands: Callable[[Op, Any, Any], tuple[Any, Any]]
complain: Callable[[Op, Exception, Any, dict], Exception]
wrong_dtype: Callable[[Op, Any], Exception]


def install(**hooks: Any) -> None:
    globals().update(hooks)
    Value.kind = hooks["Tensor"]


def tensor(value: Any) -> Any:
    """A tensor that nobody follows."""
    t = new(Tensor)
    t._value = value
    t._mark = None
    return t


def unary(op: Op) -> Any:
    forward, takes, discrete = op.forward, op.takes, isinstance(op.rules[0], Discrete)
    keep_a, _, keep_y = _keeps(op, (0,))

    def apply(a: Any) -> Any:
        if a.__class__ is not Tensor:
            a = operand(a)
        token = hush(QUIET)
        try:
            y = forward(a._value)
        except (TypeError, ValueError) as error:
            raise complain(op, error, (a._value,), {}) from None
        finally:
            unhush(token)
        if y.__class__ is ndarray and not y.ndim:
            y = y[()]
        t = new(Tensor)
        t._value = y
        m = a._mark
        if m is None or (m := m.live) is None or discrete:
            # Only here: what is recorded is floating.
            if a._value.dtype.kind not in takes:
                raise wrong_dtype(op, a._value.dtype)
            t._mark = None
            return t
        if m.thread != get_ident() and (m := m.here()) is None:
            t._mark = None
            return t
        t._mark = m
        t._id = i = next_id()
        record = (
            op, i, a._id, None, a if keep_a else None, None, t if keep_y else None,
            None, None, caller(),
        )  # fmt: skip
        for append in m.appends:
            append(record)
        if m.pushers:
            forward_to(m, op, (a,), {}, t)
        return t

    return apply


def binary(op: Op) -> Any:
    forward, takes, discrete = op.forward, op.takes, isinstance(op.rules[0], Discrete)
    both, only_a, only_b = _keeps(op, (0, 1)), _keeps(op, (0,)), _keeps(op, (1,))

    # Also the operator method itself (`Tensor.__mul__ = mul.apply`): one call less, 0.08 us.
    def apply(a: Any, b: Any) -> Any:
        if a.__class__ is not Tensor or b.__class__ is not Tensor:
            pair = operands(op, a, b)
            if pair is NotImplemented:
                return pair
            a, b = pair
        x = a._value
        z = b._value
        # Scalars of one class have one dtype; `.dtype` of a NumPy scalar is slow.
        if (x.__class__ is ndarray or x.__class__ is not z.__class__) and x.dtype is not z.dtype:
            a, b = operands(op, a, b)
            x, z = a._value, b._value
        token = hush(QUIET)
        try:
            y = forward(x, z)
        except (TypeError, ValueError) as error:
            raise complain(op, error, (x, z), {}) from None
        finally:
            unhush(token)
        if y.__class__ is ndarray and not y.ndim:
            y = y[()]
        t = new(Tensor)
        t._value = y
        m = a._mark
        if m is not b._mark:
            m = join(m, b._mark)
        if m is None or (m := m.live) is None or discrete:
            # Only here: what is recorded is floating.
            if x.dtype.kind not in takes:
                raise wrong_dtype(op, x.dtype)
            t._mark = None
            return t
        if m.thread != get_ident() and (m := m.here()) is None:
            t._mark = None
            return t
        t._mark = m
        t._id = i = next_id()
        if a._mark is None:
            a_id, b_id = None, b._id
            keep_a, keep_b, keep_y = only_b
        elif b._mark is None:
            a_id, b_id = a._id, None
            keep_a, keep_b, keep_y = only_a
        else:
            a_id, b_id = a._id, b._id
            keep_a, keep_b, keep_y = both
        a_shape = b_shape = None
        if y.__class__ is ndarray:
            shape = y.shape
            if x.shape != shape:
                a_shape = x.shape
            if z.shape != shape:
                b_shape = z.shape
        record = (
            op, i, a_id, b_id, a if keep_a else None, b if keep_b else None,
            t if keep_y else None, a_shape, b_shape, caller(),
        )  # fmt: skip
        for append in m.appends:
            append(record)
        if m.pushers:
            forward_to(m, op, (a, b), {}, t)
        return t

    return apply


def general(op: Op) -> Any:
    forward, plans = op.forward, op.plans

    def apply(*operands: Any, **params: Any) -> Any:
        for a in operands:
            if a.__class__ is not Tensor:
                operands = tuple(a if a.__class__ is Tensor else operand(a) for a in operands)
                break
        values = [a._value for a in operands]
        token = hush(QUIET)
        try:
            y = forward(*values, **params)
        except (TypeError, ValueError, IndexError) as error:
            raise complain(op, error, values, params) from None
        finally:
            unhush(token)
        m = followers(operands)
        if y.__class__ is tuple:
            return several(op, operands, params, y, m)
        t = new(Tensor)
        t._value = y if y.ndim else y[()]
        if m is None or y.dtype.kind not in "fcV":
            t._mark = None
            return t
        t._mark = m
        t._id = next_id()
        tracked = tuple([a._mark is not None for a in operands])
        names = plans.get(tracked)
        if names is None:
            names = op.plan(tracked)
        ids = tuple([a._id if a._mark is not None else None for a in operands])
        record = (op, t._id, ids, names, kept(names, operands, params, t), caller())
        for append in m.appends:
            append(record)
        if m.pushers:
            forward_to(m, op, operands, params, t)
        return t

    return apply


def followers(operands: Any) -> Mark | None:
    """The mark of a result of these operands: who follows any of them, at work in this thread."""
    m: Mark | None = None
    for a in operands:
        if a._mark is not None:
            m = a._mark if m is None else m if m is a._mark else join(m, a._mark)
    if m is not None and (m := m.live) is not None and m.thread != get_ident():
        return m.here()
    return m


def kept(names: tuple[str, ...], operands: Any, params: dict, result: Any) -> tuple:
    """What the names in rules stand for, in one application of an op."""
    things: list[Any] = []
    for name in names:
        if name == "y":
            things.append(result)
        elif name in LETTERS:
            things.append(operands[LETTERS.index(name)])
        elif name == "y_shape":
            things.append(_shape(result))
        elif name == "shapes":
            things.append(tuple([a._value.shape for a in operands]))
        elif name[1:] == "_shape":
            things.append(operands[LETTERS.index(name[0])]._value.shape)
        elif name[1:] == "_dtype":
            things.append(operands[LETTERS.index(name[0])]._value.dtype)
        else:
            things.append(params.get(name))
    return tuple(things)


def _shape(result: Any) -> Any:
    if result.__class__ is tuple:
        return tuple([t._value.shape for t in result])
    return result._value.shape


def several(op: Any, operands: Any, params: dict, values: tuple, m: Mark | None) -> tuple:
    """Results of an op with several: one record for the op, and one more for each of its results,
    so that the sweep may treat every record alike."""
    results = tuple([tensor(y if y.ndim else y[()]) for y in values])
    if m is None:
        return results
    for t in results:
        if t._value.dtype.kind in "fcV":
            t._mark = m
            t._id = next_id()
    tracked = tuple([a._mark is not None for a in operands])
    names = op.plan(tracked)
    ids = tuple([a._id if a._mark is not None else None for a in operands])
    bundle, place = next_id(), caller()
    records = [(op, bundle, ids, names, kept(names, operands, params, results), place)]
    records += [
        (ITEM, t._id, bundle, i, len(results), place)
        for i, t in enumerate(results)
        if t._mark is not None
    ]
    for append in m.appends:
        for record in records:
            append(record)
    if m.pushers:
        forward_to(m, op, operands, params, results)
    return results


def forward_to(m: Mark, op: Op, operands: Any, params: dict, results: Any) -> None:
    """Let the accumulators push their tangents, outermost first."""
    for recorder in m.pushers:
        recorder.push(op, operands, params, results)


def _keeps(op: Op, tracked: tuple[int, ...]) -> tuple[bool, bool, bool]:
    names = {name for i in tracked for name in op.names[i]}
    return "a" in names, "b" in names, "y" in names


class _Item:
    """One result of an op that has several."""

    name, label = "item", "item"


ITEM = _Item()
