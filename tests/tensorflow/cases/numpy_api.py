"""`tf.experimental.numpy`: every name, with the arguments that its semantics turn on.

Calls are written as a program would write them; `n` is the namespace and the other names are in
`given`. They run plainly and with NumPy's behaviour enabled, which changes tensors' operators.
"""

from __future__ import annotations

import contextlib
import itertools

import numpy as np

from tests.tensorflow.cases._common import fill, grads, tensor
from tests.tensorflow.harness import TOLERANCE, attempt, case, cases


# ------------------------------------------------------------------------------------ the world
@contextlib.contextmanager
def enabled(tf, *options):
    """NumPy's behaviour, which neither library lets go of by itself, for the time of a case."""
    numpy = tf.experimental.numpy
    if hasattr(numpy, "behavior"):
        numpy.experimental_enable_numpy_behavior(*options)
        try:
            yield
        finally:
            numpy.behavior.restore()
        return
    from tensorflow.python.framework import ops
    from tensorflow.python.framework import tensor as tensors
    from tensorflow.python.ops.numpy_ops import np_dtypes

    before = dict(vars(tensors.Tensor))
    numpy.experimental_enable_numpy_behavior(*options)
    try:
        yield
    finally:
        for name in set(vars(tensors.Tensor)) - set(before):
            delattr(tensors.Tensor, name)
        for name in ("__round__", "ndim"):
            setattr(tensors.Tensor, name, before[name])
        ops.set_dtype_conversion_mode("off")
        ops._numpy_style_slicing = False
        np_dtypes.set_prefer_float32(False)


def given(tf):
    """What stands in the calls."""
    return {
        "tf": tf,
        "np": np,
        "n": tf.experimental.numpy,
        "i": tf.constant([[1, -2, 3], [4, 5, -6]]),
        "f": tf.constant([[0.5, -1.5, 2.25], [3.0, 0.25, -0.75]]),
        "u": tf.constant([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]]),
        "d": np.array([[1.5, -0.5, 2.5], [0.5, 3.5, -4.5]]),
        "k": np.array([[3, 1, 2], [6, 5, 4]], np.int8),
        "b": np.array([[True, False, True], [False, False, True]]),
        "c": tf.constant([[1 + 2j, -1j, 0.5], [2, 3 - 1j, 1j]], tf.complex64),
        "h": tf.constant([1.5, -2.5, 0.5], tf.float16),
        "w": tf.cast([1.5, -2.5, 0.5], tf.bfloat16),
        "v": tf.Variable([1.5, -2.5, 0.5]),
        "m": tf.constant([[2.0, 1.0], [1.0, 3.0]]),
        "o": tf.constant([[0.0, np.nan], [np.inf, -np.inf]]),
        "z": tf.zeros([0, 3]),
        "t": tf.reshape(tf.range(24.0), [2, 3, 4]),
        "q": tf.constant(7),
        "s": tf.constant(2.5),
    }


def brief(call):
    """The name of the dtype that the call gives, or of the exception's type."""
    found = attempt(call)
    return type(found).__name__ if isinstance(found, Exception) else found.name


# ------------------------------------------------------------------------------------ the calls
def words(text):
    return text.split()


def _each(names, *arguments):
    return [f"{name}({a})" for name in words(names) for a in arguments]


CALLS = [
    # --- values of dtypes and constants
    *words("e pi inf newaxis bool_ int_ float_ complex_ object_ string_ unicode_ inexact"),
    *words("int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64"),
    *("complex64", "complex128", "ndarray is tf.Tensor"),
    *("finfo(tf.float32).eps", "finfo(float).max", "finfo(np.float16).tiny", "finfo(int)"),
    *("iinfo(np.int8).max", "iinfo(float)", "issubdtype(np.float32, n.inexact)"),
    "issubdtype(int, float)",
    *_each(
        "result_type", "", "1", "1.0", "1j", "True", "1, 2.0", "float", "int", "bool", "'f4', 1",
        "i, 1.5", "f, 1.5", "h, 1.5", "h, f", "i, f", "f, d", "i, np.int64(1)", "f, np.float64(1)",
        "b, 1", "c, d", "v, 1", "[1, 2.0]", "[]", "[f, 1.0]", "tf.int8, tf.uint8", "None", "k, i",
        "tf.uint64, tf.int64", "w, 1", "w, f", "w, 1.0", "w, h", "'nonsense'", "c, 1.0",
    ),
    *_each(
        "promote_types", "tf.int32, tf.float32", "np.int8, 'u1'", "float, tf.complex64",
        "tf.bool, int", "tf.float16, tf.int8", "'nonsense', int",
    ),
    # --- creation
    *_each(
        "array", "1", "1.5", "True", "1j", "'abc'", "b'abc'", "[1, 2]", "[1, 2.5]", "[1.5, 1j]",
        "[True, 2]", "[]", "[[], []]", "[[1, 2], [3, 4.5]]", "(1, 2)", "range(3)", "2**63", "2**40",
        "1e300", "[2**63]", "5.7, int", "[1, 0, 2], bool", "[1, 2], tf.float16", "i", "f", "v",
        "i, float", "f, int", "d", "d, np.float32", "k", "b", "[q, 2.5]", "[[s, 1], [2, s]]",
        "[f, f]", "[v, 1.0, 2.0]", "1, ndmin=3", "f, ndmin=3", "f, ndmin=33", "f, copy=False",
        "None", "[1, [2]]", "'a', int", "1 + 2j, float", "h", "w", "w, float", "c, np.complex128",
    ),
    *_each("asarray asanyarray", "1", "[1.5]", "i", "f, float", "d, tf.float32", "v", "k, int"),
    *_each("ascontiguousarray", "1", "2.5, int", "f", "d"),
    *_each("copy", "1", "[1.5, 2]", "f", "v", "k"),
    *_each(
        "zeros ones empty", "3", "(2, 3)", "[]", "(0, 2)", "[2], int", "[2], np.float32",
        "[2], tf.int8",
        "[2], None", "[2], bool", "q", "tf.constant([2, 1])", "-1", "'a'", "2.5",
    ),
    *_each(
        "zeros_like ones_like empty_like", "1", "[1, 2.5]", "i", "f", "d", "b", "v", "f, int",
        "i, np.float16", "c", "z",
    ),
    *("zeros_like('a')", "ones_like('a')", "zeros_like([1, 2], None)"),
    *_each(
        "full", "3, 2", "(2,), [1.5, 2]", "(2, 3), f", "[], 1", "(2,), 1.7, int", "(2,), True",
        "(2,), [1, 2, 3]", "q, 1.0", "(0,), 2", "(2,), q", "(2,), None", "np.array([1, 2]), s",
    ),
    *_each(
        "full_like", "[1, 2], 2.7", "f, 2", "f, 2, int", "i, s", "d, [1, 2, 3]", "f, 1, order='C'",
        "f, 1, subok=False", "f, 1, shape=(2,)",
    ),
    *_each(
        "eye", "2", "2, 3", "3, 2, 1", "2, 4, -1", "2, k=2", "2, k=5", "3, dtype=int", "3, 4, 3",
        "0", "2, dtype=tf.float16", "2, dtype=bool", "2.7", "4, 2, -3",
    ),
    *_each("identity", "2", "0", "3, int", "2, np.complex64"),
    *_each(
        "tri", "3", "3, 4", "3, 2, 1", "3, k=-1", "3, 3, -5", "2, 3, 7", "2, dtype=int",
        "2, dtype=bool",
    ),
    *_each(
        "arange", "3", "3.5", "1, 3", "1, 3, 0.5", "5, 1", "5, 1, -2", "0, 1, 0.1", "5, 1, 0", "-3",
        "3, dtype=float", "0, 3, dtype=tf.float16", "q", "0.5, q", "1, 4, 1, int", "s", "1j", "'a'",
        "0", "2.5, 2.5", "np.float32(3)", "np.int8(3)", "1, 2, 3, bool",
    ),
    *_each(
        "linspace", "0, 1", "0, 1, 3", "0, 10, 4, endpoint=False", "1, 10, 4, dtype=int",
        "0, 1, 3, retstep=True", "0, 1, 1, retstep=True", "0, 1, 0", "0, 1, -1", "s, 5, 3",
        "s, q, 3",
        "d, 1, 3", "d, 1, 3, axis=1", "d, 1, 3, axis=-1", "0.0, 1.0, 1, False",
        "1, 2, 3, dtype=None",
        "np.float32(0), np.float32(1), 3", "0, 1, 2, False, True", "0, 1, 3, axis=2",
    ),
    *_each(
        "logspace", "1, 3, 3", "s, 3, 3", "0, 4, 3, base=2", "0, 2, 3, False", "0, 2, 3, dtype=int",
        "0, d, 3, axis=1", "1, 3, -1", "0, 1",
    ),
    *_each(
        "geomspace", "1, 1000, 4", "1, 8, 4, dtype=np.float32", "-1, -8, 4", "1, 16, 2, False",
        "2.0, 32.0, 5", "s, 5, 3", "1, 2",
    ),
    *_each(
        "meshgrid", "[1, 2], [3.0]", "[1, 2], [3, 4], indexing='ij'", "v", "1, 2", "",
        "[1, 2], [3], sparse=True", "[1], [2], copy=False", "[1], [2], indexing='no'",
    ),
    *_each(
        "vander", "[1, 2, 3]", "v", "v, 2", "[1, 2], 4, increasing=True", "[1.5], 0", "f",
        "[1], -1",
        "h, 2",
    ),
    # --- element by element
    *_each(
        "exp exp2 expm1 log log1p sqrt cbrt sin cos tan arctan sinh cosh tanh arcsinh sinc deg2rad "
        "ceil floor fix isnan isfinite",
        "1", "0.5", "[1, 2.5]", "q", "u", "d", "h", "v", "z", "b", "k", "o",
    ),
    *_each("arcsin arccos arctanh", "0.5", "[0.5, 0.25]", "u", "0", "z", "h / 4", "True"),
    *_each("arccosh", "1.5", "[1.5, 3]", "u + 1", "q", "z", "h + 4"),
    *_each("exp sin tanh sqrt log", "c", "'a'", "w", "1j", "None"),
    *_each(
        "abs absolute fabs negative positive square signbit sign", "1", "-0.5", "[1, -2.5]", "q",
        "f",
        "d", "h", "v", "z", "k", "w",
    ),
    *_each("abs negative positive square sign signbit", "c", "True", "b", "'a'", "o"),
    *_each("sign", "f, out=1", "f, where=b", "f, foo=1", "-2, None, None"),
    *_each("reciprocal", "0.5", "[2.0, 4]", "f", "d", "h", "c", "2", "i"),
    *_each("conj conjugate real imag", "1", "1.5", "1 + 2j", "[1, 2j]", "c", "f", "i", "True"),
    *_each("bitwise_not", "1", "[1, 2]", "i", "b", "True", "k", "f"),
    *_each("rad2deg", "1", "1.5", "f", "d", "q", "v"),
    *_each("log2 log10", "8.0", "[1.0, 100.0]", "u", "d + 5", "8", "h + 3"),
    *_each("angle", "1.0", "-1.0", "1", "f", "h", "c", "1j", "1j, True", "f, True", "d"),
    *_each(
        "around round", "1.234, 2", "2.5", "15, -1", "1234, -2", "f", "f, 1", "d, decimals=1", "q",
        "h", "b",
    ),
    # --- of two
    *_each(
        "add subtract multiply divide true_divide floor_divide mod remainder minimum maximum "
        "power float_power",
        "1, 2", "1, 2.0", "3.0, 2.0", "[3, 4], 2.0", "i, 2", "f, 2", "i, 2.5", "f, u", "i, f",
        "d, f",
        "k, i", "k, 2", "h, 1.5", "h, f[0]", "v, 2", "2, v", "q, s", "True, False", "True, 2",
        "b, k",
        "w, 2", "f, [1, 2]", "z, 1.0", "np.float64(2), f", "u, np.int32(3)", "'a', 1", "None, 1",
    ),
    *_each("add subtract multiply divide power", "c, 2", "c, f", "1j, 2", "c, c"),
    *("power(2, -1)", "power(0.0, 0)", "power(-8.0, 1 / 3)", "floor_divide(1, 0)", "mod(-7, 3)"),
    *("mod(7, -3)", "mod(-7.5, 2)", "divide(1, 0)", "divide(0.0, 0.0)", "maximum(f, 0)"),
    *("maximum(i, 0)", "maximum(0, f)", "maximum(b, 0)", "maximum(d, 0.0)", "maximum(o, 0)"),
    *_each("divmod", "7, 3", "-7, 3", "7.5, 2", "i, 2", "f, u", "True, True", "k, i"),
    *_each(
        "arctan2 nextafter heaviside hypot logaddexp logaddexp2", "1.0, 2.0", "d, 1.5", "f, 2.0",
        "u, u", "v, 1.0",
    ),
    *_each("heaviside", "1, 2", "[-1, 0, 2], 5", "i, 1", "f, q", "0.0, 0.5"),
    *_each("arctan2 nextafter", "1, 2", "h, h", "i, f", "[1.0], [1.0, 2.0]"),
    *_each("hypot", "3, 4", "i, f", "c, c"),
    *_each(
        "logaddexp logaddexp2", "o, o", "o, 1.0", "np.float64(1), np.float64(2)", "h, h", "1, 2",
    ),
    *_each(
        "gcd lcm", "4, 6", "[4, 0, 9], 6", "i, 4", "k, [[2], [3]]", "0, 0", "-4, 6", "1.5, 2",
        "True, True", "k, i",
    ),
    *_each(
        "bitwise_and bitwise_or bitwise_xor", "5, 3", "i, 3", "b, True", "k, i", "5, True", "f, 1",
        "5, 1.0",
    ),
    *_each(
        "clip", "f, 0, 1", "i, 0, 3", "i, 0.5, 3", "d, None, 1", "d, 0, None", "f, None, None",
        "f, [0, 1, 2], 2", "5, 0, 3", "f, 2, 1", "[1, 5], 2, 3", "h, 0, 1", "f, [[0], [1]], d",
    ),
    # --- comparisons and questions
    *_each(
        "equal not_equal greater greater_equal less less_equal", "1, 2", "1, 1.0", "i, 3", "i, f",
        "f, d", "b, True", "True, 1", "k, i", "[1, 2], [2, 1]", "o, o", "v, 0", "h, 1.5",
        "[1, 2], [1, 2, 3]",
    ),
    *("equal(c, 1)", "less(c, 1)", "equal('a', 'a')"),
    *_each(
        "logical_and logical_or logical_xor", "1, 0", "b, f", "i, 0.0", "[], []", "c, True",
        "v, [1, 0, 1]",
    ),
    *_each("logical_not", "1", "[1, 0.0]", "b", "f", "c", "o", "'a'"),
    *_each(
        "isclose allclose", "1, 1 + 1e-9", "f, f + 1e-3", "f, f + 1e-3, 1e-2", "f, f, atol=1.0",
        "[np.nan], [np.nan]", "[np.nan], [np.nan], equal_nan=True", "i, i", "i, f", "1, 2",
        "[1.0, 2.0], [1.0, 2.1], 0.0, 0.2", "h, h", "c, c",
    ),
    *_each(
        "array_equal", "f, f", "f, d", "i, i", "[1, 2], [1, 2, 3]", "1, 1.0", "1, [1]", "o, o",
        "[], []",
    ),
    *_each(
        "iscomplex isreal iscomplexobj isrealobj", "1", "1.5", "1j", "[1, 1j]", "c", "f", "True",
    ),
    *_each("isinf isposinf isneginf", "o", "f", "q", "c", "h"),
    *_each(
        "isscalar ndim shape size", "1", "1.5", "True", "1j", "[1, 2]", "[]", "s", "f", "z", "v",
        "k", "np.float32(1)", "'a'",
    ),
    "size(f, axis=0)",
    # --- over axes
    *_each(
        "sum prod mean amax amin max min std var ptp", "1", "2.5", "[1, 2]", "i", "f", "d", "k",
        "h", "w",
        "v", "f, 0", "f, -1", "f, axis=(0, 1)", "f, axis=[0]", "f, keepdims=True",
        "f, 1, keepdims=True",
        "t, (0, 2)", "t, ()", "f, 2", "f, axis=q", "z", "z, 0", "z, 1", "f, axis=0.5", "c", "o",
        "f, np.int64(1)", "f, tf.constant(1, tf.int8)", "'a'",
    ),
    *_each("sum prod mean amax amin max min", "b", "True", "b, 0", "[], 0"),
    *_each(
        "sum prod mean var", "i, dtype=float", "f, dtype=int", "f, dtype=tf.float64",
        "i, dtype=bool", "k, dtype=np.int8",
    ),
    *_each("mean amax amin var", "f, out=f"),
    *_each(
        "var", "f, ddof=1, dtype=tf.float32", "i, ddof=1, dtype=float", "f, 0, ddof=1, dtype=float",
        "i, 1, float",
    ),
    *_each(
        "all any", "1", "[1, 0]", "b", "f", "b, 0", "b, axis=1, keepdims=True", "[]", "z, 0",
        "b, 2", "o",
    ),
    *_each("count_nonzero", "[1, 0, 2]", "f", "b", "i, 0", "i, axis=1", "0", "z", "'a'"),
    *_each(
        "nansum nanprod nanmean", "o", "[1.0, np.nan]", "d", "[1, 2]", "f, 0",
        "[[1.0, np.nan]], 1, keepdims=True", "f, dtype=float", "h",
    ),
    *_each(
        "cumsum cumprod", "[1, 2, 3]", "i", "f", "f, 0", "f, -1", "k, 1", "f, 1, float",
        "i, dtype=float", "h", "b", "2", "f, 5", "z, 0",
    ),
    *_each(
        "argmax argmin", "[3, 1, 2]", "f", "f, 0", "f, axis=-1", "5", "d", "[1, 1]", "f, 5", "z, 0",
        "o", "b",
    ),
    *_each(
        "argsort", "[3, 1, 2]", "f", "f, 0", "f, None", "5", "f, kind='stable'",
        "f, kind='heapsort'", "f, order='x'", "c", "k, -1", "z", "f, 5",
    ),
    *_each(
        "sort", "[3, 1, 2]", "f", "f, 0", "f, None", "f, kind='stable'", "f, order='x'", "k",
        "d, -1", "z", "f, 5", "5", "c",
    ),
    *_each(
        "average", "[1, 2]", "f", "f, 0", "f, weights=u", "f, 1, [1, 2, 3]", "f, 0, u, True",
        "i, returned=True",
        "f, 1, returned=True", "f, (0, 1)", "i, 1, [1.0, 2, 1]", "f, weights=[1, 2, 3]",
        "f, 0, [[1.0]]",
        "h, weights=h",
    ),
    # --- shapes
    *_each(
        "reshape", "f, 6", "f, (3, 2)", "f, [-1]", "[1, 2], (2, 1)", "f, (3, 2), order='F'",
        "f, (2, 2)", "f, -1, 'A'", "2, []", "f, 6, 'F'", "z, (3, 0)", "f, q",
        "f, tf.constant([3, 2])",
    ),
    *_each("ravel flatten", "f", "1", "[[1, 2], [3, 4]]", "z", "v"),
    *_each("flatten", "f, 'F'", "f, 'K'", "f, 'X'"),
    *_each("expand_dims", "f, 0", "f, -1", "1, 0", "f, 5", "[1, 2], 1", "f, 1.5"),
    *_each(
        "squeeze", "[[1], [2]]", "[[1], [2]], 1", "f", "f, 0", "[[[1]]]", "[[[1]]], (0, 1)",
        "[[1]], [0]",
    ),
    *_each(
        "broadcast_to", "1, 3", "[1, 2], (3, 2)", "f, (2, 2, 3)", "f, (2, 2)", "v, (2, 3)",
        "1.5, []",
    ),
    *_each(
        "broadcast_arrays", "1, [2, 3]", "f, [1, 2, 3]", "1", "", "f, [1, 2]", "1, 2, subok=True",
        "1, 2, foo=3", "[[1], [2]], [1.0, 2]",
    ),
    *_each("atleast_1d atleast_2d atleast_3d", "1", "[1, 2]", "f", "t", "1, [2]", "v"),
    *_each("transpose", "f", "t", "t, (2, 0, 1)", "t, [1, 0, -1]", "1", "f, (0, 0)", "[[1, 2]]"),
    *_each("swapaxes", "f, 0, 1", "t, 0, 2", "t, -1, 0", "[[1, 2]], 0, 1", "t, 1, 1"),
    *_each(
        "moveaxis", "t, 0, 2", "t, -1, 0", "t, (0, 1), (1, 2)", "t, [0], [-1]", "t, (0, 1), (1,)",
        "f, 0, 0", "[[1, 2]], 0, 1",
    ),
    *_each("flip", "f", "f, 0", "f, -1", "[1, 2]", "1", "f, 5", "t, 1"),
    *_each("flipud fliplr", "f", "t", "[[1, 2], [3, 4]]", "z"),
    *_each("rot90", "f", "f, 2", "f, 3", "f, -1", "f, 4", "t, 1, (1, 2)", "t, 1, (0, -1)"),
    *_each("roll", "f, 1", "f, 1, 0", "f, -1, 1", "f, (1, 2), (0, 1)", "[1, 2, 3], 5", "f, 1, 5"),
    *_each(
        "concatenate", "[f, f]", "[f, d], 1", "[f, i], axis=-1", "([1], [2.5])", "[]", "f",
        "[f, [1, 2]]", "[f, f], 5", "[h, f[0]]",
    ),
    *_each(
        "append", "[1], [2.5]", "f, i", "f, f, 0", "f, [[1, 2, 3]], axis=0", "1, 2", "f, [1], 0",
    ),
    *_each(
        "stack", "[f, f]", "[f, d], 1", "[1, 2.5]", "[f, i], -1", "f", "f, 1", "[f, [1]]",
        "[[1], [2]], 5", "[]",
    ),
    *_each(
        "hstack vstack dstack", "[f, f]", "[1, 2.5]", "[[1], [2.5]]", "[f, i]", "[f, [[1], [2]]]",
        "([1, 2], [3, 4])", "f", "[]",
    ),
    *_each(
        "tile", "f, 2", "f, (2, 1)", "[1, 2], (2, 2)", "1, 3", "f, [1, 2, 1]", "f, []", "f, 0",
        "f, -1",
    ),
    *_each(
        "repeat", "f, 2", "[1, 2], 2", "f, 2, 0", "f, [1, 2], 0", "f, [1, 0, 2], axis=1", "1, 3",
        "f, 0", "f, [1, 2]", "f, 2, 5",
    ),
    *_each(
        "pad", "f, [[1, 0], [0, 2]], 'constant'",
        "f, [[1, 0], [0, 2]], 'constant', constant_values=3", "f, [[1, 1], [2, 0]], 'reflect'",
        "f, [[1, 1], [2, 0]], 'symmetric'", "f, [[1, 1], [1, 1]], 'edge'",
        "[1, 2], [[1, 1]], 'constant'", "f, 1, 'constant'",
        "f, [[5, 0], [0, 0]], 'reflect'",
    ),
    *_each(
        "split", "f, 2", "f, 3, 1", "f, 3", "[1, 2, 3, 4], [1, 3]", "f, [1], 1", "f, [2, 1], 1",
        "f, [5], 1", "f, [1], 5", "f, 3, -1", "f, [1, 2], axis=1", "f, [1], -1",
    ),
    *_each("hsplit", "f, 3", "f, [1]", "v + 0, 3", "f, 2", "t, 3"),
    *_each("vsplit", "f, 2", "f, [1]", "f, 3", "t, 2"),
    *_each("dsplit", "t, 2", "t, [1]", "t, 3"),
    # --- picking
    *_each(
        "take", "f, [0, 5]", "f, 1", "f, [1, 0], 1", "f, [5, -5], axis=0",
        "f, [5, -5], 0, None, 'wrap'", "[1, 2], 1", "f, [[0, 1]], -1",
        "f, 0, mode='raise'", "f, 0, mode='x'", "f, 0, out=f", "f, q", "f, [], 0",
    ),
    *_each(
        "take_along_axis", "f, [[0], [2]], 1", "f, [[1, 0, 1]], 0", "d, [[-1], [0]], -1",
        "f, [0, 3], None",
        "f, [[0, 0], [1, 2]], 1", "k, k - 1, 0", "f, [[9]], 1",
    ),
    *_each(
        "where", "b, f, d", "b, 1, 2.5", "b", "[0, 1, 2]", "b, f", "b, f, [1, 2, 3]", "1, 2, 3",
        "f, 1, i", "b, f, [1, 2]", "True", "0",
    ),
    *_each(
        "select", "[b], [f]", "[b, f > 0], [f, d]", "[b, True], [1, 2.5], 7", "[], []", "[b], []",
        "[[True, False]], [[1, 2]], [5, 6]",
    ),
    *_each("nonzero", "b", "[0, 1, 2]", "f", "5", "0", "z", "i"),
    *_each(
        "compress", "[True, False], f, 0", "[False, True], f", "[1, 0, 1], f, axis=1", "[1], f, -1",
        "[[1]], f", "[1], 5", "[1, 1, 1, 1], f, 1", "[1], f, 3",
    ),
    *_each(
        "diag", "[1, 2]", "v", "v, 1", "v, -1", "f", "f, 1", "f, -1", "f, 5", "m", "[], 1", "1",
        "t", "f, -2", "[]",
    ),
    *_each("diagflat", "[1, 2]", "f", "5", "m, 1", "[[1], [2]], -1"),
    *_each(
        "diagonal", "f", "m", "t", "t, 1", "t, 0, 1, 2", "t, -1, 0, 2", "f, 5", "f, -1",
        "t, 0, -2, -1", "v", "t, 1, 2, 0",
    ),
    *_each("diag_indices", "3", "2, 3", "0", "-1", "2, -1"),
    *_each("ix_", "[0, 1], [1, 2]", "[True, False], [1]", "[0]", "[0.5]", "[[0]]", ""),
    *_each(
        "tril triu", "f", "f, 1", "f, -1", "t", "m, 5", "m, -5", "[[1, 2], [3, 4]]", "v", "b", "z",
    ),
    # --- products
    *_each(
        "dot inner", "2, 3", "2, f", "f, 2.5", "v, v", "[1, 2], [3.0, 4]", "m, m", "f, [1, 2, 3]",
        "m, [1.0, 2.0]", "f, f",
        "t, [1, 2, 3, 4]", "i, [1, 2, 3]", "z, [1, 2, 3]", "h, h", "c, [1, 2, 3]",
    ),
    *_each("dot", "[1, 2], m", "m, t[0, :2]", "t, t[0, :, :3]"),
    *_each("vdot", "v, v", "[1, 2j], [1j, 3]", "f, f", "f, i", "1, 2", "[1, 2], [1, 2, 3]", "c, c"),
    *_each("outer", "[1, 2], [3.0, 4]", "f, v", "2, [1, 2]", "[], [1]"),
    *_each(
        "matmul", "m, m", "m, [1.0, 2.0]", "[1, 2], m", "[1, 2], [3.0, 4]", "i, f", "t, t[0, 0]",
        "t, t[:, :, :2]", "t[:, 0, :3], t", "2, m", "m, 2",
        "m, d", "f[:, :2], m", "v, t", "z, t[0]", "h, h",
    ),
    *_each(
        "tensordot", "m, m", "m, m, 1", "f, f, [[1], [1]]", "i, f, ([0, 1], [0, 1])", "m, m, 0",
        "f, m, 1", "f, f, [[0, 1], [0]]", "m, m, -1",
    ),
    *_each(
        "einsum", "'ij,jk->ik', m, m", "'ij->ji', f", "'ij,j', i, [1.0, 2, 3]", "'i,i->', v, v",
        "'ij,jk', m, m, optimize=True",
        "'ij,jk', m, m, optimize='optimal'", "'ij,jk', m, m, optimize='x'",
        "'ij,jk', m, m, casting='no'", "'ij,jk', m, i, casting='unsafe'",
        "'ij,ij->i', i, f, casting='no'", "'ii', m",
    ),
    *_each(
        "cross", "[1, 0, 0], [0, 1, 0]", "v, v[::-1]", "f, f[::-1]", "[1, 2], [3, 4]",
        "[1, 2], [3, 4, 5]", "f[:, :2], f", "f, [1, 2, 3]",
        "tf.transpose(f), f, axisa=0", "tf.transpose(f), tf.transpose(f), axis=0",
        "f, f[::-1], axisc=0", "[1, 2, 3, 4], [1, 2, 3, 4]",
        "tf.transpose(f), tf.transpose(f)[:, ::-1], 0, 0, 0",
    ),
    *_each(
        "kron", "[1, 2], [1.0, 2]", "m, [1, 2]", "m, m", "2, [1, 2]", "[1, 2], m", "2, 3",
        "t[0, :2], m",
    ),
    *_each(
        "polyval", "[1, 2, 3], 2.0", "v, v", "[2], [1, 2, 3]", "2, f", "[], 2", "[1.5, 2], f",
        "v, 2", "f, 2.0",
    ),
    *_each(
        "trace", "m", "f", "t", "t, 1", "m, offset=1", "t, 0, 1, 2", "m, dtype=int",
        "m, -1, dtype=float", "i", "t, 0, -2, -1", "k", "v",
    ),
    *_each(
        "diff", "[1, 2, 4]", "f", "f, 2", "f, axis=0", "f, 0", "f, 1, 2", "f, -1", "[True, False]",
        "i, 1, -2", "2", "f, 5",
    ),
    # --- random
    *_each("random.rand random.randn", "", "3", "2, 3", "0"),
    *_each("random.random random.standard_normal", "", "3", "(2, 2)", "[]", "q"),
    *_each(
        "random.uniform", "", "1, 5", "0, 10, 3", "[0, 10], [1, 20]", "0.0, 1.0, (2, 2)",
        "1, 5, [2]",
    ),
    *_each("random.poisson", "", "5.0", "5.0, 3", "[1.0, 20.0], 2"),
    *_each(
        "random.randint", "10", "5, 10", "5, 10, 4", "10, size=(2, 2)", "10, None, 3, np.int32",
        "10, dtype=np.int8", "5, 5", "2.7",
    ),
    *_each("random.seed", "1", "2.7", "'a'", "[1]"),
]  # fmt: skip

# Functions made of tensors' operators, which enabling changes.
OPERATORS = words(
    "add average angle arange around cbrt allclose deg2rad diff dot equal exp2 fix geomspace "
    "heaviside hypot inner isclose iscomplex isreal kron less linspace log10 log2 logaddexp "
    "logaddexp2 logspace maximum meshgrid minimum mean nanmean outer polyval power ptp "
    "rad2deg signbit sinc sum take var clip cross where random.uniform random.standard_normal"
)
CALLS = list(dict.fromkeys(CALLS))


def run(tf, call):
    return eval(f"n.{call}", {}, given(tf))


@cases(call=CALLS)
def plain(tf, call):
    try:
        return run(tf, call)
    except AttributeError:
        # TensorFlow stumbles over its own `tensor.astype`, until NumPy's behaviour is enabled.
        with enabled(tf):
            return run(tf, call)


# A logarithm in float32 that is divided by one in float64: the answer's dtype promises more digits
# than it has, and the last ones go with the logarithm of the CPU.
TO_A_BASE = ("log2", "log10", "logaddexp2")
LIKE_NUMPY = [call for call in CALLS if call.partition("(")[0] in OPERATORS]


@cases(call=[call for call in LIKE_NUMPY if call.partition("(")[0] not in TO_A_BASE])
@cases(
    call=[call for call in LIKE_NUMPY if call.partition("(")[0] in TO_A_BASE],
    tolerance=TOLERANCE["float32"][0],
)
def numpy_like(tf, call):
    with enabled(tf):
        return run(tf, call)


@case
def names(tf):
    """All names, so that one that is new or gone shows."""
    numpy = tf.experimental.numpy
    return [
        sorted(n for n in getattr(space, "__all__", dir(space)) if n[0] != "_" and n not in OURS)
        for space in (numpy, numpy.random)
    ]


# The modules of gradtape's namespace, and what they import.
OURS = words(
    "behavior creation elementwise indexing linear logic reductions shaping types weak annotations "
    "Any np arrays tf_random as_tensor common default_float"
)


# ------------------------------------------------------------------------------------ gradients
# Of x (2, 3) and y (3,), both float64 and positive.
SLOPES = [
    *_each(
        "exp exp2 expm1 log log1p log2 log10 sqrt cbrt sin cos tan arcsin arccos arctan sinh cosh "
        "tanh arcsinh arctanh sinc deg2rad rad2deg abs absolute fabs negative positive square "
        "reciprocal conj real sign ceil floor fix around sum prod mean amax amin std var ptp "
        "cumsum cumprod nansum nanprod nanmean sort argsort ravel transpose flip flipud "
        "fliplr rot90 diff average diag diagonal diagflat trace tril triu copy asarray array "
        "atleast_3d squeeze",
        "x",
    ),
    "arccosh(x + 1)",
    *_each(
        "add subtract multiply divide true_divide floor_divide mod remainder minimum maximum power "
        "float_power arctan2 heaviside hypot logaddexp logaddexp2 kron outer inner dot vdot",
        "x, y" ,
    ),
    *("maximum(x, 0)", "maximum(x, x)", "minimum(x, x)", "clip(x, 0.3, 0.6)", "clip(x, y, None)"),
    *("sum(x, 0)", "mean(x, 1, keepdims=True)", "var(x, 0, ddof=1, dtype=x.dtype)", "std(x, 1)"),
    *("average(x, 1, y)", "average(x, 1, y, True)", "amax(x, 1)", "max([y, y], 0)", "prod(x, 0)"),
    *(
        "cumsum(x, 1)", "cumprod(x, 0)", "polyval(y, x)", "vander(y)", "cross(x, y)",
        "einsum('ij,j', x, y)",
    ),
    *("matmul(x, y)", "tensordot(x, y, 1)", "concatenate([x, [y]])", "stack([y, y * 2], 1)"),
    *("hstack([y, y])", "vstack([x, y])", "dstack([y, y])", "append(x, y)", "tile(y, (2, 2))"),
    *(
        "repeat(x, [1, 2], 0)", "pad(x, [[1, 0], [0, 1]], 'constant')",
        "pad(x, [[1, 0], [0, 1]], 'reflect')",
    ),
    *(
        "split(x, 3, 1)", "hsplit(x, 3)", "take(x, [1, 1, 0], 1)", "take(x, [1, 1])",
        "take(x, [1, 0], 0)",
    ),
    *(
        "take_along_axis(x, [[0, 0], [1, 2]], 1)", "where(x > 0.4, x, y)",
        "select([x > 0.4], [x], y)",
    ),
    *(
        "compress([1, 0, 1], x, 1)", "reshape(x, (3, 2), 'F')", "moveaxis(x, 0, 1)",
        "swapaxes(x, 0, 1)",
    ),
    *(
        "roll(x, 1)", "roll(x, 1, 1)", "expand_dims(x, 1)", "broadcast_to(y, (2, 3))",
        "broadcast_arrays(x, y)",
    ),
    *(
        "full((2, 3), y)", "full_like(x, y)", "array([y, y])", "array([y[0], 2.0])",
        "array(x, np.float32)",
    ),
    *(
        "linspace(x, 2.0, 3)", "logspace(y, 2.0, 3)", "geomspace(y, 2.0, 3)", "meshgrid(y, y)",
        "isclose(x, y)",
    ),
    *("divmod(x, y)", "nextafter(x, y)", "sum(x, dtype=int)", "abs(x - y)", "argmax(x)"),
]  # fmt: skip


@cases(call=SLOPES)
def slopes(tf, call):
    x = tensor(tf, fill((2, 3), 0.1, 0.9), "float64")
    y = tensor(tf, fill((3,), 0.1, 0.9, 1), "float64")
    world = {"n": tf.experimental.numpy, "np": np}
    query = lambda: grads(tf, lambda x, y: eval(f"n.{call}", world, {"x": x, "y": y}), x, y)
    try:
        return query()
    except AttributeError:  # as in `plain`
        with enabled(tf):
            return query()


@cases(dtype=["float16", "float32", "bfloat16", "complex64"])
def slopes_through_promotion(tf, dtype):
    n = tf.experimental.numpy
    x = tensor(tf, [0.5, 1.5], dtype)
    y = tf.Variable([1.25, 2.5])

    def call(x, y):
        return n.sum(n.multiply(n.add(x, y), [1, 2]) * 1)

    return grads(tf, call, x, y, order=1)


@case
def slopes_of_a_variable(tf):
    n = tf.experimental.numpy
    v = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        y = n.dot(v, n.exp(v)) + n.sum(n.take(v, [0, 0]))
    return y, tf.convert_to_tensor(tape.gradient(y, v))


# ------------------------------------------------------------------------------------ behaviour
METHODS = [
    "i.T", "t.T", "s.T", "i.ndim", "i.size", "s.size", "i.tolist()", "s.tolist()", "i.data", "+i",
    "+tf.constant(True)",
    "i.flatten()", "i.flatten('F')", "i.reshape(6)", "i.reshape(3, 2)", "i.reshape((3, -1))",
    "i.reshape([6], order='F')",
    "i.reshape(6, foo=1)", "i.reshape(5)", "i.ravel()", "t.transpose()", "t.transpose((1, 0, 2))",
    "i.clip(0, 3)", "i.clip(0.5, 3)",
    "i.astype(float)", "i.astype(np.float64)", "f.astype(tf.int32)", "f.max()", "f.max(0)",
    "f.max(axis=1, keepdims=True)", "i.mean()",
    "f.mean(0)", "i.mean(dtype=np.float32)", "f.min(-1)", "round(f)", "round(s, 1)", "round(q, -1)",
    "abs(i)", "-i", "~b", "f.sum()",
    "f.dot(f)", "v.T", "v.reshape(3)", "f.shape", "f.dtype", "len(f)", "f.numpy()",
    "[r.tolist() for r in i]",
]  # fmt: skip
KEYS = [
    "-1", "1:", "::2", "...", "None", "()", "1, 2", "1, ..., 2", ":, 1", "[0, 1]", "[[0, 1]]",
    "[0, -1]", "[1, 1, 0]", "5", "[5]", "[-5]", "1.0",
    "'a'", "np.int8(1)", "np.uint64(1)", "q - 6", "tf.constant([1, 0])", "tf.constant([[1], [0]])",
    "tf.constant([1, 0], tf.uint8)",
    "np.array([1, 0], np.uint64)", "[0, 1], [1, -1]", ":, [1, -1]", "1, [1, -1]", "[1, -1], 1",
    "..., [1, -1]", "None, [0, 1]", "..., None, [1, 0]",
    "[0, 1], :, [1, 2]", ":, [0, 1], [1, 2]", ":, [[0], [1]], [1, 2]", "0, :, [1, 2]",
    "[0, 1], 0, [1, 2]", "[0, 1], ..., [1, 2]", "[0], None, [1, 2]",
    "..., 0, [1, 2]", "[True, False]", "[True, False], [1]", "np.array([True, False])", "t > 5",
    "t[0] > 5", "True", "[0, 1], [0, 1, 2]", ":, :, :, 0",
    "[], 0", "1:, [0, 2], ::2", "[[0, 1], [1, 0]], 1", "slice(q - 7, q - 5)", "slice(1.5)",
    "slice([0])", "[0, 1], [1, 1], [2, 0]", "np.array(1)",
    "range(2)", "(0, 1),", "[slice(1), 0]", "[None, 0]", "[tf.constant(1), 0]",
    "tf.constant([True, False]), 0", ":, [True, False, True]",
    ":, [[True, False, True]]",
]  # fmt: skip
TENSORS = ["i", "f", "u", "c", "h", "v", "q", "s"]
NUMBERS = ["2", "2.5", "True", "1j", "[1, 2, 3]", "[0.5, 1, 2]"]
ARRAYS = ["d", "k", "np.float64(2)", "np.int8(2)"]
ARITHMETIC = ["+", "-", "*", "/", "//", "%", "**"]
COMPARISONS = ["<", ">=", "==", "!="]


@cases(call=METHODS)
def methods(tf, call):
    with enabled(tf):
        return eval(call, {}, given(tf))


@cases(call=[call for call in METHODS if not call.startswith(("round", "+"))])
def methods_not_enabled(tf, call):
    return eval(call, {}, given(tf))


@cases(key=KEYS)
def keys(tf, key):
    with enabled(tf):
        return eval(f"t[{key}]", {}, given(tf))


@cases(
    key=[
        "[1, 1, 0]",
        "[0, 1], [1, 1]",
        ":, [1, 1, 0]",
        "[0, 1], :, [1, 1]",
        "1, [2, 2]",
        "..., 1",
        "x > 0.5",
    ]
)
def slopes_of_keys(tf, key):
    x = tensor(tf, fill((2, 3, 4), 0.1, 0.9), "float64")
    with enabled(tf):
        return grads(tf, lambda x: eval(f"x[{key}] ** 2", {}, {"x": x}), x)


@cases(sign=[*ARITHMETIC, *COMPARISONS, "&", "|", "^", "@"], mode=["legacy", "float32"])
def operators(tf, sign, mode):
    """Of all pairs with a tensor among them, the dtype of the result or the type of the error."""
    values = [*TENSORS, *NUMBERS, *ARRAYS]
    # TensorFlow does not find a variable's dtype on the right of a comparison.
    values = [
        value for value in values if value not in (sign in COMPARISONS and "v", sign == "@" and "u")
    ]
    with enabled(tf, mode == "float32"):
        return dtypes_of(tf, sign, values)


@cases(sign=[*ARITHMETIC, "==", "@"], mode=["all", "safe"])
def operators_with_weak_numbers(tf, sign, mode):
    values = [value for value in (*TENSORS, *NUMBERS) if sign != "@" or value != "u"]
    with enabled(tf, False, mode):
        return dtypes_of(tf, sign, values)


def dtypes_of(tf, sign, values):
    world = {**given(tf), **STRONG(tf)}
    return {
        f"{x} {sign} {y}": brief(lambda x=x, y=y: eval(f"{x} {sign} {y}", {}, world).dtype)
        for x, y in itertools.product(values, repeat=2)
        if x in TENSORS or y in TENSORS
    }


@cases(
    call=["i.T", "i.reshape(6)", "i[[0, 1]]", "i + f", "i + 1.5", "i == 1.5", "f * 2", "round(f)"]
)
def off(tf, call):
    with enabled(tf, False, "off"):
        return eval(call, {}, given(tf))


def STRONG(tf):
    """Made of arrays, because tensors made of Python numbers are weak in some modes."""
    return {
        "i": tf.constant(np.array([[1, 2, 3], [4, 5, 6]], np.int32)),
        "f": tf.constant(np.array([[0.5, 1.5, 2.25], [3.0, 0.25, 0.75]], np.float32)),
        "u": tf.constant(np.array([[1, 2, 3]], np.uint8)),
        "c": tf.constant(np.array([1 + 2j, 3j, 1], np.complex64)),
        "h": tf.constant(np.array([1.5, 2.5, 0.5], np.float16)),
        "q": tf.constant(np.int64(2)),
        "s": tf.constant(np.float32(2.5)),
    }


@cases(
    sign=["+", "*", "/", "-", "**"],
    pair=[("i", "f"), ("f", "2.5"), ("i", "2.5"), ("h", "f"), ("f", "d"), ("2.5", "h")],
)
def values_of_operators(tf, sign, pair):
    with enabled(tf):
        world = {**given(tf), **STRONG(tf)}
        return eval(f"{pair[0]} {sign} {pair[1]}", {}, world)


@case
def slopes_of_promoting_operators(tf):
    x = tensor(tf, fill((2, 3)), "float32")
    y = tensor(tf, fill((3,), seed=1), "float64")
    with enabled(tf):
        return grads(tf, lambda x, y: (x * y + 1.5) / 2 - x @ y[:, None], x, y)


DTYPES = words(
    "bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 bfloat16 float16 float32 float64 "
    "complex64 complex128"
)
KINDS = [f"tf.{name}" for name in DTYPES]
KINDS += ["1", "1.5", "1j", "True", "int", "float", "complex", "'a'", "tf.string", "np.float32(1)"]


@cases(mode=["off", "legacy", "safe", "all", "float32"], first=KINDS)
def result_types(tf, mode, first):
    options = (True,) if mode == "float32" else (False, mode)
    with enabled(tf, *options):
        n = tf.experimental.numpy
        a = eval(first, {"tf": tf, "np": np})
        return {
            k: brief(lambda k=k: n.result_type(a, eval(k, {"tf": tf, "np": np}))) for k in KINDS
        }


PREFERRED = [
    "array(1.5)", "array([1.5])", "asarray(1j)", "zeros(2)", "zeros(2, None)", "ones(2)", "exp(1)",
    "exp(1.0)", "add(1, 2.0)", "add(h, 1.0)",
    "mean([1, 2])", "linspace(0, 1, 3)", "arange(3.0)", "eye(2)", "tri(2)", "random.rand(2)",
    "full(2, 1.5)", "divide(True, True)", "sum([1, 2])",
    "around(1.25, 1)", "std([1, 2])", "result_type(1.0)", "result_type(float)", "array([1.5, 2])",
    "where(b, 1.5, 2)",
]  # fmt: skip


@cases(call=PREFERRED)
def prefer_float32(tf, call):
    with enabled(tf, True):
        return run(tf, call)


@cases(call=[call for call in PREFERRED if not call.startswith("result")], mode=["all", "safe"])
def dtypes_with_weak_numbers(tf, call, mode):
    with enabled(tf, False, mode):
        return brief(lambda: run(tf, call).dtype)


@cases(mode=["bad", "", None, "ALL"])
def wrong_modes(tf, mode):
    with enabled(tf, False, mode):
        return mode
