"""GT113 not-a-tensor: a NumPy array or a plain number was given to a tape."""

from __future__ import annotations

import ast
import re

from ...facts import changes, names
from ...facts.case import Case, ErrorCase
from ...trace import Value
from ...trace.finding import Finding
from ..base import Rule
from .left_the_tape import out_of_reach


class NotATensor(Rule):
    code, name, states = "GT113", "not-a-tensor", frozenset({"error"})
    title = "a NumPy array or a number is watched, or is a source or target"
    lesson = """\
A tape follows tensors and variables. A NumPy array has no place on it: it can be neither watched
nor differentiated by, also if a tensor was made of it somewhere. Make the tensor once, `x =
tf.constant(array)`, watch it and compute with it."""
    failing = """\
x = np.array([1.0, 2.0])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.reduce_sum(tf.square(x))
grad = tape.gradient(y, x)
"""
    cured = """\
x = tf.constant(np.array([1.0, 2.0]))
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.reduce_sum(tf.square(x))
grad = tape.gradient(y, x)
"""
    ignore = "Never: it is an error."

    def examine(self, case: Case) -> Finding | None:
        source = case.source
        if isinstance(source, Value) and source.kind in ("array", "number"):
            kind, name = _kind(source), case.answer.name
            used = [] if case.path is None or not case.path.events else [case.path.events[0].place]
            return case.finding(
                self, case.query.place,
                f"`{name}` is {kind}, and a tape differentiates with respect to tensors and "
                "variables only.",
                f"make it a tensor before the tape, `{name} = tf.constant({name})`, and call "
                f"`{case.tape_name}.watch({name})` inside",
                also=[(place, "it becomes a tensor here") for place in used],
            )  # fmt: skip
        if case.path is not None or not out_of_reach(case):
            return None
        plain = [t for t in case.targets if t.kind in ("array", "number")]
        return case.finding(
            self, case.query.place,
            f"the target `{case.query.target_name}` is {_kind(plain[0])}, not a tensor.",
            "compute the target with tf's functions inside the tape",
            change=changes.seen("the exception says so"),
        )  # fmt: skip

    def examine_error(self, case: ErrorCase) -> Finding | None:
        call = case.place.node
        found = re.search(r"of type '?(?:<class ')?([\w.]+)", str(case.error))
        if not isinstance(case.error, (ValueError, TypeError, AttributeError)) or found is None:
            return None
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
            return None
        if call.func.attr != "watch" or "not tf.Tensor" not in str(case.error):
            return None
        (given,) = names.arguments(case.place, "tensor")
        name = "x" if given is None else ast.unparse(given)
        kind = found.group(1).rpartition(".")[2]
        what = "is a NumPy array" if kind == "ndarray" else f"gives a value of type {kind}"
        return case.finding(
            self, case.place, f"`{name}` {what}, and only tensors and variables can be watched.",
            f"make it a tensor first, `{name} = tf.constant({name})`, and compute with that tensor",
            source=name, sources=[name],
        )  # fmt: skip


def _kind(value: Value) -> str:
    if value.kind == "number":
        return "a Python number"
    return "a NumPy array" if value.shape else "a NumPy number"


RULE = NotATensor()
