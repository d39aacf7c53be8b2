"""GT308 inf-mask: an infinite constant meets a product, a sum or a softmax."""

from __future__ import annotations

import ast

import numpy as np

from ...facts.case import Case
from ...source import edits
from ...source.place import Place
from ...trace.finding import Finding
from ..base import Rule
from ..counts import share


class InfMask(Rule):
    code, name, states = "GT308", "inf-mask", frozenset({"nan", "inf"})
    title = "a constant holds an infinity, as a mask with -inf does"
    lesson = """\
A mask of -inf works only where nothing multiplies it: 0 * inf is NaN, inf - inf is NaN, and a
softmax of a row of -inf alone is 0/0. Use a large finite number (-1e9 in float32), or `tf.where`
before the softmax."""
    failing = """\
w = tf.Variable([1.0, 2.0])
mask = tf.constant([0.0, 1.0])
with tf.GradientTape() as tape:
    scores = w + mask * float("-inf")
    loss = tf.reduce_sum(tf.nn.softmax(scores) * [1.0, 2.0])
grad = tape.gradient(loss, w)
"""
    cured = """\
w = tf.Variable([1.0, 2.0])
mask = tf.constant([0.0, 1.0])
with tf.GradientTape() as tape:
    scores = w + mask * -3.0
    loss = tf.reduce_sum(tf.nn.softmax(scores) * [1.0, 2.0])
grad = tape.gradient(loss, w)
"""
    ignore = "When the infinity is only compared with, never multiplied or subtracted."

    def examine(self, case: Case) -> Finding | None:
        fault = case.fault
        if fault is None or fault.event is not None:
            return None
        bad = np.isinf(np.asarray(fault.value.array))
        if not bad.any():
            return None
        above = set(case.walk.events)
        uses = [e for e in fault.value.users if e in above] or fault.value.users
        place = uses[0].place if uses else fault.value.place
        text = "" if place is None else f"`{place.text}` "
        return case.finding(
            self, place,
            f"{text}computes with an infinite constant{share(bad)}: 0 times infinity and "
            "infinity minus infinity are NaN.",
            "use a large finite number instead, such as -1e9, or pick with `tf.where`",
            event=uses[0] if uses else None, mends=False,
            edit=None if place is None else _edit(place),
        )  # fmt: skip


def _edit(place: Place) -> str | None:
    """The line with a finite number for `np.inf`."""
    written = [
        n for n in ast.walk(place.node or ast.Pass())
        if (isinstance(n, ast.Attribute) and n.attr in ("inf", "infty")) or _parsed(n)
    ]  # fmt: skip
    return edits.replaced(place, "1e9", written[0]) if len(written) == 1 else None


def _parsed(node: ast.AST) -> bool:
    """`float("inf")`"""
    return (
        isinstance(node, ast.Call)
        and ast.unparse(node.func) == "float"
        and bool(node.args)
        and isinstance(node.args[0], ast.Constant)
        and str(node.args[0].value).lower() in ("inf", "infinity")
    )


RULE = InfMask()
