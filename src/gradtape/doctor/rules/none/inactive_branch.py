"""GT123 inactive-branch: the source is used only in a branch that was not taken."""

from __future__ import annotations

import ast

from ...facts import branches, changes
from ...facts.case import Case
from ...source.place import Written
from ...trace.finding import Finding
from ..base import Rule
from ..error.tf_function_python_state import RULE as FROZEN
from ..reaching import uses


class InactiveBranch(Rule):
    code, name, states = "GT123", "inactive-branch", frozenset({"none"})
    gives_way_to = frozenset({"tf-function-python-state"})
    title = "the source is used in a branch that was not taken"
    lesson = """\
Only what ran is on the tape. A variable that stands in the other branch of an `if`, a `tf.cond`
or a conditional expression was not read, and this loss does not depend on it: its gradient is
None, not 0. To train both branches with every example, compute both and choose with `tf.where`."""
    failing = """\
low, high = tf.Variable(2.0), tf.Variable(3.0)
x = tf.constant(0.4)
with tf.GradientTape() as tape:
    y = tf.cond(x > 0.5, lambda: high * x, lambda: low * x)
grads = tape.gradient(y, [low, high])
"""
    cured = """\
low, high = tf.Variable(2.0), tf.Variable(3.0)
x = tf.constant([0.4, 0.7])
with tf.GradientTape() as tape:
    y = tf.reduce_sum(tf.where(x > 0.5, high * x, low * x))
grads = tape.gradient(y, [low, high])
"""
    ignore = """\
When each example is meant to train one branch: skip the None, or ask with
unconnected_gradients="zero"."""

    def examine(self, case: Case) -> Finding | None:
        if case.variable is None or case.path is not None or uses(case):
            return None
        branch = next(branches.skipped(case), None)
        if branch is None:
            return None
        what = "`tf.cond`" if branch.wanted is None else f"`if {ast.unparse(branch.test)}`"
        name, use = case.answer.name, branch.use
        found = case.finding(
            self, branch.place,
            f"`{name}` is used in line {use.lineno}, in the branch of {what} that was not taken.",
            "compute both branches and choose with `tf.where`, or skip the sources whose gradient "
            "is None",
            change=changes.ask_for(), also=[(Written(branch.code, use), "did not run")],
        )  # fmt: skip
        turns = branches.turning(case, branch)
        if turns is not None:
            frozen = FROZEN.decided(case, branch)
            frozen.survey = None  # it holds the trace
            found.later = lambda: frozen if turns() else None
        return found


RULE = InactiveBranch()
