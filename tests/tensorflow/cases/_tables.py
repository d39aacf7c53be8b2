"""One line for each public function: an example of its arguments and what may be given beside.

From a line follow its cases in the families `arguments` (all keyword arguments), `argument_dtypes`,
`argument_shapes` and `bad_arguments`. It holds no cases of its own.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.tensorflow import functions
from tests.tensorflow.cases._common import fill, grads, named, slopes, tensor

DTYPES = [
    "float16",
    "bfloat16",
    "float32",
    "complex64",
    "complex128",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "bool",
    "string",
]
PARAMETERS = functions.read()


@dataclass(frozen=True)
class X:
    """An operand of the dtype under test; `form` shapes the numbers, such as `positive`."""

    shape: tuple[int, ...] = (2, 3)
    low: float = -2.0
    high: float = 2.0
    seed: int = 0
    form: Callable[[Any], Any] | None = None

    def of(self, tf: Any, dtype: str) -> Any:
        if dtype in ("bool", "string") or "int" in dtype:
            counted = np.arange(np.prod(self.shape, dtype=int)).reshape(self.shape)
            whole = (counted + self.seed) % 5 + 1
            if dtype == "string":
                return tf.constant(whole.astype(str), shape=self.shape)
            return tensor(tf, whole % 2 if dtype == "bool" else whole, dtype)
        array = fill(self.shape, self.low, self.high, self.seed)
        return tensor(tf, array if self.form is None else self.form(array), dtype)

    def like(self, shape: tuple[int, ...]) -> X:
        return X(shape, self.low, self.high, self.seed)


@dataclass(frozen=True)
class Of:
    """An argument that only the module can make, such as a sparse tensor."""

    make: Callable[[Any], Any]


@dataclass(frozen=True)
class Row:
    """A function, the arguments that it always gets, and what is given beside or instead."""

    name: str
    args: dict[str, Any]
    variants: list[dict[str, Any]] = field(default_factory=list)
    order: int = 2
    view: Callable[[Any, Any], Any] | None = None  # of an answer that is not unique
    dtype: str = ""  # of a function that takes no fractions

    @property
    def operands(self) -> list[str]:
        return [key for key, value in self.args.items() if any(_operands(value))]

    @property
    def parameters(self) -> list[str]:
        return [name for name in PARAMETERS[self.name] if name != "name" and name[0] != "*"]


def _operands(value: Any) -> Iterator[X]:
    if isinstance(value, X):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _operands(item)


def materialise(tf: Any, value: Any, dtype: str, found: list[Any]) -> Any:
    """The value with tensors in the place of its operands, which are collected too."""
    if isinstance(value, X):
        found.append(value.of(tf, dtype))
        return found[-1]
    if isinstance(value, Of):
        return value.make(tf)
    if isinstance(value, list | tuple) and any(_operands(value)):
        return type(value)(materialise(tf, item, dtype, found) for item in value)
    return value


def ask(tf: Any, row: Row, given: dict[str, Any], dtype: str, order: int) -> Any:
    """The answer to a call: the value and, of floating dtypes, the gradients up to the order."""
    found: list[Any] = []
    made = {key: materialise(tf, value, dtype, found) for key, value in given.items()}
    inputs = made.pop("*", [])
    function = named(tf, row.name)

    def call(*inputs: Any, **made: Any) -> Any:
        answer = function(*inputs, **made)
        return answer if row.view is None else row.view(tf, answer)

    if order == 0:
        return call(*inputs, **made)
    whole: list[Any] = []

    def sloped(*_: Any) -> Any:
        whole[:] = [call(*inputs, **made)]
        parts = [part for part in tf.nest.flatten(whole[0]) if slopes(tf, part)]
        return parts if isinstance(whole[0], list | tuple) else whole[0]

    _, *slopes_of = grads(tf, sloped, *found, order=order)
    return whole[0], *slopes_of


# ------------------------------------------------------------------------------------- kinds
ROWS: dict[str, Row] = {}


def row(name: str, *variants: dict[str, Any], order: int = 2, **args: Any) -> None:
    if "star" in args:
        args["*"] = args.pop("star")
    view = args.pop("view", None)
    dtype = args.pop("of", "")
    ROWS[name] = Row(name, args, list(variants), order, view, dtype)


def spread(**options: list[Any]) -> list[dict[str, Any]]:
    """Each option alone, then each of its values with one value of the others."""
    alone = [{key: value} for key, values in options.items() for value in values]
    pairs = itertools.combinations(options, 2)
    return alone + [{a: options[a][-1], b: options[b][-1]} for a, b in pairs]


def unary(names: str, low: float = -2.0, high: float = 2.0, of: str = "") -> None:
    for name in names.split():
        row(name, of=of, **{PARAMETERS[name][0]: X((2, 3), low, high)})


def binary(names: str, low: float = -2.0, high: float = 2.0, of: str = "") -> None:
    for name in names.split():
        a, b = PARAMETERS[name][:2]
        wide, column = X((2, 3), low, high, 1), X((2, 1), low, high, 2)
        row(
            name,
            {b: wide},
            {a: column},
            of=of,
            **{a: X((2, 3), low, high), b: X((3,), low, high, 1)},
        )


def reduction(
    names: str, low: float = -2.0, high: float = 2.0, of: str = "", **more: list[Any]
) -> None:
    axes = [0, -1, [0, 2], (-1, 0), [], np.int64(1), np.array([0, 1])]
    for name in names.split():
        options = spread(axis=axes, keepdims=[True], **more)
        row(name, *options, of=of, **{PARAMETERS[name][0]: X((2, 1, 3), low, high)})


def positive(a: Any) -> Any:
    """Symmetric matrices with eigenvalues of 1 at least."""
    return np.round(a @ np.swapaxes(a, -1, -2) + np.eye(a.shape[-1]), 3)


def symmetric(a: Any) -> Any:
    return np.round(a + np.swapaxes(a, -1, -2), 3)


def lower(a: Any) -> Any:
    return np.tril(a) + 2.0 * np.eye(a.shape[-1])


def _sorted(tf: Any, y: Any) -> Any:
    return tf.sort(tf.math.real(y))


def _described(tf: Any, y: Any) -> Any:
    """Of random numbers that are others in gradtape."""
    return y.shape, y.dtype


def rising(a: Any) -> Any:
    return np.sort(a, axis=-1)


# -------------------------------------------------------------------------------- elementwise
unary("abs asinh atan cos cosh exp sin sinh tanh square negative sign floor round sigmoid identity")
unary("math.ceil math.rint math.erf math.erfc math.expm1 math.bessel_i0 math.bessel_i0e")
unary("math.bessel_i1 math.bessel_i1e math.log_sigmoid math.conj math.real math.imag math.angle")
unary("math.is_nan math.is_inf math.is_finite math.softplus math.softsign stop_gradient")
unary("nn.relu nn.relu6 nn.elu nn.selu nn.l2_loss math.zero_fraction zeros_like ones_like rank")
unary("is_tensor math.is_non_decreasing math.is_strictly_increasing")
unary("logical_not", of="bool")
unary("bitwise.invert", of="int32")
unary("acos asin atanh math.erfinv", -0.9, 0.9)
unary("acosh", 1.1, 3)
unary("math.digamma math.lgamma math.log sqrt math.rsqrt math.reciprocal", 0.5, 3)
unary("math.reciprocal_no_nan math.lbeta", 0.5, 3)
unary("math.log1p", -0.9, 2)
unary("math.ndtri math.erfcinv", 0.1, 0.9)
unary("tan", -1.2, 1.2)
binary("add subtract multiply maximum minimum atan2 math.squared_difference math.nextafter")
binary("divide realdiv truediv math.divide_no_nan math.floordiv math.floormod", 0.5, 3)
binary(
    "truncatediv truncatemod math.multiply_no_nan pow math.xdivy math.xlogy math.xlog1py", 0.5, 3
)
binary("math.igamma math.igammac", 0.5, 3)
binary("equal not_equal greater greater_equal less less_equal")
binary("logical_and logical_or math.logical_xor", of="bool")
binary("bitwise.bitwise_and bitwise.bitwise_or bitwise.bitwise_xor", of="int32")
binary("bitwise.left_shift bitwise.right_shift", 1, 3, of="int32")
binary("math.zeta", 1.5, 4)
row("math.polygamma", {"a": 0.0}, a=1.0, x=X((3,), 0.5, 3))
row("math.betainc", a=X((3,), 0.5, 3), b=X((3,), 0.5, 3, 1), x=X((3,), 0.1, 0.9, 2))
row("complex", real=X((3,)), imag=X((3,), seed=1))
row("scalar_mul", {"scalar": X(())}, scalar=2.0, x=X())
row("add_n", {"inputs": [X()]}, {"inputs": (X(), X(seed=1), X(seed=2))}, inputs=[X(), X(seed=1)])
row("math.accumulate_n", {"shape": [2, 3]}, {"tensor_dtype": "float64"},
    {"shape": [3, 2]}, inputs=[X(), X(seed=1)])  # fmt: skip
row("math.polyval", {"coeffs": [2.0, 0.5]}, {"coeffs": [X((3,))]}, {"coeffs": []},
    coeffs=[X((3,)), X((3,), seed=1), X((3,), seed=2)], x=X((3,), seed=3))  # fmt: skip
row("clip_by_value", {"clip_value_min": X((3,), -2, -1)}, {"clip_value_max": X((3,), 1, 2)},
    {"clip_value_min": 2, "clip_value_max": 1}, t=X(), clip_value_min=-1,
    clip_value_max=1)  # fmt: skip
row("clip_by_norm", {"axes": 0}, {"axes": [1]}, {"axes": [0, 1]}, {"clip_norm": 100.0},
    {"clip_norm": X(())}, t=X(), clip_norm=1.0)  # fmt: skip
row("clip_by_global_norm", {"use_norm": 2.0}, {"use_norm": X((), 1, 2)}, {"clip_norm": 100.0},
    {"t_list": [X(), None]}, t_list=[X(), X((3,), seed=1)], clip_norm=1.0)  # fmt: skip
row("linalg.global_norm", {"t_list": [X(), None]}, t_list=[X(), X((3,), seed=1)])
row("cast", *[{"dtype": d} for d in (*DTYPES, "float64", "uint64")], order=1,
    x=X((2, 3), 0.5, 3), dtype="float32")  # fmt: skip
row("saturate_cast", *[{"dtype": d} for d in DTYPES[:-2]], order=1,
    value=X((4,), -300, 300), dtype="int8")  # fmt: skip
row("bitcast", {"type": "int32"}, {"type": "uint8"}, {"type": "complex128"}, {"type": "float64"},
    order=0, input=X((2, 2)), type="int64")  # fmt: skip

# --------------------------------------------------------------------------------- reductions
reduction("reduce_sum reduce_mean reduce_max reduce_min reduce_logsumexp")
reduction("reduce_all reduce_any", of="bool")
reduction("math.reduce_std math.reduce_variance math.reduce_euclidean_norm")
reduction("reduce_prod", 0.5, 2)
reduction("math.count_nonzero", dtype=["int32", "float32", "uint8"])
for _name in ("argmax", "argmin"):
    row(_name, *spread(axis=[1, -1, 0, 2], output_type=["int32", "uint16", "int16", "float32"]),
        input=X((2, 3)))  # fmt: skip
for _name in ("cumsum", "math.cumprod", "math.cumulative_logsumexp"):
    row(_name, *spread(axis=[1, -1, 2], exclusive=[True], reverse=[True]), x=X((2, 3), 0.5, 2))
for _name in ("softmax", "log_softmax"):
    row(f"math.{_name}", *spread(axis=[0, 1, -1, 2]), logits=X())
for _name in ("max", "mean", "min", "prod", "sum"):
    row(f"math.segment_{_name}", {"segment_ids": [0, 0, 0]}, {"segment_ids": [0, 2, 2]},
        {"segment_ids": [1, 0, 0]}, {"segment_ids": [0, 1]},
        data=X((3, 2)), segment_ids=[0, 0, 1])  # fmt: skip
for _name in ("max", "mean", "min", "prod", "sqrt_n", "sum"):
    row(f"math.unsorted_segment_{_name}", {"num_segments": 3}, {"segment_ids": [1, -1, 0]},
        {"segment_ids": [0, 5, 1]}, {"num_segments": 0}, {"segment_ids": [[0, 1], [1, 0], [0, 0]]},
        data=X((3, 2)), segment_ids=[1, 0, 1], num_segments=2)  # fmt: skip
row("math.bincount",
    *spread(weights=[[0.5, 1.0, 2.0, 0.25]], minlength=[6], maxlength=[2], dtype=["int64"],
            axis=[0, -1], binary_output=[True]), {"arr": [[0, 1], [2, 2]], "axis": -1},
    {"arr": []}, arr=[1, 0, 3, 1])  # fmt: skip
row("math.confusion_matrix", *spread(num_classes=[4], weights=[[0.5, 1.0, 2.0]], dtype=["float64"]),
    labels=[0, 1, 2], predictions=[0, 2, 2])  # fmt: skip
row("norm", *spread(ord=[1, 2, 3.5, np.inf, "fro"], axis=[0, -1, [0, 1], (1, 2)], keepdims=[True]),
    {"ord": 2, "axis": [-2, -1]}, {"ord": 1, "axis": [0, 1]}, tensor=X((2, 3, 2)))  # fmt: skip
row("linalg.normalize", *spread(ord=[1, 2, np.inf, "euclidean"], axis=[0, -1, [0, 1]]), tensor=X())
row("linalg.l2_normalize", *spread(axis=[0, -1, [0, 1]], epsilon=[0.5, 100.0], dim=[1]), x=X())
row("math.top_k", *spread(k=[0, 2, 3, 4], sorted=[False], index_type=["int16", "int64"]), input=X())
row("math.in_top_k", {"k": 1}, {"k": 0}, {"targets": [5, 0]}, targets=[2, 0], predictions=X(), k=2,
    order=0)  # fmt: skip
row("sort", *spread(axis=[0, -1, -2], direction=["DESCENDING"]), values=X())
row("argsort", *spread(axis=[0, -1, -2], direction=["DESCENDING"], stable=[True]), values=X(),
    order=0)  # fmt: skip
row("searchsorted", *spread(side=["right"], out_type=["int64"]),
    sorted_sequence=X((4,), form=rising), values=X((3,), seed=1))  # fmt: skip
row("unique", *spread(out_idx=["int64"]), x=X((4,)))
row("unique_with_counts", *spread(out_idx=["int64"]), x=X((4,)))

# ------------------------------------------------------------------------------------- shapes
row("reshape", {"shape": [-1]}, {"shape": [3, -1]}, {"shape": (6, 1)}, {"shape": 6},
    {"shape": [-1, -1]}, {"shape": [4]}, {"shape": np.array([3, 2])}, tensor=X(),
    shape=[3, 2])  # fmt: skip
row("transpose", *spread(perm=[[1, 0, 2], [2, 1, 0], (0, 2, 1)], conjugate=[True]), a=X((2, 1, 3)))
row("linalg.matrix_transpose", *spread(conjugate=[True]), a=X((2, 2, 3)))
row("linalg.adjoint", matrix=X((2, 2, 3)))
row("expand_dims", *spread(axis=[1, -1, 2, 3, -4]), input=X(), axis=0)
row("squeeze", *spread(axis=[0, -1, [0, 2], [], 1]), input=X((1, 3, 1)))
row("concat", {"axis": 1}, {"axis": -1}, {"values": [X((1, 3))]}, {"values": [X(), X((1, 3))]},
    {"values": []}, values=[X(), X(seed=1)], axis=0)  # fmt: skip
row("stack", *spread(axis=[1, -1, -3, 2, 3]), {"values": X()}, values=[X(), X(seed=1)])
row("unstack", *spread(axis=[1, -1], num=[2, 3]), value=X())
row("split", *spread(num_or_size_splits=[3, [1, 2], [1, -1], [3]], axis=[-1], num=[2]),
    {"axis": 0, "num_or_size_splits": 2}, value=X(), num_or_size_splits=3, axis=1)  # fmt: skip
row("tile", {"multiples": [1, 0]}, {"multiples": (3, 1)}, {"multiples": [2]}, input=X(),
    multiples=[2, 2])  # fmt: skip
row("repeat", {"axis": 0}, {"axis": 1}, {"repeats": [1, 2], "axis": 0}, {"repeats": 0},
    {"repeats": [1, 2, 3, 1, 0, 1]}, input=X(), repeats=2)  # fmt: skip
row("reverse", {"axis": [0]}, {"axis": [0, -1]}, {"axis": []}, {"axis": [5]}, tensor=X(), axis=[1])
row("reverse_sequence", {"seq_axis": 0, "batch_axis": 1, "seq_lengths": [1, 2, 0]},
    {"batch_axis": 0}, {"seq_lengths": [1, 4]}, {"seq_lengths": [1]}, {"seq_axis": 0},
    input=X(), seq_lengths=[3, 2], seq_axis=1)  # fmt: skip
row("roll", {"shift": [1, -1], "axis": [0, 1]}, {"shift": -2}, {"axis": 0}, input=X(), shift=1,
    axis=1)  # fmt: skip
row("pad", *spread(mode=["REFLECT", "SYMMETRIC", "reflect", "EDGE"], constant_values=[3, 1.5]),
    {"paddings": [[0, 0], [0, 0]]}, {"constant_values": X(())}, tensor=X(),
    paddings=[[1, 0], [1, 2]])  # fmt: skip
row("broadcast_to", {"shape": [2, 3]}, {"shape": [2, 1, 3]}, {"shape": [3]}, {"shape": [2]},
    input=X((3,)), shape=[2, 3])  # fmt: skip
row("slice", {"size": [-1, 2]}, {"begin": [0, 0]}, {"size": [3, 1]}, {"size": [0, 0]}, input_=X(),
    begin=[0, 1], size=[2, 2])  # fmt: skip
row("strided_slice", {"strides": [1, 2]}, {"begin_mask": 2}, {"end_mask": 3},
    {"ellipsis_mask": 1}, {"new_axis_mask": 1}, {"new_axis_mask": 2}, {"shrink_axis_mask": 1},
    {"shrink_axis_mask": 3}, {"strides": [1, -1], "begin": [0, 2], "end": [2, 0]},
    {"strides": [0, 1]}, {"ellipsis_mask": 2, "new_axis_mask": 1}, input_=X(), begin=[0, 1],
    end=[2, 3])  # fmt: skip
row("meshgrid", {"indexing": "ij"}, {"indexing": "xx"}, star=[X((2,)), X((3,), seed=1)])
row("space_to_batch", {"paddings": [[1, 1], [0, 2]]}, {"block_shape": [1, 1]},
    input=X((1, 2, 2, 1)), block_shape=[2, 2], paddings=[[0, 0], [0, 0]])  # fmt: skip
row("batch_to_space", {"crops": [[0, 1], [1, 0]]}, {"block_shape": [4, 1]},
    input=X((4, 1, 1, 2)), block_shape=[2, 2], crops=[[0, 0], [0, 0]])  # fmt: skip
row("nn.depth_to_space", *spread(data_format=["NCHW"]), {"block_size": 1}, {"block_size": 3},
    input=X((1, 1, 2, 4)), block_size=2)  # fmt: skip
row("nn.space_to_depth", *spread(data_format=["NCHW"]), {"block_size": 1}, {"block_size": 3},
    input=X((1, 2, 4, 1)), block_size=2)  # fmt: skip
row("boolean_mask", {"mask": [True, False, True], "axis": 1}, {"mask": [[True, False, True]] * 2},
    {"mask": [False, False]}, {"axis": 0}, {"mask": [True]}, tensor=X(),
    mask=[True, False])  # fmt: skip
row("ensure_shape", {"shape": [None, 3]}, {"shape": None}, {"shape": [3, 2]}, x=X(), shape=[2, 3])
row("identity_n", input=[X(), X((2,))])
row("shape", *spread(out_type=["int64", "float32"]), input=X())
row("shape_n", *spread(out_type=["int64"]), input=[X(), X((2,))])
row("size", {"out_type": Of(lambda tf: tf.int64)}, input=X())
row("tuple", {"control_inputs": [1.0]}, tensors=[X(), X((2,))])
row("sequence_mask", *spread(maxlen=[5, 1], dtype=["float32", "int64"]), lengths=[1, 3, 0])
row("one_hot", *spread(on_value=[5.0], off_value=[-1.0], axis=[0, 1, -1],
    dtype=["float16", "bool"]),
    {"depth": 0}, {"on_value": X(()), "off_value": X((), seed=1)}, indices=[0, 2, 1, -1, 5],
    depth=3)  # fmt: skip
row("broadcast_dynamic_shape", {"shape_y": [3, 3]}, shape_x=[2, 1], shape_y=[1, 3])
row("broadcast_static_shape", {"shape_y": Of(lambda tf: tf.TensorShape([3, 3]))},
    order=0, shape_x=Of(lambda tf: tf.TensorShape([2, 1])),
    shape_y=Of(lambda tf: tf.TensorShape([1, 3])))  # fmt: skip
row("zeros", *spread(dtype=[*DTYPES]), shape=[2, 3])
row("ones", *spread(dtype=[*DTYPES]), shape=[2, 3])
row("zeros_like", *spread(dtype=["int32", "bool", "string"]), input=X())
row("ones_like", *spread(dtype=["int32", "bool", "string"]), input=X())
row("fill", {"dims": []}, {"dims": 3}, {"dims": [0, 2]}, dims=[2, 3], value=X(()))
row("eye", *spread(num_columns=[3, 1, 0], batch_shape=[[2]], dtype=["int32", "bool", "complex64"]),
    num_rows=2)  # fmt: skip
row("range", {"limit": 5}, {"limit": 5, "delta": 2}, {"limit": -5, "delta": -2}, {"delta": 0},
    {"dtype": "float32"}, {"dtype": "int64"}, {"start": 0.0, "limit": 1.0, "delta": 0.3},
    {"dtype": "bfloat16"}, start=3)  # fmt: skip
row("linspace", *spread(axis=[1, -1, 5], num=[1, 2]), {"num": 0}, start=X((2,)), stop=X((2,), 3, 5),
    num=3)  # fmt: skip
row("constant", *spread(dtype=[*DTYPES], shape=[[2, 1], [2, 2]]), value=[1, 2])
row("convert_to_tensor",
    *spread(dtype=[*DTYPES], dtype_hint=["float64", "string"], preferred_dtype=["float16"]),
    value=[1, 2])  # fmt: skip
row("get_static_value", {"partial": True}, tensor=X())

# ------------------------------------------------------------------------------ picking places
row("gather", *spread(axis=[1, -1], batch_dims=[1], validate_indices=[True]),
    {"indices": [[0, 1], [1, 1]]}, {"indices": [[0, 1], [1, 1]], "batch_dims": 1},
    {"indices": []}, params=X(), indices=[1, 0])  # fmt: skip
row("gather_nd", *spread(batch_dims=[1], bad_indices_policy=["IGNORE", "ERROR", "X"]),
    {"indices": [[1], [0]]}, {"indices": [[5, 0]], "bad_indices_policy": "IGNORE"},
    params=X(), indices=[[1, 2], [0, 0]])  # fmt: skip
row("scatter_nd", {"shape": [5]}, {"indices": [[1], [1], [0]]}, indices=[[1], [3], [0]],
    updates=X((3,)), shape=[4])  # fmt: skip
for _name in ("add", "max", "min", "sub", "update"):
    row(f"tensor_scatter_nd_{_name}", {"indices": [[3], [1]]}, {"indices": [[4], [0]]},
        tensor=X((4,)), indices=[[1], [2]], updates=X((2,), seed=1))  # fmt: skip
row("where", {"x": 0.0}, {"condition": True}, {"x": X((3,)), "y": X((2, 1), seed=1)},
    condition=[[True, False, True]], x=X(), y=X(seed=1))  # fmt: skip
row("dynamic_partition", {"num_partitions": 4}, {"partitions": [1, 5, 0]}, data=X((3, 2)),
    partitions=[1, 0, 1], num_partitions=2)  # fmt: skip
row("dynamic_stitch", {"indices": [[0, 1], [1]]}, {"indices": [0, [2, 1]],
    "data": [X((2,)), X((2, 2))]}, indices=[[0, 2], [1]],
    data=[X((2, 2)), X((1, 2), seed=1)])  # fmt: skip
row("math.invert_permutation", {"x": [0, 0]}, {"x": [0, 5]}, x=[2, 0, 1])
row("nn.embedding_lookup", *spread(max_norm=[0.5, 10.0]), {"ids": [[1], [0]]}, params=X(),
    ids=[1, 0, 1])  # fmt: skip

# ------------------------------------------------------------------------------ linear algebra
_FLAGS = {flag: [True] for flag in ("transpose_a", "transpose_b", "adjoint_a", "adjoint_b")}
row("matmul", *spread(**_FLAGS, a_is_sparse=[True], b_is_sparse=[True], output_type=["float64"]),
    {"a": X((2, 2, 2))}, {"a": X((2, 2, 2)), "b": X((2, 2, 2), seed=1)}, a=X((2, 2)),
    b=X((2, 2), seed=1))  # fmt: skip
row("linalg.matvec", *spread(transpose_a=[True], adjoint_a=[True], a_is_sparse=[True],
    b_is_sparse=[True]), a=X((2, 2)), b=X((2,), seed=1))  # fmt: skip
row("tensordot", {"axes": 0}, {"axes": [[1], [1]]}, {"axes": [[0, 1], [0, 1]]}, {"axes": 2},
    a=X(), b=X((2, 3), seed=1), axes=[[1], [1]])  # fmt: skip
row("einsum", {"equation": "ij,ij->"}, {"equation": "ij,kj"}, {"equation": "...j,...j->..."},
    {"optimize": "optimal"}, star=[X(), X((2, 3), seed=1)], equation="ij,kj->ik")  # fmt: skip
row("linalg.band_part", {"num_lower": -1}, {"num_upper": -1}, {"num_lower": 5}, input=X((3, 3)),
    num_lower=0, num_upper=1)  # fmt: skip
row("linalg.cholesky", {"input": X((2, 2, 2), form=positive)}, input=X((2, 2), form=positive))
row("linalg.cholesky_solve", chol=X((2, 2), form=lower), rhs=X((2, 1), seed=1))
row("linalg.cross", {"a": X((2, 3)), "b": X((2, 3), seed=1)}, a=X((3,)), b=X((3,), seed=1))
for _name in ("det", "slogdet", "expm"):
    row(f"linalg.{_name}", {"input": X((2, 2, 2))}, input=X((2, 2)))
row("linalg.logdet", {"matrix": X((2, 2, 2), form=positive)}, matrix=X((2, 2), form=positive))
row("linalg.sqrtm", {"input": X((2, 2, 2), form=positive)}, input=X((2, 2), form=positive))
row("linalg.logm", input=Of(lambda tf: tf.constant([[2.0, 0.5], [0.25, 3.0]], tf.complex64)))
row("linalg.inv", *spread(adjoint=[True]), {"input": X((2, 2, 2), form=positive)},
    input=X((2, 2), form=positive))  # fmt: skip
row("linalg.pinv", *spread(rcond=[0.5, 1e-3], validate_args=[True]), a=X((2, 3)))
row("linalg.matrix_rank", *spread(tol=[3.0], validate_args=[True]), a=X((2, 3)))
row("linalg.lstsq", *spread(l2_regularizer=[0.5], fast=[False]), matrix=X((3, 2)),
    rhs=X((3, 1), seed=1))  # fmt: skip
row("linalg.lu", *spread(output_idx_type=["int64"]), input=X((2, 2)))
row("linalg.lu_solve", *spread(validate_args=[True]), {"perm": [0, 1]},
    lower_upper=X((2, 2), 0.5, 2), perm=[1, 0], rhs=X((2, 1)))  # fmt: skip
row("linalg.lu_matrix_inverse", *spread(validate_args=[True]), {"perm": [0, 1]},
    lower_upper=X((2, 2), 0.5, 2), perm=[1, 0])  # fmt: skip
row("linalg.qr", *spread(full_matrices=[True]), input=X((3, 2)), order=1)
row("linalg.svd", *spread(full_matrices=[True], compute_uv=[False]), tensor=X((3, 2)), order=1,
    view=lambda tf, y: tuple(map(tf.abs, y)) if isinstance(y, tuple) else y)  # fmt: skip
row("linalg.eigh", tensor=X((2, 2), form=symmetric), order=1,
    view=lambda tf, answer: tuple(map(tf.abs, answer)))  # fmt: skip
row("linalg.eigvalsh", tensor=X((2, 2), form=symmetric))
row("eig", tensor=X((2, 2), form=positive), order=0, view=lambda tf, y: _sorted(tf, y[0]))
row("eigvals", tensor=X((2, 2), form=positive), order=0, view=lambda tf, y: _sorted(tf, y))
row("linalg.solve", *spread(adjoint=[True]), matrix=X((2, 2), form=positive),
    rhs=X((2, 1), seed=1))  # fmt: skip
row("linalg.triangular_solve", *spread(lower=[False], adjoint=[True]), matrix=X((2, 2), form=lower),
    rhs=X((2, 1), seed=1))  # fmt: skip
_DIAG = {"k": [1, -1, (-1, 1), [0, 1]], "align": ["LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT", "X"]}
row("linalg.diag", *spread(k=[1, -1], num_rows=[3, 4], num_cols=[4], padding_value=[9]),
    {"diagonal": X((2, 3)), "k": (0, 1)}, {"diagonal": X((2, 3)), "k": (0, 1),
    "align": "LEFT_LEFT"}, diagonal=X((3,)))  # fmt: skip
row("linalg.diag_part", *spread(**_DIAG, padding_value=[9]),
    {"k": (-1, 1), "align": "LEFT_LEFT", "padding_value": 7}, input=X((3, 3)))  # fmt: skip
row("linalg.set_diag", {"k": 1, "diagonal": X((2,))}, {"k": (0, 1), "diagonal": X((2, 3))},
    {"k": (0, 1), "diagonal": X((2, 3)), "align": "LEFT_LEFT"}, input=X((3, 3)),
    diagonal=X((3,), seed=1))  # fmt: skip
row("linalg.tensor_diag", {"diagonal": X((2, 2))}, diagonal=X((3,)))
row("linalg.tensor_diag_part", {"input": X((2, 2, 2, 2))}, input=X((3, 3)))
row("linalg.trace", {"x": X((2, 3, 3))}, x=X((2, 3)))

# ------------------------------------------------------------------------------ neural networks
row("nn.crelu", *spread(axis=[0, 1]), features=X())
row("nn.leaky_relu", *spread(alpha=[0.5, 0.0, -1.0]), features=X())
row("nn.gelu", *spread(approximate=[True]), features=X())
row("nn.silu", *spread(beta=[2.0]), features=X())
row("nn.log_poisson_loss", *spread(compute_full_loss=[True]), targets=X((3,), 0.5, 3),
    log_input=X((3,), seed=1))  # fmt: skip
row("nn.sigmoid_cross_entropy_with_logits", labels=X((3,), 0, 1), logits=X((3,), seed=1))
row("nn.weighted_cross_entropy_with_logits", {"pos_weight": X((3,), 1, 2)}, labels=X((3,), 0, 1),
    logits=X((3,), seed=1), pos_weight=2.0)  # fmt: skip
row("nn.softmax_cross_entropy_with_logits", *spread(axis=[0, 1]), labels=X((2, 3), 0, 1),
    logits=X((2, 3), seed=1))  # fmt: skip
row("nn.sparse_softmax_cross_entropy_with_logits", {"labels": [0, 5]}, labels=[0, 2],
    logits=X((2, 3), seed=1))  # fmt: skip
row("nn.moments", *spread(axes=[[1], [0, 1], 0, -1, []], shift=[1.0], keepdims=[True]), x=X(),
    axes=[0])  # fmt: skip
row("nn.sufficient_statistics", *spread(axes=[[1], [0, 1]], shift=[1.0], keepdims=[True]), x=X(),
    axes=[0])  # fmt: skip
row("nn.normalize_moments", {"shift": X((3,), seed=2)}, counts=4.0, mean_ss=X((3,)),
    variance_ss=X((3,), 3, 5, 1), shift=None)  # fmt: skip
row("nn.weighted_moments", *spread(keepdims=[True], axes=[[1], [0, 1]]), x=X(), axes=[0],
    frequency_weights=X((2, 3), 0.5, 2, 1))  # fmt: skip
row("nn.batch_normalization", {"offset": None}, {"scale": None}, {"variance_epsilon": 0.5},
    x=X(), mean=X((3,), seed=1), variance=X((3,), 0.5, 2, 2), offset=X((3,), seed=3),
    scale=X((3,), seed=4), variance_epsilon=1e-3)  # fmt: skip
row("nn.bias_add", *spread(data_format=["NHWC", "NC", "N...C", "NC..."]), value=X((2, 3, 3)),
    bias=X((3,), seed=1))  # fmt: skip
row("nn.local_response_normalization", *spread(depth_radius=[1], bias=[2.0], alpha=[0.5],
    beta=[0.75]), input=X((1, 2, 1, 4)))  # fmt: skip
row("nn.dropout", {"noise_shape": [2, 1]}, {"rate": 0.0}, {"seed": 3}, x=X(), rate=0.5)
row("nn.compute_average_loss", {"global_batch_size": 8}, {"sample_weight": [0.5, 1.0, 2.0]},
    per_example_loss=X((3,)))  # fmt: skip
row("nn.scale_regularization_loss", regularization_loss=X((3,)))


def _windows(name: str, rank: int, given: dict[str, Any], **args: Any) -> None:
    channels_first = {1: "NCW", 2: "NCHW", 3: "NCDHW"}[rank]
    channels_last = {1: "NWC", 2: "NHWC", 3: "NDHWC"}[rank]
    image = args["input"]
    *outer, channels = image.shape
    turned = X((outer[0], channels, *outer[1:]), seed=image.seed)
    options = spread(padding=["SAME", "valid"], data_format=[channels_last], **given)
    # A word that is no padding says nothing about the other options.
    options = [given for given in options if given.get("padding") != "valid" or len(given) == 1]
    first: dict[str, Any] = {"data_format": channels_first, "input": turned}
    if "output_shape" in args:
        sizes = args["output_shape"]
        first["output_shape"] = [sizes[0], sizes[-1], *sizes[1:-1]]
    row(f"nn.{name}", *options, first, **args)


_SIZES = {1: (1, 5, 2), 2: (1, 4, 5, 2), 3: (1, 3, 4, 3, 2)}
_CORES = {1: (2, 2, 3), 2: (2, 3, 2, 3), 3: (2, 2, 2, 2, 2)}
for _n in (1, 2, 3):
    _image, _core = X(_SIZES[_n]), X(_CORES[_n], seed=1)
    _step = {"stride" if _n == 1 else "strides": [2] if _n < 3 else [[1, 2, 2, 2, 1]]}
    _one = {key: 1 if _n < 3 else [1] * 5 for key in _step}
    _dilated: dict[str, Any] = {"dilations": [2 if _n < 3 else [1, 2, 2, 2, 1]]}
    _windows(f"conv{_n}d", _n, {**_step, **_dilated}, input=_image, filters=_core, **_one,
             padding="VALID")  # fmt: skip
    _out, _fed = X((*_SIZES[_n][:-1], _CORES[_n][-1]), seed=2), [*_SIZES[_n]]
    _windows(f"conv{_n}d_transpose", _n,
             {**({"dilations": [2]} if _n < 3 else {"dilations": [[1, 2, 1, 1, 1]]})},
             input=_out, filters=_core, output_shape=_fed, strides=_one[next(iter(_one))],
             padding="SAME")  # fmt: skip
    for _kind in ("avg", "max"):
        _windows(f"{_kind}_pool{_n}d", _n, {"ksize": [3], "strides": [1]}, input=_image, ksize=2,
                 strides=2, padding="VALID")  # fmt: skip
for _kind in ("avg", "max"):
    _windows(f"{_kind}_pool", 2, {"ksize": [[1, 2, 3, 1]], "strides": [1]}, input=X(_SIZES[2]),
             ksize=2, strides=2, padding="VALID")  # fmt: skip
_windows("convolution", 2, {"strides": [2, [1, 2]], "dilations": [2]}, input=X(_SIZES[2]),
         filters=X(_CORES[2], seed=1))  # fmt: skip
_windows("conv_transpose", 2, {"strides": [1, [1, 1]], "dilations": [2]},
         input=X((1, 4, 5, 3), seed=2), filters=X(_CORES[2], seed=1), output_shape=[1, 4, 5, 2],
         strides=1)  # fmt: skip
_windows("pool", 2, {"strides": [[2, 1]], "dilations": [[1, 2]], "pooling_type": ["MAX"]},
         input=X(_SIZES[2]), window_shape=[2, 2], pooling_type="AVG")  # fmt: skip
# Strides and dilations together are not defined for these.
_windows("depthwise_conv2d", 2, {"dilations": [[2, 2]]},
         input=X(_SIZES[2]), filter=X((2, 2, 2, 2), seed=1), strides=[1, 1, 1, 1],
         padding="VALID")  # fmt: skip
_windows("separable_conv2d", 2, {"strides": [[1, 2, 2, 1]]},
         input=X(_SIZES[2]), depthwise_filter=X((2, 2, 2, 2), seed=1),
         pointwise_filter=X((1, 1, 4, 3), seed=2), strides=[1, 1, 1, 1],
         padding="VALID")  # fmt: skip
row("nn.atrous_conv2d", {"padding": "SAME"}, {"rate": 1}, value=X(_SIZES[2]),
    filters=X(_CORES[2], seed=1), rate=2, padding="VALID")  # fmt: skip

# ----------------------------------------------------------------------------- random numbers
row("random.normal", *spread(mean=[5.0], stddev=[0.1], dtype=["float64", "float16", "bfloat16"],
    seed=[3]), shape=[2, 3])  # fmt: skip
row("random.truncated_normal", *spread(mean=[5.0], stddev=[0.1], dtype=["float64", "float16"],
    seed=[3]), shape=[2, 3])  # fmt: skip
row("random.uniform", *spread(minval=[-1.0], maxval=[3.0], dtype=["float64", "float16"], seed=[3]),
    {"maxval": 9, "dtype": "int32"}, {"dtype": "int64"}, shape=[2, 3])  # fmt: skip
row("random.gamma", *spread(beta=[2.0], dtype=["float64"], seed=[3]), shape=[2], order=1,
    alpha=X((3,), 0.5, 3))  # fmt: skip
row("random.poisson", *spread(dtype=["float64", "int32"], seed=[3]), shape=[2], order=0,
    lam=X((3,), 0.5, 3))  # fmt: skip
row("random.categorical", *spread(dtype=["int32"], seed=[3]), logits=X(), num_samples=4)
row("random.shuffle", *spread(seed=[3]), value=X((4, 2)))
row("random.split", *spread(num=[3], alg=["philox", "threefry", "x"]), seed=[1, 2])
row("random.fold_in", *spread(alg=["philox", "x"]), seed=[1, 2], data=3)
row("random.create_rng_state", {"alg": "threefry"}, {"seed": [1, 2]}, {"alg": "x"}, seed=7,
    alg="philox")  # fmt: skip
row("random.stateless_normal", *spread(mean=[5.0], stddev=[0.1], dtype=["float64", "bfloat16"],
    alg=["philox", "threefry", "x"]), shape=[2, 3], seed=[1, 2])  # fmt: skip
row("random.stateless_truncated_normal", *spread(mean=[5.0], stddev=[0.1], dtype=["float64"],
    alg=["philox"]), shape=[2, 3], seed=[1, 2])  # fmt: skip
row("random.stateless_uniform", *spread(minval=[-1.0], maxval=[3.0], dtype=["float64"],
    alg=["philox"]), {"maxval": 9, "dtype": "int32"}, shape=[2, 3], seed=[1, 2])  # fmt: skip
row(
    "random.stateless_categorical", *spread(dtype=["int32"]), logits=X(), num_samples=4, seed=[1, 2]
)
row("random.stateless_gamma", *spread(beta=[2.0], dtype=["float64"]), shape=[2, 3], seed=[1, 2],
    order=1,
    alpha=X((3,), 0.5, 3))  # fmt: skip
row("random.stateless_poisson", *spread(dtype=["int64"]), shape=[2, 3], seed=[1, 2],
    lam=X((3,), 0.5, 3))  # fmt: skip
row("random.stateless_binomial", *spread(output_dtype=["int64", "float32"]), shape=[2, 3],
    view=_described, seed=[1, 2], counts=[10.0, 20.0, 5.0], probs=[0.5, 0.25, 0.75])  # fmt: skip
row("random.stateless_parameterized_truncated_normal",
    *spread(means=[1.0], stddevs=[0.5], minvals=[-1.0], maxvals=[1.0]), shape=[2, 3], order=0,
    view=_described,
    seed=[1, 2])  # fmt: skip

# ----------------------------------------------------------------------- strings, sparse, ragged
_WORDS = ["gradient", "", "tape Ü", " a b "]
row("as_string", *spread(precision=[2], scientific=[True], shortest=[True], width=[8], fill=["0"]),
    {"width": 8, "precision": 1, "fill": "0"}, input=X((3,)))  # fmt: skip
row("strings.bytes_split", input=_WORDS)
row("strings.format", *spread(placeholder=["%"], summarize=[1, -1]), {"template": "{} and {}",
    "inputs": [[1, 2], 3.0]}, template="x = {}", inputs=[[1, 2, 3, 4, 5, 6, 7, 8]])  # fmt: skip
row("strings.join", *spread(separator=["-"]), inputs=[["a", "b"], "c"])
row("strings.length", *spread(unit=["UTF8_CHAR", "x"]), input=_WORDS)
row("strings.lower", *spread(encoding=["utf-8", "x"]), input=["GRAD", "TAPE Ü"])
row("strings.upper", *spread(encoding=["utf-8", "x"]), input=["grad", "tape ü"])
row("strings.reduce_join", *spread(axis=[0, 1, -1, [0, 1], []], keepdims=[True], separator=["-"]),
    inputs=[["a", "b"], ["c", "d"]])  # fmt: skip
row(
    "strings.regex_full_match",
    {"pattern": "g.*t"},
    {"pattern": "("},
    input=_WORDS,
    pattern="[a-z]+",
)
row("strings.regex_replace", *spread(replace_global=[False]), {"rewrite": r"<\0>"}, input=_WORDS,
    pattern="a", rewrite="o")  # fmt: skip
row("strings.split", *spread(sep=[" ", "a"], maxsplit=[1]), {"input": "a b"}, input=_WORDS)
row("strings.strip", input=_WORDS)
row("strings.substr", *spread(unit=["UTF8_CHAR"], pos=[-2], len=[0]), {"pos": 99},
    input=["gradient", "tape Ü"], pos=1, len=3)  # fmt: skip
row("strings.to_number", *spread(out_type=["float64", "int32", "int64"]), {"input": ["x"]},
    input=["1", "-2.5"])  # fmt: skip


def _sparse(tf: Any) -> Any:
    return tf.SparseTensor([[0, 0], [1, 2]], [1.0, 2.0], [2, 3])


row("sparse.from_dense", tensor=X((2, 3)))
row("sparse.to_dense", *spread(default_value=[9.0], validate_indices=[False]), sp_input=Of(_sparse))
row("sparse.reduce_sum", *spread(axis=[0, -1, [0, 1]], keepdims=[True]), sp_input=Of(_sparse))
row("sparse.sparse_dense_matmul", {"adjoint_a": True, "b": X((2, 2))},
    {"adjoint_b": True, "b": X((2, 3))}, sp_a=Of(_sparse), b=X((3, 2)))  # fmt: skip
row("ragged.constant", *spread(dtype=[Of(lambda tf: tf.float64)], ragged_rank=[1], inner_shape=[()],
    row_splits_dtype=[Of(lambda tf: tf.int32)]), pylist=[[1, 2], [], [3]])  # fmt: skip
