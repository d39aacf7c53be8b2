"""The documented differences from TensorFlow that random programs meet, as users are told.

`DIFFERS` is what the documentation prints under "Differs from TensorFlow" and what a campaign
counts by name. Each entry recognises itself from the program, the place in its answer and the two
encoded answers there, as narrowly as that allows. Neither library is needed to read this module.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Program = dict[str, Any]
FORWARD = ("jvp", "forward_over_back", "back_over_forward", "forward_twice")


@dataclass(frozen=True)
class Found:
    """A difference: the program, the place in its answer, and what each library has there."""

    program: Program
    place: tuple[int, ...]
    expected: Any
    got: Any
    # What each step of the program gave on gradtape, where that is known.
    values: Callable[[], dict[str, Any]] = dict

    @property
    def said(self) -> str:
        """What TensorFlow said, where it raised an error and gradtape did not, or did so in the
        step that is there to be wrong."""
        error = raised(self.expected)
        wrong = any(step["dtype"] == "error" for step in self.program["steps"])
        ours = raised(self.got)
        silent = not ours or wrong or ours["raises"] in ("NotImplementedError", "LookupError")
        return f"{error['raises']}: {error['message']}" if error and silent else ""

    @property
    def numeric(self) -> bool:
        """Whether both have numbers there, as many and of the same shape."""
        pair = numbers(self.expected), numbers(self.got)
        return pair[0].size > 0 and pair[0].shape == pair[1].shape

    @property
    def ops(self) -> str:
        return text(self.program)


@dataclass(frozen=True)
class Known:
    """A documented difference: its name, the sentence for users, how to recognise it."""

    name: str
    sentence: str
    explains: Callable[[Found], bool]


def name(
    program: Program,
    place: tuple[int, ...],
    expected: Any,
    got: Any,
    values: Callable[[], dict[str, Any]] = dict,
) -> str | None:
    """The documented difference that this one is, or None."""
    found = Found(program, place, expected, got, values)
    return next((known.name for known in DIFFERS if known.explains(found)), None)


def text(program: Program) -> str:
    """All expressions of the program."""
    return "\n".join(step["op"] for step in program["steps"])


def raised(answer: Any) -> Any:
    return answer if isinstance(answer, dict) and "raises" in answer else None


def none(answer: Any) -> bool:
    return answer is None


# --------------------------------------------------------------------------------- recognition


KERNELS = (
    "No OpKernel was registered",
    "is not in the list of allowed values",
    "not in list of allowed values",
    "CPU implementations do not yet support",
    "Unhandled input dimensions",
    "Gradients for grouped convolutions are not supported on CPU",
    "Attr 'padding' of 'MaxPoolGradGrad' Op passed string 'EXPLICIT'",
)


def _no_kernel(d: Found) -> bool:
    said = d.said
    return said.startswith(("NotFoundError: Could not find device", "UnimplementedError:")) or (
        any(words in said for words in KERNELS)
    )


def _not_registered(d: Found) -> bool:
    words = ("gradient registry has no entry", "No gradient defined for operation")
    sparse = "NotImplementedError: Gradient for SparseDenseCwiseAdd is not implemented."
    return (
        (d.said.startswith("LookupError: ") and any(word in d.said for word in words))
        or d.said == "ValueError: Gradient not defined for fast=False"
        or (d.said.startswith("NotImplementedError: ") and sparse in d.said)
    )


def _resized_twice(d: Found) -> bool:
    return (
        none(d.expected)
        and "tf.image.resize" in d.ops
        and d.program["scenario"]["kind"] in TWICE
        and d.place[0] == 2
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


def _python_twice(d: Found) -> bool:
    return d.said.startswith("UnknownError: ") and "KeyError: b'pyfunc_" in d.said


def _rows_in_user_code(d: Found) -> bool:
    starts = (
        "TypeError: unsupported operand",
        "TypeError: in user code:",
        "AttributeError: 'IndexedSlices'",
    )
    if d.said.startswith("TypeError: Cannot convert the argument `type_value`: None"):
        return "gather_nd" in d.ops
    return d.said.startswith(starts) and "IndexedSlices'" in d.said


def _rows_or_dense(d: Found) -> bool:
    """One side has rows, the other a tensor; or rows of rows. Their sums are equal."""
    pair = [summed(side, False) for side in (d.expected, d.got)]
    dicts = [side for side in pair if isinstance(side, dict) and "tensor" in side]
    if pair == [d.expected, d.got] or len(dicts) < 2:
        return False
    wanted, found = (np.asarray(_floats(side["value"]), np.float64) for side in pair)
    return wanted.shape == found.shape and np.allclose(wanted, found, 1e-4, 1e-6, equal_nan=True)


def _late(d: Found) -> bool:
    """The gradient of a tensor that was watched only after a recorded op had used it."""
    scenario = d.program["scenario"]
    if scenario["kind"] not in ("gradient", "persistent") or len(d.place) != 2 or not d.place[0]:
        return False
    sources = scenario["queries"][d.place[0] - 1]["sources"]
    if d.place[1] >= len(sources):
        return False
    source = sources[d.place[1]]
    first = min((i for i, s in enumerate(d.program["steps"]) if source in s["of"]), default=99)
    return any(at > first and name == source for at, name in scenario["watch"])


def _slope_of_itself(d: Found) -> bool:
    """A source that is also a target, among others."""
    queries = d.program["scenario"]["queries"]
    if len(d.place) != 2 or not 0 < d.place[0] <= len(queries):
        return False
    query = queries[d.place[0] - 1]
    if d.place[1] >= len(query["sources"]):  # the answer has another length: not this difference
        return False
    zeros = "unconnected" in query and d.numeric and not numbers(d.expected).any()
    itself = query["sources"][d.place[1]] in query["targets"]
    return itself and len(query["targets"]) > 1 and (none(d.expected) or zeros)


def _complex_infinities(d: Found) -> bool:
    """Numbers that are not finite on either side, in a program with complex numbers."""
    dtypes = str([part["dtype"] for part in d.program["steps"]])
    if "complex" not in dtypes and "tf.signal." not in d.ops:
        return False
    if not all(isinstance(side, dict) and "value" in side for side in (d.expected, d.got)):
        return False
    wanted, found = (np.asarray(_floats(side["value"]), np.float64) for side in (d.expected, d.got))
    if wanted.shape != found.shape or wanted.dtype.kind != "f":
        return False
    if "complex" in d.expected.get("tensor", ""):
        pair = [np.isfinite(side).all(axis=-1) for side in (wanted, found)]
        return bool((pair[0] == pair[1]).all()) and np.allclose(
            wanted[pair[0]], found[pair[0]], 1e-4, 1e-6
        )
    both = np.isfinite(wanted) & np.isfinite(found)
    return (
        np.allclose(wanted[both], found[both], 1e-4, 1e-6)
        and not (np.isfinite(wanted) ^ np.isfinite(found)).any()
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


def _traced(d: Found) -> bool:
    """Both refuse a step of a `tf.function`, TensorFlow while it traces."""
    error, ours = raised(d.expected), raised(d.got)
    if d.program["scenario"]["kind"] not in ("function", "whole"):
        return False
    if not error:
        return _unused(d) if ours else _mapped_nothing(d)
    if "tf.function only supports singleton tf.Variables" in error["message"]:
        return True
    pair = error["raises"], ours["raises"] if ours else ""
    if pair == ("InvalidArgumentError", "NotFoundError"):
        return "No OpKernel was registered" in error["message"]
    return pair in (("ValueError", "InvalidArgumentError"), ("TypeError", "InvalidArgumentError"))


def _untouched(d: Found) -> bool:
    """Only numbers that are nan in TensorFlow, behind a depthwise convolution with nan in it."""
    pair = numbers(d.expected), numbers(d.got)
    if "depthwise_conv2d" not in d.ops and "separable_conv2d" not in d.ops:
        return False
    return d.numeric and _equal(*pair, np.isnan(pair[0]))


def _of_nothing_forward(d: Found) -> bool:
    pair = numbers(d.expected), numbers(d.got)
    return (
        "reduce_logsumexp" in d.ops
        and any(0 in part["shape"] for part in [*d.program["inputs"], *d.program["steps"]])
        and d.program["scenario"]["kind"] in FORWARD
        and d.numeric
        and _equal(*pair, np.isnan(pair[0]) & (pair[1] == 0))
    )


def _equal(wanted: Any, found: Any, but: Any) -> bool:
    return bool(np.all(np.isclose(wanted, found, 1e-4, 1e-6, equal_nan=True) | but))


def numbers(part: Any) -> Any:
    """The numbers of a tensor; of anything else, an array like no other."""
    if not isinstance(part, dict) or "value" not in part:
        return np.zeros((0, 0, 0, 0, 0, 0, 0))
    return np.asarray(_floats(part["value"]), dtype=np.float64)


SORTING = ("tf.sort(", "numpy.sort(", "tf.argsort(", "tf.nn.top_k(", "in_top_k", "searchsorted")


def _nan_sorted(d: Found) -> bool:
    """A step sorts something with nan in it."""
    steps = [s for s in d.program["steps"] if any(word in s["op"] for word in SORTING)]
    if not steps or not d.numeric:
        return False
    values = d.values()
    sorted_ = [values[name] for step in steps for name in step["of"] if name in values]
    return any(value.dtype.kind == "f" and np.isnan(value).any() for value in sorted_)


def _operands(d: Found, word: str) -> list[Any]:
    """The numbers that steps with this word in their expression are given."""
    steps = [step for step in d.program["steps"] if word in step["op"]]
    values = d.values() if steps else {}
    return [values[name] for step in steps for name in step["of"] if name in values]


def _erf_of_infinity(d: Found) -> bool:
    given = _operands(d, "tf.math.erf({0})") if d.numeric else []
    return any(np.isinf(value).any() for value in given)


def _sign_of_zero(d: Found) -> bool:
    """Infinities of another sign behind relu of -0.0."""
    if "tf.nn.relu" not in d.ops or not d.numeric:
        return False
    pair = numbers(d.expected), numbers(d.got)
    return _equal(*pair, np.isinf(pair[0]) & (pair[0] == -pair[1]))


def _assigned(d: Found) -> bool:
    """A step is given what `assign` returned: casts it to its dtype, recomputes, or is a graph."""
    steps = {step["to"]: step for step in d.program["steps"]}
    made = {name for name, step in steps.items() if step["op"].startswith("{0}.assign")}
    users = [step for step in steps.values() if made & set(step["of"])]
    if d.numeric:
        casts = [step for step in users if step["op"] == "tf.cast({0}, {to})"]
        return any(steps[step["of"][0]]["dtype"] == step["dtype"] for step in casts)
    if d.said.startswith("TypeError: Can not convert a NoneType into a Tensor"):
        return any("tf.function(" in step["op"] for step in users)
    message = (raised(d.got) or {}).get("message", "")
    return "recompute_grad tried to transpose" in message and any(
        "recompute_grad" in step["op"] for step in users
    )


def _nan_in_matrix(d: Found) -> bool:
    return any(not np.isfinite(value).all() for value in _operands(d, "tf.linalg."))


def _pool_of_nan(d: Found) -> bool:
    given = _operands(d, "max_pool") if d.numeric else []
    return any(not np.isfinite(value).all() for value in given)


def _segment_of_nan(d: Found) -> bool:
    words = ("segment_max", "segment_min") if d.numeric else ()
    return any(np.isnan(value).any() for word in words for value in _operands(d, word))


def _igamma_far_out(d: Found) -> bool:
    given = _operands(d, "tf.math.igamma") if d.numeric else []
    return any(np.nanmax(np.abs(value), initial=0.0) > 1e6 for value in given)


def _below_zero(d: Found) -> bool:
    """A negative number is cast to an unsigned dtype."""
    values = d.values() if d.numeric else {}
    casts = [step for step in d.program["steps"] if step["op"] == "tf.cast({0}, {to})"]
    given = [values.get(step["of"][0]) for step in casts if step["dtype"].startswith("uint")]
    return any(value is not None and (value < 0).any() for value in given)


def _turned_in_jacobian(d: Found) -> bool:
    kinds = ("jacobian", "batch_jacobian", "hessian")
    rolled = "axis=[-1])" in d.ops and "tf.roll" in d.ops
    return d.program["scenario"]["kind"] in kinds and rolled and d.numeric and d.place[0] > 0


TWICE = ("second", "penalty", "hessian", *FORWARD)


def _nan_twice(d: Found, word: str) -> bool:
    """A second derivative that is nan in TensorFlow only, behind a step with this word."""
    if word not in d.ops or d.program["scenario"]["kind"] not in TWICE or not d.numeric:
        return False
    wanted, found = numbers(d.expected), numbers(d.got)
    return d.place[0] > 0 and _equal(wanted, found, np.isnan(wanted))


def _product_with_zero(d: Found) -> bool:
    return _nan_twice(d, "segment_prod") and any(
        (value == 0).any() for value in _operands(d, "segment_prod")
    )


def _running_twice(d: Found) -> bool:
    return _nan_twice(d, "cumulative_logsumexp")


REMAINDERS = ("mod({0}, {1})", "{0} % {1}")

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


def _forward_fails(d: Found) -> bool:
    if d.program["scenario"]["kind"] not in FORWARD:
        return False
    return any(d.said.startswith(start) and word in d.ops for start, word in STUMBLES)


def _tangent_of_constant(d: Found) -> bool:
    """Tangents that are nan in TensorFlow and infinite here, or behind a remainder of x by 0, which
    has a finite slope in x only."""
    if d.program["scenario"]["kind"] not in FORWARD or not d.numeric or not d.place[0]:
        return False
    wanted, found = numbers(d.expected), numbers(d.got)
    by_zero = any((value == 0).any() for word in REMAINDERS for value in _operands(d, word))
    return _equal(wanted, found, np.isnan(wanted) & (np.isinf(found) | by_zero))


def _ctc_twice(d: Found) -> bool:
    return (
        "ctc_loss" in d.ops
        and d.program["scenario"]["kind"] in TWICE
        and (
            "CTCLossGrad" in (raised(d.got) or {}).get("message", "")
            or (bool(np.isnan(numbers(d.expected)).any()) and len(d.place) > 1)
        )
    )


def _two_errors(d: Found) -> bool:
    """Both refuse, for two reasons that the program has: which is met first is not promised."""
    error, ours = raised(d.expected), raised(d.got)
    pair = {error["raises"], ours["raises"]} if error and ours else set()
    forward = d.program["scenario"]["kind"] in FORWARD
    return pair == {"NotImplementedError", "LookupError"} or (
        forward and pair == {"AttributeError", "LookupError"}
    )


def _not_vectorized(d: Found) -> bool:
    start = "ValueError: Encountered an exception while vectorizing the jacobian"
    return d.said.startswith(start) or (
        d.said.startswith("InvalidArgumentError: Graph execution error") and "/pfor/" in d.said
    )


def _staged(d: Found) -> bool:
    error, ours = raised(d.expected), raised(d.got)
    if not error or error["raises"] != "StagingError":
        return False
    missing = "LookupError: gradient registry has no entry" in error["message"]
    return missing if not ours else ours["raises"] in error["message"]


DIFFERS = [
    Known(
        "no kernel",
        "A derivative or a dtype for which TensorFlow's CPU has no kernel, and raises "
        "NotFoundError or UnimplementedError, is computed.",
        _no_kernel,
    ),
    Known(
        "not registered",
        "A derivative that TensorFlow does not have is given: LookupError there, or ValueError for "
        "`lstsq(fast=False)` and NotImplementedError for `tf.sparse.softmax` twice.",
        _not_registered,
    ),
    Known(
        "resized twice",
        "The second derivative through a bilinear `tf.image.resize` is given; TensorFlow says "
        "None.",
        _resized_twice,
    ),
    Known(
        "not traced",
        "`tf.function` runs the Python function itself: a wrong shape or dtype in it is the "
        "InvalidArgumentError of eager code, not the ValueError or TypeError of tracing, a missing "
        "kernel is a NotFoundError, both also where the result is not used; `map_fn` over no rows "
        "has the shape of eager code; and variables may be made in it.",
        _traced,
    ),
    Known(
        "not staged",
        "An error inside `jacobian` comes as it is, not wrapped in AutoGraph's StagingError.",
        _staged,
    ),
    Known(
        "of nothing",
        "Gradients, tangents and Jacobians of sorting, mirroring or repeating an empty tensor are "
        "empty, not an error.",
        _of_nothing,
    ),
    Known(
        "tangent of nothing",
        "The tangent of `reduce_logsumexp` over no numbers is 0, not nan.",
        _of_nothing_forward,
    ),
    Known(
        "nan among sorted",
        "Sorting takes nan for the greatest number; TensorFlow's order is then arbitrary.",
        _nan_sorted,
    ),
    Known(
        "not vectorized",
        "`jacobian` also takes what TensorFlow cannot vectorize.",
        _not_vectorized,
    ),
    Known(
        "nan in a matrix",
        "What becomes of a matrix with inf or nan in it in `tf.linalg` follows LAPACK: all nan, or "
        "InvalidArgumentError.",
        _nan_in_matrix,
    ),
    Known(
        "nan in a pool",
        "In a max pool nan is greater than nothing, and the slope goes to the greatest number, "
        "also if it is inf; TensorFlow's results and slopes are arbitrary then.",
        _pool_of_nan,
    ),
    Known(
        "nan in a segment",
        "In a segment's maximum or minimum what does not beat the next row gives way to it; "
        "with nan TensorFlow's hangs on the number of columns.",
        _segment_of_nan,
    ),
    Known(
        "igamma far out",
        "`igamma` and `igammac` of arguments beyond a million are accurate.",
        _igamma_far_out,
    ),
    Known(
        "below zero",
        "A cast of negative numbers to an unsigned dtype wraps around; TensorFlow's is undefined.",
        _below_zero,
    ),
    Known(
        "roll in a jacobian",
        "The Jacobian of `tf.roll` along a negative axis rolls that axis; TensorFlow's "
        "vectorization rolls another.",
        _turned_in_jacobian,
    ),
    Known(
        "product with zero",
        "The second derivative of a segment's product with one zero in it is finite, not nan.",
        _product_with_zero,
    ),
    Known(
        "running twice",
        "The second derivative of `cumulative_logsumexp` is finite where TensorFlow's is nan: in "
        "forward mode, and of an exclusive one whose first result, -inf, is not used.",
        _running_twice,
    ),
    Known(
        "forward mode fails",
        "Forward mode goes through `tf.function`, `vectorized_map`, `tensor_scatter_nd_max` and "
        "softmax cross entropy also where TensorFlow stops with an internal error.",
        _forward_fails,
    ),
    Known(
        "tangent of a constant",
        "In forward mode an operand without a tangent adds nothing; in TensorFlow it adds 0 times "
        "its slope, which is nan where that is infinite (the tangents of 1 / x and of y % x at 0).",
        _tangent_of_constant,
    ),
    Known(
        "ctc twice",
        "The second derivative of `ctc_loss` is finite; in forward mode it is a LookupError.",
        _ctc_twice,
    ),
    Known(
        "two errors",
        "Of two derivatives that do not exist (`recompute_grad` twice, an op without a gradient) "
        "the one is named that the sweep meets first; in forward mode it is a LookupError, never "
        "an AttributeError.",
        _two_errors,
    ),
    Known(
        "erf of infinity",
        "In float64 `erf` of an infinity is 1 or -1, not nan.",
        _erf_of_infinity,
    ),
    Known(
        "sign of zero",
        "`relu(-0.0)` is 0.0; in TensorFlow the sign hangs on the size of the tensor.",
        _sign_of_zero,
    ),
    Known(
        "assigned",
        "`assign` returns the variable itself, so `tf.cast` of that to its own dtype is the "
        "variable, not a copy of its value, and `recompute_grad` and `tf.function` take it as the "
        "variable.",
        _assigned,
    ),
    Known(
        "untouched pixels",
        "In the slopes of a depthwise convolution inf and nan stay with the pixels whose windows "
        "hold them; TensorFlow spreads them.",
        _untouched,
    ),
    Known(
        "python twice",
        "`tf.py_function` can be differentiated more than once on a persistent tape; TensorFlow "
        "forgets the function (UnknownError).",
        _python_twice,
    ),
    Known(
        "rows in a formula",
        "Custom gradients and forward mode calculate with dense tensors where TensorFlow hands "
        "them `IndexedSlices` and fails (TypeError, AttributeError).",
        _rows_in_user_code,
    ),
    Known(
        "rows or dense",
        "Gradients that arrive at one tensor as rows of rows are one `IndexedSlices` or a tensor "
        "with the same sum.",
        _rows_or_dense,
    ),
    Known(
        "late watch",
        "A tensor is followed from `watch` on: ops that used it before do not count, where "
        "TensorFlow counts those that were recorded for the sake of another operand.",
        _late,
    ),
    Known(
        "slope of itself",
        "A target that is not followed has slope 1 with respect to itself, also where an op with "
        "a followed operand has used it; TensorFlow says None then.",
        _slope_of_itself,
    ),
    Known(
        "complex infinities",
        "Which parts of a complex number that is not finite are inf or nan follows NumPy's "
        "arithmetic, also inside of `tf.signal`.",
        _complex_infinities,
    ),
]
NAMES = tuple(known.name for known in DIFFERS)


# ------------------------------------------------------------------------------------- slices


def summed(answer: Any, told: bool = True) -> Any:
    """The answer with the rows of slices summed up, still told apart from tensors or not."""
    if isinstance(answer, list):
        return [summed(item, told) for item in answer]
    if not isinstance(answer, dict):
        return answer
    if "tuple" in answer:
        return {"tuple": [summed(item, told) for item in answer["tuple"]]}
    if "rows" in answer:  # summed up before
        return answer if told else answer["rows"]
    if "slices" not in answer or not answer["slices"]["dense_shape"]:
        return answer
    values, indices, shape = (answer["slices"][k] for k in ("values", "indices", "dense_shape"))
    values = summed(values, False)
    if not all("value" in part for part in (values, indices, shape)):
        return answer
    given = np.asarray(_floats(values["value"]), np.float64)
    # A complex number is a pair.
    pairs = given.shape[len(values["shape"]) :] if given.size else ()
    given = np.reshape(given, (*values["shape"], *pairs))
    rows = np.zeros((*shape["value"], *pairs))
    np.add.at(rows, np.array(indices["value"], dtype=np.int64), given)
    tensor = {**values, "shape": shape["value"], "value": _plain(rows)}
    return {"rows": tensor} if told else tensor


def _plain(rows: Any) -> Any:
    return [_plain(row) for row in rows] if rows.ndim else str(float(rows))


def _floats(value: Any) -> Any:
    return [_floats(item) for item in value] if isinstance(value, list) else float(value)
