"""TensorFlow's ops: what they are called, which operands are data, and their derivatives."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import numpy as np

from ..quiet import quiet
from . import values

# The operands that are data; the others say how: axes, shapes, positions in time.
DATA: dict[str, Any] = dict.fromkeys(
    ("Sum", "Mean", "Prod", "Max", "Min", "Any", "All", "EuclideanNorm", "Reshape", "Transpose",
     "ExpandDims", "Tile", "Pad", "MirrorPad", "BroadcastTo", "Slice", "StridedSlice", "ArgMax",
     "ArgMin", "TopKV2", "TopK", "Cumsum", "Cumprod", "CumulativeLogsumexp", "OneHot", "ReverseV2",
     "Roll", "SplitV", "ResizeBilinear", "ResizeNearestNeighbor", "ResizeBicubic", "Multinomial",
     "Unique", "TensorListStack", "SpaceToBatchND", "BatchToSpaceND", "MatrixDiagPartV3"), (0,),
) | {
    "GatherV2": (0, 1), "ConcatV2": slice(0, -1), "Split": (1,), "Fill": (1,), "PadV2": (0, 2),
    "Conv2DBackpropInput": (1, 2), "UnsortedSegmentSum": (0, 1), "ScatterNd": (0, 1),
    "StridedSliceGrad": (4,), "LinSpace": (0, 1),
}  # fmt: skip
# Their results have nothing of the numbers that they are given.
CONSTANTS = frozenset({
    "Shape", "ShapeN", "Size", "Rank", "VariableShape", "ZerosLike", "OnesLike", "Const",
    "BroadcastGradientArgs", "Range", "RandomStandardNormal", "RandomUniform", "TruncatedNormal",
    "RandomUniformInt", "StatelessRandomGetKeyCounter", "StatelessRandomGetAlg",
    "StatelessRandomGetKeyCounterAlg", "StatelessRandomNormalV2", "StatelessRandomUniformV2",
    "StatelessTruncatedNormalV2", "StatelessRandomUniformFullIntV2", "StatelessRandomUniformIntV2",
    "Empty", "ConcatOffset",
})  # fmt: skip
NAMES = {
    "GetItem": "getitem", "BatchMatMulV2": "matmul", "BatchMatMulV3": "matmul", "BiasAdd": "add",
    "Log1p": "log1p", "Conv2D": "conv2d", "StopGradient": "stop_gradient", "Inv": "reciprocal",
    "Multinomial": "categorical", "EagerPyFunc": "py_function", "PyFunc": "numpy_function",
    "PyFuncStateless": "numpy_function",
    "ResourceGather": "gather", "GatherV2": "gather", "Softmax": "softmax", "TopKV2": "top_k",
    "FusedBatchNormV3": "batch_normalization", "UnsortedSegmentSum": "segment_sum",
    "DepthwiseConv2dNative": "depthwise_conv2d", "MaxPool": "max_pool", "AvgPool": "avg_pool",
    "ScatterNd": "scatter_nd", "RealDiv": "div", "Ceil": "ceil", "Where": "where",
}  # fmt: skip
REDUCTIONS = frozenset({"Sum", "Mean", "Prod", "Max", "Min", "EuclideanNorm", "Any", "All"})
FLOATS = {"DT_HALF": 19, "DT_FLOAT": 1, "DT_BFLOAT16": 14}
DOUBLE = 2


@lru_cache(maxsize=2048)
def name(kind: str) -> str:
    """A word for reports."""
    if kind in NAMES:
        return NAMES[kind]
    from ....core.op import registry

    for op in registry.values():
        if op.label == kind:
            return op.name
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", re.sub(r"V\d$", "", kind)).lower()


def data(kind: str, number: int) -> list[int]:
    """The numbers of the operands that are data."""
    chosen = DATA.get(kind)
    if chosen is None:
        return list(range(number))
    return list(range(number))[chosen] if isinstance(chosen, slice) else list(chosen)


def attributes(attrs: Any) -> dict[str, Any]:
    """Alternating names and values as a dictionary."""
    return dict(zip(attrs[::2], attrs[1::2], strict=False)) if attrs else {}


@lru_cache(maxsize=2048)
def lists(kind: str) -> tuple[bool, ...]:
    """Which operands of an op are lists of tensors."""
    from tensorflow.python.framework import op_def_registry

    found = op_def_registry.get(kind)
    if found is None:
        return ()
    return tuple(bool(a.number_attr or a.type_list_attr) for a in found.input_arg)


def given(kind: str, arguments: dict[str, Any] | None, number: int) -> list[Any]:
    """What the op's own function was given for each operand; None where that is not known."""
    if arguments is None:
        return [None] * number
    found: list[Any] = []
    for several, thing in zip(lists(kind), arguments.values(), strict=False):
        found += list(thing) if several and isinstance(thing, (list, tuple)) else [thing]
    return found if len(found) == number else [None] * number


@contextmanager
def unrecorded() -> Iterator[None]:
    """What is computed here is on no tape and in no graph, and says nothing."""
    from tensorflow.python.framework import ops

    with ops.init_scope(), quiet():
        yield


# --- one op, backwards ----------------------------------------------------------------------------
def puller(
    kind: str, inputs: Sequence[Any], attrs: Any, outputs: Sequence[Any], chosen: list[int]
) -> Callable:
    """The cotangents of the chosen operands, by the gradient that TensorFlow has for the op."""

    def pull(cotangents: Any) -> list:
        from tensorflow.python.eager import backprop

        arrived = [g for g, o in zip(cotangents, outputs, strict=False) if values.floating(o)]
        if all(g is None for g in arrived):
            return [None] * len(chosen)
        with unrecorded():
            gs = [_cotangent(g, o) for g, o in zip(cotangents, outputs, strict=False)]
            parts = backprop._gradient_function(
                kind, tuple(attrs), len(inputs), list(inputs), list(outputs), gs, (), ""
            )
            parts = parts if isinstance(parts, (list, tuple)) else [parts]
            return [dense(parts[k]) if _derivative(inputs[k]) else None for k in chosen]

    return pull


def _derivative(tensor: Any) -> bool:
    """Whole numbers have no derivative; what a handle stands for may have one."""
    return not values.numeric(tensor) or values.floating(tensor)


def _cotangent(g: Any, output: Any) -> Any:
    import tensorflow as tf

    if not values.numeric(output):
        return None
    return tf.zeros_like(output) if g is None else tf.constant(np.asarray(g), output.dtype)


def dense(part: Any) -> Any:
    """A cotangent as an array."""
    if part is None:
        return None
    if hasattr(part, "indices"):
        rows, indices = values.array(part.values), values.array(part.indices)
        whole = np.zeros([int(n) for n in values.array(part.dense_shape)], rows.dtype)
        np.add.at(whole, indices, rows)
        return whole
    return values.array(part)


def custom_puller(grad: Callable, results: Sequence[Any], number: int) -> Callable:
    """The cotangents that the user's gradient function gives."""

    def pull(cotangents: Any) -> list:
        import tensorflow as tf

        with unrecorded():
            gs = [_cotangent(g, o) for g, o in zip(cotangents, results, strict=False)]
            parts = tf.nest.flatten(grad(*gs))
            return [dense(p) for p in parts][:number]

    return pull


def model_puller(model: Any, x: Any, given: Sequence[Any]) -> Callable:
    """The cotangents through a model that was asked to predict: it is called, on a tape."""

    def work(cotangents: Any) -> list:
        import tensorflow as tf

        with quiet(), tf.GradientTape() as tape:
            tape.watch([v for v in given if hasattr(v, "_numpy")])
            results = [tf.convert_to_tensor(r) for r in tf.nest.flatten(model(x, training=False))]
        gs = [_cotangent(g, o) for g, o in zip(cotangents, results, strict=False)]
        return [dense(g) for g in tape.gradient(results, given, gs)]

    def pull(cotangents: Any) -> list:
        # Tapes belong to threads, so that in a new one no other tape hears of it.
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(work, cotangents).result()

    return pull


# --- one op, forwards again -----------------------------------------------------------------------
def replayer(
    kind: str, inputs: Sequence[Any], attrs: Any, outputs: Sequence[Any], chosen: list[int]
) -> Callable:
    """The op on other arrays, real numbers in double precision, and so whole ones on request."""

    def replay(arrays: Any, whole: bool = False) -> tuple[list, Any]:
        with unrecorded():
            tensors = [_wide(t) for t in inputs]
            for k, other in zip(chosen, arrays, strict=True):
                tensors[k] = _wide(inputs[k], other)
            _all_axes(kind, inputs, tensors)
            words = _wide_attributes(kind, attrs)
            if whole:
                tensors, words = _real(kind, tensors, words)
            made = run(kind, tensors, words, len(outputs))
        pull = puller(kind, tensors, words, made, chosen)
        return [values.array(t) for t in made], pull

    return replay


def _all_axes(kind: str, inputs: Sequence[Any], tensors: list[Any]) -> None:
    """What reduced all axes reduces all axes, also when there are more or fewer of them now."""
    import tensorflow as tf

    if kind in REDUCTIONS and values.array(inputs[1]).size == len(inputs[0].shape):
        tensors[1] = tf.range(len(tensors[0].shape), dtype=inputs[1].dtype)


def run(kind: str, inputs: Sequence[Any], attrs: Sequence[Any], number: int) -> list[Any]:
    """Run one op eagerly."""
    from tensorflow.python.eager import context, execute

    found = execute.quick_execute(kind, number, list(inputs), tuple(attrs), context.context())
    return list(found)


def _wide(tensor: Any, other: Any = None) -> Any:
    import tensorflow as tf

    real = values.numeric(tensor) and tensor.dtype.is_floating
    if other is None:
        return tf.cast(tensor, tf.float64) if real else tensor
    return tf.constant(np.asarray(other), tf.float64 if real else tensor.dtype)


def _real(kind: str, tensors: list[Any], words: tuple) -> tuple[list[Any], tuple]:
    """The operands that have the type of the result as real numbers: the others are positions."""
    import tensorflow as tf
    from tensorflow.python.framework import op_def_registry

    known = op_def_registry.get(kind)
    type_ = known.output_arg[0].type_attr
    args = [arg.type_attr for arg in known.input_arg]
    args += args[-1:] * (len(tensors) - len(args))  # the last may be a list
    pairs = zip(tensors, args, strict=False)
    real = [tf.cast(t, tf.float64) if own and own == type_ else t for t, own in pairs]
    named = attributes(words)
    return real, tuple(w for k, v in named.items() for w in (k, DOUBLE if k == type_ else v))


def _wide_attributes(kind: str, attrs: Any) -> tuple:
    from tensorflow.python.framework import op_def_registry

    known = op_def_registry.get(kind).attr
    types = {a.name for a in known if a.type == "type"}
    lists = {a.name for a in known if a.type.startswith("list(")}
    words: list[Any] = []
    for key, value in attributes(attrs).items():
        if value is None and key in lists:
            value = []  # as it was left out: tf.squeeze without axes
        if key in types:
            number = getattr(value, "as_datatype_enum", value)
            value = DOUBLE if number in FLOATS.values() else number
        words += [key, value]
    return tuple(words)
