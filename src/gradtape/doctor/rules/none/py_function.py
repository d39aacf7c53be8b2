"""GT111 py-function: Python code with NumPy inside stands on the path as one op."""

from __future__ import annotations

from ...facts.case import Case
from ...trace import Event
from ...trace.finding import Finding
from ..base import Rule


class PyFunction(Rule):
    code, name, states = "GT111", "py-function", frozenset({"none", "zero", "error"})
    title = "tf.numpy_function, or tf.py_function with NumPy inside, passes no gradient"
    lesson = """\
`tf.numpy_function` runs Python on arrays, and nothing flows back through it. `tf.py_function`
gives the function tensors and does differentiate it, as long as it computes with TensorFlow:
with `.numpy()` or `np.exp` inside, the gradient is 0 there. In eager mode neither is needed:
call the function itself. Where the computation must be NumPy's, give it a derivative by hand
with `tf.custom_gradient`."""
    failing = """\
w = tf.Variable([0.5, 1.0])
with tf.GradientTape() as tape:
    curve = tf.numpy_function(np.sin, [2.0 * w], tf.float32)
    loss = tf.reduce_sum(curve)
grad = tape.gradient(loss, w)
"""
    cured = """\
w = tf.Variable([0.5, 1.0])
with tf.GradientTape() as tape:
    curve = tf.sin(2.0 * w)
    loss = tf.reduce_sum(curve)
grad = tape.gradient(loss, w)
"""
    ignore = "When the function only reads, prints or loads something off the way to the loss."

    def examine(self, case: Case) -> Finding | None:
        cut = case.cut_by("py-function")
        if cut is not None:
            return self._found(
                case, cut.event,
                f"`{cut.event.name}` runs Python on plain arrays, and no gradient flows back "
                "through it.",
            )  # fmt: skip
        for event in _candidates(case):
            inside = [e for e in case.trace.exits if any(event.place == p for p in _frames(e)[1:])]
            if event.kind == "EagerPyFunc" and inside:
                derivative = (
                    "is 0" if case.query.error is None else "is a single 0 that fits no shape"
                )
                return self._found(
                    case, event,
                    f"the function of this py_function computes with NumPy "
                    f"(`{inside[0].place.text}` in line {inside[0].place.line}), so its gradient "
                    f"{derivative}.",
                    inside[0].place,
                )  # fmt: skip
        return None

    def _found(self, case: Case, event: Event, message: str, inner: object = None) -> Finding:
        return case.finding(
            self, event.place, message,
            "compute this with tf's functions, or give it a derivative with `tf.custom_gradient`",
            event=event, also=[(inner, "leaves the tape here")] if inner is not None else [],
        )  # fmt: skip


def _candidates(case: Case) -> list[Event]:
    """The ops that may have ended the gradient, or have made the tape fail."""
    if case.query.error is not None:
        return case.path.events if case.path is not None else []
    return [death.event for death in case.deaths] if case.answer.state == "zero" else []


def _frames(exit: object) -> list:
    from ...source.place import at

    return [at(*frame) for frame in exit.stack]  # type: ignore[attr-defined]


RULE = PyFunction()
