"""Why no gradient passes an event, in the words of the causes."""

from __future__ import annotations

from ...traits import Family
from . import Event, Value

DETOURS = {
    "numpy": "numpy-conversion", "python": "python-scalar", "assign": "variable-assign",
    "rewrap": "variable-rewrap", "copy": "constant-copy", "gradient": "second-order-outside",
    "dataset": "stateful-source", "pyfunc": "py-function", "array": "not-a-tensor",
    "predict": "keras-predict", "metric": "metric-as-loss", "frozen": "tf-function-python-state",
}  # fmt: skip


def cause(event: Event, number: int, output: Value) -> str | None:
    """Why no gradient passes from an output to the input with this number; None if one does."""
    if event.way != "op":
        return DETOURS[event.way]
    operand = event.inputs[number]
    if event.kind == "StopGradient":
        return "stop-gradient"
    if event.is_a(Family.ROUNDS):
        return None if event.kind == "Sign" else "rounding-op"
    if event.is_a(Family.COMPARES) or (event.is_a(Family.CHOOSES) and number == 0):
        return "comparison-op"
    if event.is_a(Family.FINDS) or (event.kind == "TopKV2" and not output.floating):
        return "discrete-index"
    if event.is_a(Family.SAMPLES):
        return "sampling-op"
    if event.kind == "Cast" and operand.floating and not output.floating:
        return "integer-cast"
    if event.kind == "OneHot" or (
        event.is_a(Family.INDEXED) and number > 0 and not operand.floating
    ):
        return "gather-index"
    if operand.floating and not output.floating:
        return "discrete-index"
    return None
