"""What kinds of ops do to a gradient, by TensorFlow's type names: one table for both engines."""

from __future__ import annotations

from . import Event, Value

COMPARISONS = frozenset({
    "Equal", "NotEqual", "Greater", "GreaterEqual", "Less", "LessEqual", "LogicalAnd", "LogicalOr",
    "LogicalNot", "IsNan", "IsInf", "IsFinite", "Any", "All", "ApproximateEqual",
})  # fmt: skip
ROUNDINGS = frozenset({"Round", "Rint", "Floor", "Ceil", "FloorDiv", "TruncateDiv", "Sign"})
POSITIONS = frozenset(
    {"ArgMax", "ArgMin", "Where", "LowerBound", "UpperBound", "InTopKV2", "Unique"}
)
SAMPLES = frozenset({
    "Multinomial", "StatelessMultinomial", "RandomPoissonV2", "StatelessRandomPoisson",
    "StatelessRandomBinomial", "StatefulRandomBinomial", "RandomShuffle", "StatelessShuffle",
})  # fmt: skip
DRAWS = SAMPLES | {"RandomGamma", "StatelessRandomGammaV3"}  # also those that have a gradient
# Ops whose operands after the first are positions.
INDEXED = frozenset({
    "GatherV2", "GatherNd", "ResourceGather", "ResourceGatherNd", "OneHot", "UnsortedSegmentSum",
    "SegmentSum", "ScatterNd", "TensorScatterUpdate", "StridedSlice", "Slice", "DynamicPartition",
})  # fmt: skip
# Ops that look at the shape of what they are given, and not at its numbers.
BLIND = frozenset({"OnesLike", "ZerosLike", "Shape", "Size", "Rank"})
DETOURS = {
    "numpy": "numpy-conversion", "python": "python-scalar", "assign": "variable-assign",
    "rewrap": "variable-rewrap", "copy": "constant-copy", "gradient": "second-order-outside",
    "dataset": "stateful-source", "pyfunc": "py-function", "array": "not-a-tensor",
    "predict": "keras-predict", "metric": "metric-as-loss", "frozen": "tf-function-python-state",
}  # fmt: skip


def cause(event: Event, given: int, output: Value) -> str | None:
    """Why no gradient passes from an output of this event to an input, or None when it does."""
    if event.way != "op":
        return DETOURS[event.way]
    kind, operand = event.kind, event.inputs[given]
    if kind == "StopGradient":
        return "stop-gradient"
    if kind in ROUNDINGS:
        return None if kind == "Sign" else "rounding-op"
    if kind in COMPARISONS or (kind == "SelectV2" and given == 0):
        return "comparison-op"
    if kind in POSITIONS or (kind == "TopKV2" and not output.floating):
        return "discrete-index"
    if kind in SAMPLES:
        return "sampling-op"
    if kind == "Cast" and operand.floating and not output.floating:
        return "integer-cast"
    if kind == "OneHot" or (kind in INDEXED and given > 0 and not operand.floating):
        return "gather-index"
    if operand.floating and not output.floating:
        return "discrete-index"
    return None
