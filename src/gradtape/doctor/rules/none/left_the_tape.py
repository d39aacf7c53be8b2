"""GT103 left-the-tape: the value became a NumPy array and came back as a constant."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from ...facts import changes
from ...facts.case import Case, ErrorCase
from ...facts.graph import Cut
from ...source import flow, rewrite
from ...source.place import Written, parents
from ...trace.finding import Finding
from ..base import CutRule

# What TensorFlow says when a symbol is asked for numbers.
NO_NUMBERS = ("Tensor' object has no attribute 'numpy'", "Cannot convert a symbolic tf.Tensor")


class TakenOut(CutRule):
    """A value that left the tape: as an array, or as a Python number (`scalar`)."""

    states = frozenset({"none", "error", "ok"})
    scalar: bool

    def examine(self, case: Case) -> Finding | Iterable[Finding] | None:
        if case.answer.state == "error" and not out_of_reach(case):
            return None
        return super().examine(case) or _lost(self, case)

    def more(self, case: Case, cut: Cut) -> dict[str, Any]:
        edit = rewrite.rewrite(cut.place).line
        exits = [e.place for e in cut.event.attrs.get("exits", ())]
        scope = case.query.scope
        more = rewrite.further(cut.place, cut.event.back, _listed(cut), exits, scope)
        return {
            "also": _comes_back(case, cut), "edit": None if more is None else edit,
            "further": more if more and edit else [],
        }  # fmt: skip


class LeftTheTape(TakenOut):
    scalar = False
    code, name, cause = "GT103", "left-the-tape", "numpy-conversion"
    title = "the value went through NumPy and came back as a constant"
    lesson = """\
A tape records TensorFlow's functions, and nothing that runs in NumPy: `x.numpy()`, `np.exp(x)` and
`np.mean(list_of_tensors)` give plain arrays. Brought back into a computation, such an array is a
constant, and the path from the source ends where it left.

Nearly every function of NumPy has one of TensorFlow with the same meaning: np.mean is
tf.reduce_mean, np.concatenate is tf.concat, np.clip is tf.clip_by_value. `tf.experimental.numpy`
has NumPy's own names, recorded. Convert to NumPy for printing, plotting and logging only, off
the way to the loss."""
    failing = """\
w = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    parts = [tf.reduce_sum(w * k) for k in (1.0, 2.0)]
    loss = tf.convert_to_tensor(np.mean(parts))
grad = tape.gradient(loss, w)
"""
    cured = """\
w = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    parts = [tf.reduce_sum(w * k) for k in (1.0, 2.0)]
    loss = tf.reduce_mean(parts)
grad = tape.gradient(loss, w)
print(np.mean(parts), loss.numpy())
"""
    ignore = """\
When the array is meant as a constant (a target, a weight of the loss): then do not ask for the
gradient of what it was computed from."""

    def examine_error(self, case: ErrorCase) -> Finding | None:
        """In a function that is being traced, a tensor has no numbers to give."""
        words = str(case.error)
        if not any(told in words for told in NO_NUMBERS):
            return None
        if case.leaked is not None:
            return None
        place, above = case.place, parents(case.place)[:1]
        if above and isinstance(above[0], ast.Call) and above[0].func is place.node:
            place = Written(place.code, above[0])  # not `x.numpy` alone
        here = rewrite.rewrite(place)
        return case.finding(
            self, place,
            f"`{place.text.splitlines()[0]}` asks for the numbers of a tensor inside of a "
            "`tf.function`, where it is a symbol of the graph and has none.",
            "compute with tf's functions in there, and convert what it returns; "
            "`tf.numpy_function` runs NumPy inside, without a gradient",
            edit=here.line,
        )  # fmt: skip

    def message(self, case: Case, cut: Cut) -> str:
        text, back = cut.place.text.splitlines()[0], cut.event.back
        if stored(cut):
            return (
                f"`{text}` is an entry of a NumPy array, which keeps the tensor's number but "
                "not its history."
            )
        if case.answer.state == "error":
            return (
                f"`{text}` {_outside(cut)}, so `{case.query.target_name}` is a plain NumPy value."
            )
        if back is None or back.contains(cut.place):
            return f"`{text}` {_outside(cut)}, so its result is a constant."
        return f"`{text}` {_outside(cut)}, so line {back.line} gets a constant."

    def fix(self, case: Case, cut: Cut) -> str:
        return advice(cut) + picked(case, cut) + _kept(cut)


def picked(case: Case, cut: Cut) -> str:
    """What is to be said of entries that are picked as only those of an array can be."""
    place = cut.place
    if place.statement is None:
        return ""
    found = rewrite.picks(place, cut.event.back, case.query.scope)
    if found is None:
        return "; a tensor has no entries that can be assigned or picked by lists: use `tf.gather`"
    words = [f"`{new}` instead of `{where.text}` in line {where.line}" for where, new in found]
    return f", and use {' and '.join(words)}" if words else ""


def _outside(cut: Cut) -> str:
    """How it left: in a function of NumPy's, or as an array."""
    node = cut.place.node
    function = node.func if isinstance(node, ast.Call) else None
    if isinstance(function, ast.Attribute) and function.attr == "numpy":
        return "gives a NumPy array, which the tape does not record"
    return "runs in NumPy, which the tape does not record"


def _lost(rule: TakenOut, case: Case) -> Finding | None:
    """No path at all, and something computed from the source left and was kept: likely there."""
    if case.answer.state != "none" or case.path is not None or not case.nodes:
        return None
    made, nodes = case.below, set(case.nodes)
    for exit in case.trace.exits:
        inside = exit.value in made and case.tape.recording(exit.time) and exit.how != "bool()"
        if not inside or exit.scalar != rule.scalar or not flow.bound_at(exit.place):
            continue
        if exit.value in nodes and isinstance(exit.place.statement, ast.Expr):
            continue  # the source itself, noted down
        given = "" if exit.value in nodes else "something computed from "
        return case.finding(
            rule, exit.place,
            f"`{exit.place.text.splitlines()[0]}` converts {given}`{case.answer.name}` to plain "
            f"numbers, and no other path leads to `{case.query.target_name}`.",
            "keep the tensor, and compute with tf's functions", sure=False,
            change=changes.unknown("where its numbers came back is not known"),
        )  # fmt: skip
    return None


def out_of_reach(case: Case) -> bool:
    """Was a target no tensor at all?"""
    return case.query.error is not None and any(t.kind in ("array", "number") for t in case.targets)


def stored(cut: Cut) -> bool:
    """Was the tensor put into an array, entry by entry?"""
    exits = [e for e in cut.event.attrs.get("exits", ()) if e.value is cut.input]
    return bool(exits) and bool(exits[0].stores)


def _listed(cut: Cut) -> bool:
    """Did it come back in a list?"""
    entry = cut.event.attrs.get("entry")
    return entry is not None and isinstance(entry.given, (list, tuple))


def _comes_back(case: Case, cut: Cut) -> list:
    """Where the value returned, unless it is in the very same expression."""
    back, place = cut.event.back, cut.place
    if back is None or back == place or back.contains(place):
        return []
    label = "comes back as a constant"
    return [(back, "asked for here" if back == case.query.place else label)]


def advice(cut: Cut) -> str:
    """What to write instead, in one sentence."""
    place = cut.place
    if stored(cut):
        array = ast.unparse(place.node.value)  # type: ignore[union-attr]
        return (
            f"append the tensors to a list instead of `{array}`, and make one of them: `tf.stack`"
        )
    here = rewrite.rewrite(place)
    after = rewrite.later(place, cut.event.back, _listed(cut))
    words = [f"`{word}`" for word in dict.fromkeys(here.dropped)]
    parts = ["leave out " + " and ".join(words)] if words else []
    if not parts and isinstance(place.node, ast.Call) and not here.swaps:
        parts = [f"compute `{ast.unparse(place.node.func)}` with tf's functions"]
    swaps = [f"`{new}` instead of `{old}`" for old, new, _ in here.swaps]
    swaps += [
        f"`{new}` instead of `{old}` in line {line}"
        if new
        else f"tf's functions instead of `{old}`"
        for old, new, line in after
    ]
    if swaps:
        parts.append("use " + ", ".join(dict.fromkeys(swaps)))
    if here.into is not None:
        parts.append(f"write `{here.into}` with tf's functions")
    said = " and ".join(parts) or "keep the tensor, and compute with tf's functions"
    exits = [e.place for e in cut.event.attrs.get("exits", ())]
    others = {p.line for p in exits if not rewrite.bootstrapped(p)} - {place.line}
    return said + (f", and so in line {min(others)}" if others else "")


def _kept(cut: Cut) -> str:
    """What is to be said of what left beside it, to be a part of a target."""
    exits = [e.place for e in cut.event.attrs.get("exits", ())]
    lines = {p.line for p in exits if rewrite.bootstrapped(p)} - {cut.place.line}
    if not lines or rewrite.bootstrapped(cut.place):
        return ""
    return f"; what leaves in line {min(lines)} may stay a constant, as a part of a target"


RULE = LeftTheTape()
