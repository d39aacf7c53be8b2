"""What TensorFlow cannot do, does not take, or refuses in other words."""

from __future__ import annotations

import numpy as np

from tests.tensorflow.fuzz.known.answers import none, numbers, raised
from tests.tensorflow.fuzz.known.found import FORWARD, TWICE, Family, Found, equal

DIFFERS = Family()

KERNELS = (
    "No OpKernel was registered",
    "is not in the list of allowed values",
    "not in list of allowed values",
    "CPU implementations do not yet support",
    "CPU implementation does not yet support",
    "Conv2DCustomBackpropInputOp only supports NHWC",
    "Unhandled input dimensions",
    "Default AvgPoolingOp only supports NHWC on device type CPU",
    "CPU implementation of Conv3D currently only supports",
    "Gradients for grouped convolutions are not supported on CPU",
    "Attr 'padding' of 'MaxPoolGradGrad' Op passed string 'EXPLICIT'",
)

# What TensorFlow says None for, or leaves out of a sum, when it is differentiated twice.
LEFT_OUT = (
    "tf.image.resize",
    "tf.sparse.add(tf.sparse.from_dense({0}), tf.sparse.from_dense({1}))",
)

# What TensorFlow says in forward mode that is its own affair, and the step that leads there.
STUMBLES = (
    ("ValueError: Internal error: Tried to take gradients", ""),
    ("TypeError: InternalError.__init__()", "vectorized_map"),
    ("TypeError: 'NoneType' object cannot be interpreted", "vectorized_map"),
    ("TypeError: 'NoneType' object cannot be interpreted", "tensor_scatter_nd_m"),
    ("TypeError: <tf.Tensor 'loop_body", "vectorized_map"),
    ("InternalError: Recorded operation '__forward_", "tf.function"),
    ("InvalidArgumentError: Graph execution error", "softmax_cross_entropy"),
)


def _unused(d: Found) -> bool:
    """Whether the first step that failed is one that nothing asked for needs."""
    needed = {name for q in d.program["scenario"]["queries"] for name in q["targets"]}
    for step in reversed(d.program["steps"]):
        if step["to"] in needed:
            needed |= set(step["of"])
    values = d.values()
    failed = next((s["to"] for s in d.program["steps"] if s["to"] not in values), None)
    return bool(values) and failed is not None and failed not in needed


def _mapped_nothing(d: Found) -> bool:
    """Empty tensors of other shapes, out of `map_fn` over no rows."""
    pair = [side if isinstance(side, dict) else {} for side in (d.expected, d.got)]
    shapes = [side.get("shape", [1]) for side in pair]
    return "tf.map_fn" in d.ops and shapes[0] != shapes[1] and all(0 in s for s in shapes)


@DIFFERS.difference(
    "no kernel",
    "A derivative or a dtype for which TensorFlow's CPU has no kernel, and raises "
    "NotFoundError or UnimplementedError, is computed.",
)
def _no_kernel(d: Found) -> bool:
    said = d.said
    return said.startswith(("NotFoundError: Could not find device", "UnimplementedError:")) or (
        any(words in said for words in KERNELS)
    )


@DIFFERS.difference(
    "not registered",
    "A derivative that TensorFlow does not have is given: LookupError there, or ValueError for "
    "`lstsq(fast=False)` and NotImplementedError for `tf.sparse.softmax` twice.",
)
def _not_registered(d: Found) -> bool:
    words = ("gradient registry has no entry", "No gradient defined for operation")
    sparse = "NotImplementedError: Gradient for SparseDenseCwiseAdd is not implemented."
    return (
        (d.said.startswith("LookupError: ") and any(word in d.said for word in words))
        or d.said == "ValueError: Gradient not defined for fast=False"
        or (d.said.startswith("NotImplementedError: ") and sparse in d.said)
    )


@DIFFERS.difference(
    "left out twice",
    "The second derivative, and in forward mode the first, through a bilinear `tf.image.resize` "
    "and through `tf.sparse.add` of two sparse tensors is given; TensorFlow says None, or leaves "
    "it out of a sum.",
)
def _left_out(d: Found) -> bool:
    kind = d.program["scenario"]["kind"]
    return (
        none(d.expected)
        and any(word in d.ops for word in LEFT_OUT)
        and kind in TWICE
        and d.place[0] == (1 if kind == "jvp" else 2)
    )


@DIFFERS.difference(
    "hsv to rgb",
    "`tf.image.hsv_to_rgb` has a gradient; TensorFlow says None.",
)
def _hsv_to_rgb(d: Found) -> bool:
    named = any(word in d.ops for word in ("tf.image.hsv_to_rgb(", "tf.raw_ops.HSVToRGB("))
    return none(d.expected) and named and d.place[:1] > (0,)


@DIFFERS.difference(
    "not traced",
    "`tf.function` and `tf.vectorized_map` run the Python function itself: a wrong shape or dtype "
    "in it is the InvalidArgumentError of eager code, not the ValueError or TypeError of tracing, "
    "a missing kernel is a NotFoundError, both also where the result is not used; `map_fn` over no "
    "rows has the shape of eager code; and variables may be made in it.",
)
def _traced(d: Found) -> bool:
    """Both refuse a step of a `tf.function`, TensorFlow while it traces."""
    error, ours = raised(d.expected), raised(d.got)
    mapped = "tf.vectorized_map(" in d.ops and error and error["message"].startswith("in user code")
    if d.program["scenario"]["kind"] not in ("function", "whole") and not mapped:
        return False
    if not error:
        return _unused(d) if ours else _mapped_nothing(d)
    if "tf.function only supports singleton tf.Variables" in error["message"]:
        return True
    pair = error["raises"], ours["raises"] if ours else ""
    if pair == ("InvalidArgumentError", "NotFoundError"):
        return "No OpKernel was registered" in error["message"]
    return pair in (("ValueError", "InvalidArgumentError"), ("TypeError", "InvalidArgumentError"))


@DIFFERS.difference(
    "not staged",
    "An error inside `jacobian` comes as it is, not wrapped in AutoGraph's StagingError.",
)
def _staged(d: Found) -> bool:
    error, ours = raised(d.expected), raised(d.got)
    if not error or error["raises"] != "StagingError":
        return False
    missing = "LookupError: gradient registry has no entry" in error["message"]
    return missing if not ours else ours["raises"] in error["message"]


@DIFFERS.difference(
    "not asked for",
    "Slopes are computed along the ways to the sources only: the gradient of a singular matrix's "
    "determinant, InvalidArgumentError, is no error where it leads to none.",
)
def _unasked(d: Found) -> bool:
    if not d.said.startswith("InvalidArgumentError") or "Input is not invertible" not in d.said:
        return False
    reached = {name for q in d.program["scenario"]["queries"] for name in q["sources"]}
    for step in d.program["steps"]:
        if reached & set(step["of"]):
            reached.add(step["to"])
        elif "det(" in step["op"]:
            return True
    return False


@DIFFERS.difference(
    "of nothing",
    "Gradients, tangents and Jacobians of sorting, mirroring or repeating an empty tensor are "
    "empty, not an error.",
)
def _of_nothing(d: Found) -> bool:
    parts = [*d.program["inputs"], *d.program["steps"]]
    words = (
        "Requires delta != 0: 0",
        "MirrorPadGrad",
        "'NoneType' object cannot be interpreted as an integer",
        "ZeroDivisionError: integer division or modulo by zero",
        "is not compatible with supplied shape",
        "UnsortedSegmentSum",
    )
    return any(0 in part["shape"] for part in parts) and any(w in d.said for w in words)


@DIFFERS.difference(
    "einsum of nothing",
    "In `tf.einsum` an axis of size 0 fits no axis of another size, InvalidArgumentError; "
    "TensorFlow compares only with sizes that it met before and that are not 0.",
)
def _einsum_of_nothing(d: Found) -> bool:
    message = (raised(d.got) or {}).get("message", "")
    return "Expected dimension 0 at axis" in message and "[Op:Einsum]" in message


@DIFFERS.difference(
    "gather of nothing",
    "In `tf.gather` a number beyond the axis is an InvalidArgumentError also where rows without "
    "entries are taken; TensorFlow does not look at the numbers then.",
)
def _gather_of_nothing(d: Found) -> bool:
    message = (raised(d.got) or {}).get("message", "")
    parts = [*d.program["inputs"], *d.program["steps"]]
    return (
        not raised(d.expected)
        and any(0 in part["shape"] for part in parts)
        and "is not in [0, " in message
        and "[Op:GatherV2]" in message
    )


@DIFFERS.difference(
    "refused gradients",
    "The gradients of `tf.gather_nd` with a single index and of `tf.math.top_k` with an "
    "`index_type` other than int32 are given; TensorFlow's own code for them stops with an "
    "InvalidArgumentError.",
)
def _refused(d: Found) -> bool:
    gathered = "[Op:ScatterNd]" in d.said and ("gather_nd(" in d.ops or "GatherNd(" in d.ops)
    sorted_ = "cannot compute AddV2" in d.said and "top_k(" in d.ops and "index_type" in d.ops
    return d.said.startswith("InvalidArgumentError: ") and (gathered or sorted_)


@DIFFERS.difference(
    "filled vectors",
    "The gradient of `tf.fill` by a value of shape [1] has this shape; TensorFlow's is a scalar.",
)
def _filled(d: Found) -> bool:
    """A gradient of the same number, with and without an axis, behind such a step."""
    if not any(word in d.ops for word in ("fill(", "Fill(")) or d.place[:1] in ((), (0,)):
        return False
    pair = numbers(d.expected), numbers(d.got)
    return pair[0].shape == () and pair[1].shape == (1,) and equal(pair[0], pair[1][0], False)


@DIFFERS.difference(
    "transform of nothing",
    "A Fourier transform of lines without entries that are to be filled up is an "
    "InvalidArgumentError, and so is a convolution without rows in its result; TensorFlow gives "
    "memory that nobody wrote to.",
)
def _transform_of_nothing(d: Found) -> bool:
    message = (raised(d.got) or {}).get("message", "")
    empty = "Input must be at least as long as fft_length", "out of bounds for axis 1 with size 0"
    return not raised(d.expected) and any(word in message for word in empty)


@DIFFERS.difference(
    "tangent of nothing",
    "The tangent of `reduce_logsumexp` over no numbers is 0, not nan.",
)
def _of_nothing_forward(d: Found) -> bool:
    pair = numbers(d.expected), numbers(d.got)
    return (
        "reduce_logsumexp" in d.ops
        and any(0 in part["shape"] for part in [*d.program["inputs"], *d.program["steps"]])
        and d.program["scenario"]["kind"] in FORWARD
        and d.numeric
        and equal(*pair, np.isnan(pair[0]) & (pair[1] == 0))
    )


@DIFFERS.difference(
    "not vectorized",
    "`jacobian` also takes what TensorFlow cannot vectorize.",
)
def _not_vectorized(d: Found) -> bool:
    start = "ValueError: Encountered an exception while vectorizing the jacobian"
    return d.said.startswith(start) or (
        d.said.startswith("InvalidArgumentError: Graph execution error") and "/pfor/" in d.said
    )


@DIFFERS.difference(
    "forward mode fails",
    "Forward mode goes through `tf.function`, `vectorized_map`, `tensor_scatter_nd_max` and "
    "softmax cross entropy also where TensorFlow stops with an internal error, and twice through "
    "what is broadcast, where it runs a function that it has traced for other shapes.",
)
def _forward_fails(d: Found) -> bool:
    if d.program["scenario"]["kind"] not in FORWARD:
        return False
    if d.said.startswith("InvalidArgumentError: Graph execution error:"):
        return d.program["scenario"]["kind"] == "forward_twice" and "_grad/Reshape" in d.said
    return any(d.said.startswith(start) and word in d.ops for start, word in STUMBLES)


@DIFFERS.difference(
    "ctc twice",
    "The second derivative of `ctc_loss` is finite; in forward mode it is a LookupError.",
)
def _ctc_twice(d: Found) -> bool:
    return (
        "ctc_loss" in d.ops
        and d.program["scenario"]["kind"] in TWICE
        and (
            "entry for: CTCLoss" in (raised(d.got) or {}).get("message", "")
            or (bool(np.isnan(numbers(d.expected)).any()) and d.place[:1] > (0,))
        )
    )


@DIFFERS.difference(
    "two errors",
    "Of two derivatives that do not exist (`recompute_grad` twice, an op without a gradient) "
    "the one is named that the sweep meets first; in forward mode it is a LookupError, never "
    "an AttributeError.",
)
def _two_errors(d: Found) -> bool:
    """Both refuse, for two reasons that the program has: which is met first is not promised."""
    error, ours = raised(d.expected), raised(d.got)
    pair = {error["raises"], ours["raises"]} if error and ours else set()
    forward = d.program["scenario"]["kind"] in FORWARD
    return pair == {"NotImplementedError", "LookupError"} or (
        forward and pair == {"AttributeError", "LookupError"}
    )


@DIFFERS.difference(
    "python twice",
    "`tf.py_function` can be differentiated more than once on a persistent tape; TensorFlow "
    "forgets the function (UnknownError).",
)
def _python_twice(d: Found) -> bool:
    return d.said.startswith("UnknownError: ") and "KeyError: b'pyfunc_" in d.said


@DIFFERS.difference(
    "recomputed python",
    "A second derivative through `tf.recompute_grad` of what a `tf.py_function` gave is None; "
    "TensorFlow raises NotImplementedError.",
)
def _recomputed_python(d: Found) -> bool:
    return (
        d.said.startswith("NotImplementedError: recompute_grad tried to transpose")
        and "tf.py_function(" in d.ops
    )
