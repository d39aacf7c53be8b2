"""The traits of TensorFlow's ops, one row each."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import Family, Region, Traits, at, at_most, below, declared, not_between

F = Family
ACTIVATION = F.ELEMENTWISE | F.SQUASHES | F.BOUNDED
KINK = F.ELEMENTWISE | F.PIECEWISE
GATHER = F.SELECTS | F.INDEXED | F.GATHERS
SAMPLE = F.SAMPLES | F.DRAWS
CURVE = F.ELEMENTWISE


def _whole(x: Any) -> Any:
    return (x <= 0) & (x == np.floor(x))


NOT_POSITIVE = Region("0 or a negative integer", _whole, (0.0,))
ORIGIN = at(0.0, words="0, and so is the other")

TABLE: dict[str, Traits] = {}
_NONE = Traits()


def traits_of(kind: str) -> Traits:
    """The traits of a kind of op; of an unknown one, that it has none."""
    return TABLE.get(kind) or declared.get(kind, _NONE)


def row(kinds: str, families: Family, *poles: Region, **more: Any) -> None:
    """The same traits for each of these kinds."""
    for kind in kinds.split():
        if kind in TABLE:
            raise ValueError(f"{kind} has two rows")
        TABLE[kind] = Traits(families, poles, **more)


# --- the same numbers, elsewhere ------------------------------------------------------------------
row("Identity", F.ELEMENTWISE | F.RESHAPES)
row("Cast", F.ELEMENTWISE | F.RESHAPES)
row("Reshape", F.RESHAPES)
row("ExpandDims", F.RESHAPES)
row("Squeeze", F.RESHAPES)
row("ReadVariableOp", F.RESHAPES)
row("StopGradient", F.NONE)
row("Transpose", F.REORDERS | F.MIXES)
row("ReverseV2", F.REORDERS | F.MIXES)
row("Roll", F.REORDERS | F.MIXES)
row("StridedSlice", F.SELECTS | F.INDEXED)
row("Slice", F.SELECTS | F.INDEXED)
row("Split", F.SELECTS)
row("SplitV", F.SELECTS)
row("Unpack", F.SELECTS)
row("Gather", GATHER)
row("GatherV2", GATHER)
row("GatherNd", GATHER)
row("ResourceGather", GATHER)
row("ResourceGatherNd", GATHER)
row("DynamicPartition", F.SELECTS | F.INDEXED)
row("MatrixDiagPartV3", F.SELECTS | F.MIXES)
row("MatrixBandPart", F.SELECTS | F.MIXES)
row("Pack", F.JOINS)
row("ConcatV2", F.JOINS)
row("Tile", F.SPREADS)
row("BroadcastTo", F.SPREADS)
row("Fill", F.SPREADS)
row("Pad", F.SPREADS)
row("PadV2", F.SPREADS)
row("ScatterNd", F.SPREADS | F.INDEXED)
row("TensorScatterUpdate", F.INDEXED)
# --- sums -----------------------------------------------------------------------------------------
row("Add", F.ELEMENTWISE | F.ADDS)
row("AddV2", F.ELEMENTWISE | F.ADDS)
row("AddN", F.ELEMENTWISE | F.ADDS)
row("BiasAdd", F.ELEMENTWISE | F.ADDS)
row("Sub", F.ELEMENTWISE | F.SUBTRACTS)
row("Neg", F.ELEMENTWISE | F.SUBTRACTS)
row("Sum", F.REDUCES | F.TOTALS | F.SUMS)
row("Mean", F.REDUCES | F.TOTALS | F.SUMS)
row("Cumsum", F.ACCUMULATES | F.MIXES)
row("SegmentSum", F.INDEXED)
row("UnsortedSegmentSum", F.INDEXED)
# --- products -------------------------------------------------------------------------------------
row("Mul", F.ELEMENTWISE | F.MULTIPLIES)
row("MulNoNan", F.ELEMENTWISE | F.MULTIPLIES)
row("RealDiv", F.ELEMENTWISE | F.DIVIDES, at(0.0, operand=1), divisor=1)
row("DivNoNan", F.ELEMENTWISE | F.DIVIDES)
row("Xdivy", F.ELEMENTWISE | F.DIVIDES, at(0.0, operand=1), divisor=1)
row("Reciprocal", CURVE | F.INVERTS, at(0.0), divisor=0)
row("Inv", CURVE | F.INVERTS, at(0.0), divisor=0)
row("FloorMod", F.ELEMENTWISE, at(0.0, operand=1), divisor=1)
row("MatMul", F.CONTRACTS | F.MIXES)
row("BatchMatMul", F.CONTRACTS | F.MIXES)
row("BatchMatMulV2", F.CONTRACTS | F.MIXES)
row("BatchMatMulV3", F.CONTRACTS | F.MIXES)
row("Einsum", F.CONTRACTS | F.MIXES)
row("Conv2D", F.CONTRACTS | F.MIXES)
row("Conv3D", F.CONTRACTS | F.MIXES)
row("Conv2DBackpropInput", F.CONTRACTS | F.MIXES)
row("Conv3DBackpropInputV2", F.CONTRACTS | F.MIXES)
row("DepthwiseConv2dNative", F.CONTRACTS | F.MIXES)
row("Prod", F.REDUCES)
row("Cumprod", F.MIXES)
# --- curves ---------------------------------------------------------------------------------------
row("Square", CURVE | F.POWERS)
row("SquaredDifference", F.ELEMENTWISE)
row("Sqrt", CURVE | F.POWERS | F.ROOTS, at(0.0), below(0.0))
row("Rsqrt", CURVE | F.ROOTS | F.INVERTS, at(0.0), below(0.0))
row("Pow", CURVE | F.POWERS, at_most(0.0), overflows_at=1e3)
row("EuclideanNorm", F.REDUCES | F.TOTALS | F.NORMS)
row("ComplexAbs", F.ELEMENTWISE | F.NORMS)
row("L2Loss", F.REDUCES | F.TOTALS)
row("Log", CURVE | F.LOGARITHMS, at(0.0), below(0.0))
row("Xlogy", CURVE | F.LOGARITHMS, at(0.0, operand=1), below(0.0, operand=1))
row("Log1p", CURVE, at_most(-1.0))
row("Xlog1py", CURVE, at_most(-1.0, operand=1))
row("LogMatrixDeterminant", F.LOGARITHMS)
row("Exp", CURVE | F.EXPONENTIALS, overflows_at=50.0)
row("Expm1", CURVE | F.EXPONENTIALS, overflows_at=50.0)
row("Sinh", CURVE | F.EXPONENTIALS, overflows_at=50.0)
row("Cosh", CURVE | F.EXPONENTIALS, overflows_at=50.0)
row("Sin", CURVE | F.PERIODIC)
row("Cos", CURVE | F.PERIODIC)
row("Asin", CURVE, not_between(-1.0, 1.0))
row("Acos", CURVE, not_between(-1.0, 1.0))
row("Atanh", CURVE, not_between(-1.0, 1.0))
row("Acosh", CURVE, at_most(1.0))
row("Atan2", CURVE, ORIGIN)
row("Erfinv", CURVE, not_between(-1.0, 1.0))
row("Ndtri", CURVE, not_between(0.0, 1.0))
row("Lgamma", CURVE, NOT_POSITIVE)
row("Digamma", CURVE, NOT_POSITIVE)
row("Polygamma", CURVE, Region("0 or a negative integer", _whole, (0.0,), operand=1))
row("Zeta", CURVE, at_most(1.0))
row("Expint", CURVE, at_most(0.0))
row("Spence", CURVE, at_most(0.0))
row("BesselK0", CURVE, at_most(0.0))
row("BesselK0e", CURVE, at_most(0.0))
row("BesselK1", CURVE, at_most(0.0))
row("BesselK1e", CURVE, at_most(0.0))
row("BesselY0", CURVE, at_most(0.0))
row("BesselY1", CURVE, at_most(0.0))
row("Igamma", CURVE, at_most(0.0, operand=0), at_most(0.0, operand=1))
row("Igammac", CURVE, at_most(0.0, operand=0), at_most(0.0, operand=1))
row("Cholesky", F.MIXES)
row("SelfAdjointEigV2", F.SPECTRA)
row("Svd", F.SPECTRA)
row("Eig", F.SPECTRA)
# --- activations ----------------------------------------------------------------------------------
row("Sigmoid", ACTIVATION, ends=(0.0, 1.0), function="sigmoid")
row("Tanh", ACTIVATION, ends=(-1.0, 1.0), function="tanh")
row("Softsign", ACTIVATION, ends=(-1.0, 1.0), function="softsign")
row("Erf", ACTIVATION, ends=(-1.0, 1.0))
row("Softmax", F.SQUASHES | F.BOUNDED | F.SOFTMAXES | F.MIXES, ends=(0.0, 1.0), function="softmax")
row("LogSoftmax", F.SOFTMAXES | F.MIXES)
row("Relu", KINK | F.RECTIFIES, function="relu")
row("Relu6", KINK | F.RECTIFIES | F.CLIPS | F.BOUNDED)
row("LeakyRelu", KINK)
row("Elu", CURVE | F.FLATTENS)
row("Selu", CURVE | F.FLATTENS)
row("Softplus", CURVE, function="softplus")
row("SoftmaxCrossEntropyWithLogits", F.WITH_LOGITS, logits=0)
row("SparseSoftmaxCrossEntropyWithLogits", F.WITH_LOGITS, logits=0)
# --- straight pieces ------------------------------------------------------------------------------
row("Abs", KINK)
row("Maximum", KINK | F.RECTIFIES | F.CLIPS)
row("Minimum", KINK | F.CLIPS)
row("ClipByValue", KINK | F.CLIPS | F.BOUNDED)
row("SelectV2", KINK | F.CHOOSES)
row("Select", KINK | F.CHOOSES)
row("Max", F.REDUCES | F.PIECEWISE)
row("Min", F.REDUCES | F.PIECEWISE)
row("MaxPool", F.PIECEWISE)
row("MaxPoolV2", F.PIECEWISE)
row("MaxPool3D", F.PIECEWISE)
# --- no useful derivative -------------------------------------------------------------------------
row("Equal NotEqual ApproximateEqual", F.ELEMENTWISE | F.COMPARES)
row("Greater GreaterEqual Less LessEqual", F.ELEMENTWISE | F.COMPARES | F.ORDERS)
row("LogicalAnd LogicalOr LogicalNot", F.ELEMENTWISE | F.COMPARES)
row("IsNan IsInf IsFinite", F.ELEMENTWISE | F.COMPARES)
row("Any All", F.REDUCES | F.COMPARES)
row("Round Rint Floor Ceil Sign", F.ELEMENTWISE | F.ROUNDS)
row("FloorDiv TruncateDiv", F.ELEMENTWISE | F.ROUNDS)
row("ArgMax ArgMin Where LowerBound UpperBound InTopKV2 Unique", F.FINDS)
row("TopKV2", F.MIXES)
row("OneHot", F.INDEXED)
row("Multinomial StatelessMultinomial", SAMPLE)
row("RandomPoissonV2 StatelessRandomPoisson", SAMPLE)
row("StatelessRandomBinomial StatefulRandomBinomial", SAMPLE)
row("RandomShuffle StatelessShuffle", SAMPLE)
row("RandomGamma StatelessRandomGammaV3", F.DRAWS)
row("OnesLike ZerosLike Shape Size Rank", F.IGNORES_NUMBERS)
row("Const", F.CONSTANTS)
row("PyFunc PyFuncStateless EagerPyFunc", F.RUNS_PYTHON)
