"""`tf.raw_ops`: TensorFlow's ops under their own names; arguments are given by keyword only.

Differs from TensorFlow: the common ops that are public functions too are there, such as `Neg`,
`AddV2` and `Sum`, out of some 1,400.

Here are the ops that a public function, or an op of the engine, is one by one. Each is declared by
a line: its name, what computes it, and its parameters as TensorFlow has them; `keep_dims:keepdims`
is called `keepdims` there, `input^` becomes a tensor and `axis!` one of int32 if it can. What has
a default that is no number is looked at first, as TensorFlow looks at attributes before inputs.
"""

from __future__ import annotations

import ast
import importlib
import inspect
from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np

from . import dtypes, errors
from .core.apply import tensor
from .core.op import registry
from .core.record import threads
from .framework import arguments, convert
from .framework.namespaces import lookup

__getattr__ = lookup(__name__)

_Unique = namedtuple("UniqueV2", "y idx")  # type: ignore[name-match]
_Counted = namedtuple("UniqueWithCountsV2", "y idx count")  # type: ignore[name-match]

# Of one argument and of two that match each other: the engine's ops of these names.
_UNARY = """
Abs abs | Acos acos | Acosh acosh | Asin asin | Asinh asinh | Atan atan | Atanh atanh | Ceil ceil
Cos cos | Cosh cosh | Digamma digamma | Erf erf | Erfc erfc | Erfinv erfinv | Exp exp | Expm1 expm1
Floor floor | Lgamma lgamma | Log log | Log1p log1p | Ndtri ndtri | Neg neg | Rint rint
Rsqrt rsqrt | Sigmoid sigmoid | Sign sign | Sin sin | Sinh sinh | Sqrt sqrt
Square square | Tan tan | Tanh tanh
"""
# Those of them that TensorFlow applies to the values of sparse and of ragged tensors.
_SPARSE = "Asin Asinh Atan Atanh Erf Neg Sin Square Tan Tanh"
_RAGGED = f"Acosh Cos Cosh Digamma Erfc Expm1 Lgamma Log Log1p Sinh {_SPARSE}"
_BINARY = """
Add add | AddV2 add | DivNoNan divide_no_nan | FloorDiv floordiv | FloorMod mod | Greater greater
GreaterEqual greater_equal | Less less | LessEqual less_equal | Maximum maximum | Minimum minimum
Mul mul | MulNoNan multiply_no_nan | Pow power | RealDiv div | Sub sub | Xdivy xdivy
Xlog1py xlog1py | Xlogy xlogy
"""
_PUBLIC = """
AddN math.add_n inputs
ArgMax math.argmax input dimension:axis! output_type=tf.int64
ArgMin math.argmin input dimension:axis! output_type=tf.int64
AsString strings.as_string input precision=-1 scientific=False shortest=False width=-1 fill=''
Atan2 math.atan2 y x
Betainc math.betainc a b x
Bitcast bitcast input type
BitwiseAnd bitwise.bitwise_and x y
BitwiseOr bitwise.bitwise_or x y
BitwiseXor bitwise.bitwise_xor x y
BroadcastTo broadcast_to input shape
CheckNumerics debugging.check_numerics tensor message
Cholesky linalg.cholesky input
Cross linalg.cross a b
Cumprod math.cumprod x axis! exclusive=False reverse=False
Cumsum math.cumsum x axis! exclusive=False reverse=False
CumulativeLogsumexp math.cumulative_logsumexp x axis! exclusive=False reverse=False
Dawsn math.special.dawsn x^
Diag linalg.tensor_diag diagonal
DynamicPartition dynamic_partition data partitions num_partitions
DynamicStitch dynamic_stitch indices data
Elu nn.elu features
Expint math.special.expint x^
FFT signal.fft input
FFT2D signal.fft2d input
FFT3D signal.fft3d input
Fill fill dims value
FresnelCos math.special.fresnel_cos x^
FresnelSin math.special.fresnel_sin x^
GatherNd gather_nd params indices bad_indices_policy=''
HSVToRGB image.hsv_to_rgb images
IFFT signal.ifft input
IFFT2D signal.ifft2d input
IFFT3D signal.ifft3d input
Identity identity input^
IdentityN identity_n input
Igamma math.igamma a x
Igammac math.igammac a x
Invert bitwise.invert x
InvertPermutation math.invert_permutation x
IsFinite math.is_finite x
IsInf math.is_inf x
IsNan math.is_nan x
L2Loss nn.l2_loss t
LeftShift bitwise.left_shift x y
LogMatrixDeterminant linalg.slogdet input
LogicalAnd math.logical_and x y
LogicalNot math.logical_not x
LogicalOr math.logical_or x y
Lu linalg.lu input output_idx_type=tf.int32
MatrixBandPart linalg.band_part input num_lower num_upper
MatrixDeterminant linalg.det input
MatrixInverse linalg.inv input adjoint=False
MatrixLogarithm linalg.logm input
MatrixSolve linalg.solve matrix rhs adjoint=False
NextAfter math.nextafter x1 x2
OnesLike ones_like x:input^
Polygamma math.polygamma a x
Qr linalg.qr input full_matrices=False
RGBToHSV image.rgb_to_hsv images
Rank rank input^
Reciprocal math.reciprocal x
Relu nn.relu features
Relu6 nn.relu6 features
Reshape reshape tensor shape
ReverseV2 reverse tensor axis
RightShift bitwise.right_shift x y
Roll roll input shift axis
ScatterNd scatter_nd indices updates shape bad_indices_policy=''
SegmentMax math.segment_max data segment_ids
SegmentMean math.segment_mean data segment_ids
SegmentMin math.segment_min data segment_ids
SegmentProd math.segment_prod data segment_ids
SegmentSum math.segment_sum data segment_ids
Selu nn.selu features
Shape shape input^ out_type=tf.int32
Size size input^ out_type=tf.int32
Slice slice input:input_ begin size
Softplus math.softplus features
Softsign nn.softsign features
Spence math.special.spence x^
SquaredDifference math.squared_difference x y
StopGradient stop_gradient input
StringLower strings.lower input encoding=''
StringStrip strings.strip input
StringUpper strings.upper input encoding=''
TensorScatterAdd tensor_scatter_nd_add tensor indices updates bad_indices_policy=''
TensorScatterMax tensor_scatter_nd_max tensor indices updates bad_indices_policy=''
TensorScatterMin tensor_scatter_nd_min tensor indices updates bad_indices_policy=''
TensorScatterSub tensor_scatter_nd_sub tensor indices updates bad_indices_policy=''
Tile tile input multiples
Transpose transpose x:a perm!
TruncateDiv truncatediv x y
TruncateMod truncatemod x y
UnsortedSegmentMax math.unsorted_segment_max data segment_ids num_segments
UnsortedSegmentMin math.unsorted_segment_min data segment_ids num_segments
UnsortedSegmentProd math.unsorted_segment_prod data segment_ids num_segments
UnsortedSegmentSum math.unsorted_segment_sum data segment_ids num_segments
ZerosLike zeros_like x:input^
Zeta math.zeta x q
"""
_REDUCTIONS = "EuclideanNorm Max Mean Min Prod Sum"
_OWN = """
All _all input axis keep_dims=False
Any _any input axis keep_dims=False
SelectV2 _select condition t e
Where _where condition
Bucketize _bucketize input^ boundaries
ImageProjectiveTransformV3 _seen images transforms output_shape fill_value interpolation \
fill_mode='CONSTANT'
UniqueV2 _unique x^ axis out_idx=tf.int32
UniqueWithCountsV2 _unique_with_counts x^ axis out_idx=tf.int32
MatMul _mat_mul a b transpose_a=False transpose_b=False grad_a=False grad_b=False
"""


def _all(input: Any, axis: Any, keep_dims: Any) -> Any:
    places = _places(axis, convert.quickly(input))
    return _found("math.reduce_all")(_truths(input, axis), places, keep_dims)


def _any(input: Any, axis: Any, keep_dims: Any) -> Any:
    places = _places(axis, convert.quickly(input))
    return _found("math.reduce_any")(_truths(input, axis), places, keep_dims)


def _truths(input: Any, axis: Any) -> Any:
    """Beside axes that the op must convert, a tensor of numbers is refused before it is run."""
    if convert.is_tensor_like(input) and not convert.quickly(axis):
        return convert.to_tensor(input, np.dtype(bool))
    return arguments.truths(input)


def _places(axis: Any, quick: bool = True) -> Any:
    """Axes as a tensor, of int32 if they can be; `quick`: nothing else has to be converted."""
    if isinstance(axis, float) and quick:
        raise convert.cannot(axis, np.dtype(np.int32))
    found = arguments.defaulted(axis, "int32")
    if found._value.dtype.kind != "i":
        raise errors.wrong_dtype(
            f"Value for attr 'Tidx' of {convert.c_name(found._value.dtype)} is not in the list of "
            f"allowed values: int16, int32, int64; axes are whole numbers, got {axis!r}"
        )
    return found


def _select(condition: Any, t: Any, e: Any) -> Any:
    for branch in (t, e):
        if branch is None:
            convert.to_tensor(None)
    return _found("where")(condition, t, e)


def _where(condition: Any) -> Any:
    number = isinstance(condition, (int, float))
    return _found("where")(convert.to_tensor(condition, np.dtype(bool)) if number else condition)


def _seen(**given: Any) -> Any:
    from .image.transforms import image_projective_transform

    return image_projective_transform(**given)


def _bucketize(input: Any, boundaries: Any) -> Any:
    if not isinstance(boundaries, (list, tuple)):
        raise TypeError(
            f"Expected list for 'boundaries' argument to 'bucketize' Op, not {boundaries}."
        )
    edges = np.array(boundaries, np.float32)
    if (edges[1:] < edges[:-1]).any():
        raise errors.invalid("Expected sorted boundaries [Op:Bucketize]")

    def places(values: Any) -> Any:
        return np.searchsorted(edges, np.asarray(values), side="right").astype(np.int32)[()]

    return tensor(convert.computed(places, input._value))


def _unique_with_counts(x: Any, axis: Any, out_idx: Any) -> Any:
    return _Counted(*_uniques(x, axis, out_idx))


def _unique(x: Any, axis: Any, out_idx: Any) -> Any:
    return _Unique(*_uniques(x, axis, out_idx)[:2])


def _uniques(x: Any, axis: Any, out_idx: Any) -> list[Any]:
    """What there is along an axis, in the order of its first coming, where each is, how often."""
    axes = np.asarray(convert.to_tensor(axis)._value)
    if axes.ndim != 1:
        raise errors.invalid("axis expects a 1D vector. [Op:UniqueV2]")
    along = axes.tolist()
    if len(along) > 1 or (not along and x._value.ndim != 1):
        raise errors.invalid("unique expects a 1D vector. [Op:UniqueV2]")
    place = along[0] if along else 0
    if not -x._value.ndim <= place < x._value.ndim:
        raise errors.invalid(f"axis expects to be in the range [0, {x._value.ndim}). [Op:UniqueV2]")
    kind = np.dtype(dtypes.as_dtype(out_idx).as_numpy_dtype)

    def find(values: Any) -> list[Any]:
        only = place if values.ndim > 1 else None
        _, first, inverse, counts = np.unique(values, True, True, True, axis=only)
        order = np.argsort(first, kind="stable")
        rank = np.argsort(order, kind="stable")
        found = np.take(values, first[order], axis=place)
        return [found, rank[inverse.ravel()].astype(kind), counts[order].astype(kind)]

    if threads.recording is None:
        return [tensor(one) for one in find(x._value)]
    return [tensor(one) for one in threads.recording.effect("unique", find, [x._value], True)]


def _mat_mul(a: Any, b: Any, transpose_a: Any, transpose_b: Any, grad_a: Any, grad_b: Any) -> Any:
    pair = arguments.matching("MatMul", [a, b])
    flags = {"transpose_a": transpose_a, "transpose_b": transpose_b}
    for name, flag in (*flags.items(), ("grad_a", grad_a), ("grad_b", grad_b)):
        arguments.truth(flag, name)
    for k, part in enumerate(pair):
        if part._value.ndim != 2:
            raise errors.invalid(
                f"In[0] and In[1] ndims must be == 2, In[{k}] has the shape {part.shape}; "
                "tf.linalg.matmul takes stacks of matrices [Op:MatMul]"
            )
    return _found("linalg.matmul")(*pair, **flags)


def _found(path: str) -> Callable[..., Any]:
    space, _, name = path.rpartition(".")
    found = importlib.import_module(__package__)
    for part in filter(None, space.split(".")):
        found = getattr(found, part)
    return getattr(found, name)


def _make(name: str, compute: Callable[..., Any], declared: list[str]) -> Callable[..., Any]:
    parameters, renamed, marks = [], {}, {}
    for text in declared:
        words, _, default = text.partition("=")
        own, _, other = words.rstrip("!^").partition(":")
        renamed[own], marks[own] = other or own, words[-1]
        value = _default(default) if default else inspect.Parameter.empty
        parameters.append(inspect.Parameter(own, _EITHER, default=value))
    parameters.append(inspect.Parameter("name", _EITHER, default=None))
    signature = inspect.Signature(parameters)
    first = parameters[0].name

    def op(*args: Any, **kwargs: Any) -> Any:
        if args:
            raise TypeError(
                f"{name} only takes keyword args (possible keys: {[*signature.parameters]}). "
                "Please pass these args as kwargs instead."
            )
        try:
            given = signature.bind(**kwargs).arguments
        except TypeError as error:
            raise TypeError(f"{name}() {error}") from None
        for own in filter(given.__contains__, renamed):
            _check(own, given[own], signature.parameters[own].default)
        found = {}
        for own, other in renamed.items():
            value = given.get(own, signature.parameters[own].default)
            if marks[own] == "^":
                value = convert.to_tensor(value)
            elif marks[own] == "!":
                value = _places(value, convert.quickly(given[first]))
            found[other] = value
        return compute(**found)

    op.__name__ = op.__qualname__ = name
    op.__doc__ = f"TensorFlow's op {name}, as {', '.join(renamed)}; by keyword only."
    op.__signature__ = signature  # type: ignore[attr-defined]
    return op


def _check(name: str, value: Any, default: Any) -> None:
    """Whether an attribute is of its kind; None stands for the default."""
    if value is None:
        return
    if isinstance(default, bool):
        arguments.truth(value, name)
    elif isinstance(default, str) and not isinstance(value, (str, bytes)):
        raise TypeError(f"Expected string for argument '{name}' not {value!r}.")
    elif isinstance(default, dtypes.DType) and value.__class__ is not int:
        try:
            dtypes.as_dtype(value)
        except TypeError:
            raise TypeError(f"Expected DataType for argument '{name}' not {value!r}.") from None


_EITHER = inspect.Parameter.POSITIONAL_OR_KEYWORD


def _default(text: str) -> Any:
    return dtypes.as_dtype(text[3:]) if text.startswith("tf.") else ast.literal_eval(text)


def _pairs(text: str) -> list[list[str]]:
    return [one.split() for line in text.strip().splitlines() for one in line.split(" | ")]


def _one(op: Any, name: str) -> Callable[..., Any]:
    public = "negative" if name == "Neg" else name.lower()

    def compute(x: Any) -> Any:
        if convert.is_tensor_like(x):
            return op.apply(x)
        taken = _RAGGED if convert.is_ragged(x) else _SPARSE if hasattr(x, "dense_shape") else ""
        return _found(f"math.{public}")(x) if name in taken.split() else op.apply(x)

    return compute


def _two(op: Any) -> Callable[..., Any]:
    return lambda x, y: op.apply(*arguments.matching(op.label, [x, y]))


def _ops() -> dict[str, Callable[..., Any]]:
    made = {}
    importlib.import_module(".ops.special", __package__)
    for name, op in _pairs(_UNARY):
        made[name] = _make(name, _one(registry[op], name), ["x"])
    for name, op in _pairs(_BINARY):
        made[name] = _make(name, _two(registry[op]), ["x", "y"])
    for name, path, *declared in _pairs(_PUBLIC):
        made[name] = _make(name, _found(path), declared)
    for name in _REDUCTIONS.split():
        public = "euclidean_norm" if name == "EuclideanNorm" else name.lower()
        declared = ["input:input_tensor^", "axis!", "keep_dims:keepdims=False"]
        made[name] = _make(name, _found(f"math.reduce_{public}"), declared)
    for name, path, *declared in _pairs(_OWN):
        made[name] = _make(name, globals()[path], declared)
    return made


__all__ = sorted(_ops())
globals().update(_ops())
