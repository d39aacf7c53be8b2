"""GT607 tf-function-leak: a tensor of a traced graph was kept outside of it."""

from __future__ import annotations

import ast

from ...facts.case import ErrorCase
from ...facts.stores import stored
from ...source.place import Place, nodes
from ...trace.finding import Finding
from ..base import Rule

OURS = "is out of scope and cannot be used here"
SYMBOL = "'SymbolicTensor'"  # it is asked for what only a tensor with numbers has
WORDS = ("out of scope", "cannot be accessed", "symbolic", "not an element of this graph")


class TfFunctionLeak(Rule):
    code, name, states = "GT607", "tf-function-leak", frozenset({"error"})
    title = "a tensor that exists only inside a tf.function was stored and used outside"
    lesson = """\
While `@tf.function` traces, tensors are symbols of the graph. Stored in a list or an attribute,
such a symbol survives the trace and means nothing afterwards: using it is an error. Return the
tensor from the function instead."""
    failing = """\
kept = []

@tf.function
def step(x):
    kept.append(x * 2.0)
    return x

step(tf.constant(1.0))
print(kept[0] + 1.0)
"""
    cured = """\
@tf.function
def step(x):
    return x, x * 2.0

_, doubled = step(tf.constant(1.0))
print(doubled + 1.0)
"""
    ignore = "Never: it is an error."

    def examine_error(self, case: ErrorCase) -> Finding | None:
        kind, text = type(case.error).__name__, str(case.error)
        leaked = kind == "InaccessibleTensorError" or (
            kind in ("TypeError", "ValueError")
            and (OURS in text or ("Graph" in text and any(w in text for w in WORDS)))
        )
        if not leaked and (SYMBOL not in text or case.leaked is None):
            return None
        store = stored(case.trace, case.place)
        if store is not None:
            return case.finding(
                self, store,
                f"`{store.brief}` keeps a tensor of `{_function(store)}`, which exists only while "
                f"it is being traced; line {case.place.line} uses it outside.",
                "return the tensor from the `tf.function`, and store what it returns",
                also=[(case.place, "used here, outside of the function")],
            )  # fmt: skip
        return case.finding(
            self, case.place,
            "a tensor that was stored while a `tf.function` was traced is used here, outside of "
            "it.",
            "return the tensor from the `tf.function`, and use what it returns",
        )  # fmt: skip


def _function(store: Place) -> str:
    """The function that a statement stands in."""
    inside = [
        node for node in nodes(store.file)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and node.lineno <= store.line <= (node.end_lineno or 0)
    ]  # fmt: skip
    return inside[-1].name if inside else store.function


RULE = TfFunctionLeak()
