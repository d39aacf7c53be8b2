"""Numbers that TensorFlow leaves open, or gets wrong: nan and infinities, above all."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from tests.tensorflow.fuzz.known.answers import floats, numbers
from tests.tensorflow.fuzz.known.found import FORWARD, TWICE, Family, Found, equal

DIFFERS = Family()

SORTING = ("tf.sort(", "numpy.sort(", "tf.argsort(", "tf.nn.top_k(", "in_top_k", "searchsorted")

REMAINDERS = ("mod({0}, {1})", "{0} % {1}")


def _nan_twice(d: Found, word: str) -> bool:
    """A second derivative that is nan in TensorFlow only, behind a step with this word."""
    if word not in d.ops or d.program["scenario"]["kind"] not in TWICE or not d.numeric:
        return False
    wanted, found = numbers(d.expected), numbers(d.got)
    return d.place[0] > 0 and equal(wanted, found, np.isnan(wanted))


@DIFFERS.difference(
    "nan among sorted",
    "Sorting takes nan for the greatest number; TensorFlow's order is then arbitrary.",
)
def _nan_sorted(d: Found) -> bool:
    """A step sorts something with nan in it."""
    steps = [s for s in d.program["steps"] if any(word in s["op"] for word in SORTING)]
    if not steps or not d.numeric:
        return False
    values = d.values()
    sorted_ = [values[name] for step in steps for name in step["of"] if name in values]
    return any(value.dtype.kind == "f" and np.isnan(value).any() for value in sorted_)


@DIFFERS.difference(
    "nan in a matrix",
    "What becomes of a matrix with inf or nan in it in `tf.linalg` follows LAPACK: all nan, or "
    "InvalidArgumentError.",
)
def _nan_in_matrix(d: Found) -> bool:
    words = ("tf.linalg.", "tf.raw_ops.Matrix", "tf.raw_ops.LogMatrix", "tf.raw_ops.Cholesky(")
    given = [value for word in words for value in d.operands(word)]
    return any(not np.isfinite(value).all() for value in given)


@DIFFERS.difference(
    "failed cholesky",
    "Of a complex matrix without a Cholesky factor the result is nan; TensorFlow gives memory that "
    "nobody wrote to.",
)
def _failed_cholesky(d: Found) -> bool:
    kinds = "holesky(" in d.ops and "complex" in (d.expected or {}).get("tensor", "")
    return kinds and d.numeric and bool(np.isnan(numbers(d.got)).any())


@DIFFERS.difference(
    "qr beyond the range",
    "`tf.linalg.qr` of numbers whose squares are beyond the range is computed; TensorFlow's is "
    "inf or nan.",
)
def _qr_beyond(d: Found) -> bool:
    given = [value for word in ("linalg.qr(", "Qr(") for value in d.operands(word)]
    large = any((np.abs(np.asarray(value)) > 1e19).any() for value in given)
    wanted = numbers(d.expected)
    return large and d.numeric and equal(wanted, numbers(d.got), ~np.isfinite(wanted))


@DIFFERS.difference(
    "gamma far out",
    "`tf.math.igamma` and `igammac` are accurate also for arguments beyond 1e5 or below 1e-5; "
    "TensorFlow's series stop before they converge.",
)
def _gamma_far_out(d: Found) -> bool:
    """Numbers that differ only where an argument lies there."""
    wanted, found = numbers(d.expected), numbers(d.got)
    far = np.zeros(wanted.shape, bool)
    for value in (*d.operands("igamma"), *d.operands("Igamma")) if d.numeric else ():
        size = np.abs(np.asarray(value))
        size = size.reshape(wanted.shape) if size.size == wanted.size else size
        with contextlib.suppress(ValueError):  # the result of another step, of another shape
            far |= np.broadcast_to((size > 1e5) | ((size > 0) & (size < 1e-5)), wanted.shape)
    return bool(far.any()) and equal(wanted, found, far)


VECTORS = (
    "tf.linalg.svd(", "tf.linalg.eigh(", "tf.linalg.eig(", "tf.eig(", "tf.linalg.qr(",
    "tf.raw_ops.Qr(",
)  # fmt: skip


@DIFFERS.difference(
    "signs of vectors",
    "Singular vectors and eigenvectors are given up to their sign, or their phase if they are "
    "complex, which is LAPACK's.",
)
def _signs(d: Found) -> bool:
    """Vectors that differ by a factor of size 1 each; behind them, numbers of the same size."""
    steps = d.program["steps"]
    found_in = [step["to"] for step in steps if any(word in step["op"] for word in VECTORS)]
    if not d.numeric or not found_in:
        return False
    wanted, found = numbers(d.expected), numbers(d.got)
    used = {name for step in steps for name in step["of"]}
    if d.place[:1] == (0,) and not used & set(found_in):  # nothing but the vectors themselves
        if "complex" in d.expected.get("tensor", ""):
            wanted, found = (part[..., 0] + 1j * part[..., 1] for part in (wanted, found))
        return _turned(wanted, found, -2) or _turned(wanted, found, -1)  # of qr, r has rows
    return bool(np.allclose(np.abs(wanted), np.abs(found), 1e-3, 1e-4, equal_nan=True))


def _turned(wanted: Any, found: Any, axis: int) -> bool:
    """Whether the vectors along this axis differ by a factor of size 1, each by its own."""
    if wanted.ndim < 2:
        return False
    inner = (np.conj(wanted) * found).sum(axis, keepdims=True)
    phase = np.divide(inner, np.abs(inner), where=inner != 0, out=np.ones_like(inner))
    return bool(np.allclose(wanted * phase, found, 1e-3, 1e-4))


WINDOWS = ("conv", "sobel_edges", "avg_pool")


@DIFFERS.difference(
    "sums beyond the range",
    "Whether a window with numbers near the end of their range adds up to an infinity, to nan or "
    "to a number hangs on the order of the sum.",
)
def _beyond(d: Found) -> bool:
    """Only numbers that are not finite on one side, behind a window over such numbers."""
    words = WINDOWS if d.numeric else ()
    given = [np.asarray(value) for word in words for value in d.operands(word)]
    large = any((np.abs(value[np.isfinite(value)]) > 1e30).any() for value in given)
    wanted, found = numbers(d.expected), numbers(d.got)
    return large and equal(wanted, found, ~np.isfinite(wanted) | ~np.isfinite(found))


COLOURS = ("adjust_hue", "adjust_saturation", "random_hue", "random_saturation")


@DIFFERS.difference(
    "pixels of 32 bits",
    "Colours of whole-number images go through float32, in which the last 8 bits of 32 are "
    "roundings.",
)
def _wide_pixels(d: Found) -> bool:
    dtype = d.expected.get("tensor", "") if d.numeric else ""
    if dtype not in ("int32", "uint32") or not any(word in d.ops for word in COLOURS):
        return False
    return bool((np.abs(numbers(d.expected) - numbers(d.got)) <= 2**8).all())


@DIFFERS.difference(
    "hue of grey",
    "The gradient of `tf.image.rgb_to_hsv` is shared among equal channels, and negative channels "
    "have one too; TensorFlow's formula takes the first of equal ones, and leaves out what is not "
    "positive.",
)
def _hue_of_grey(d: Found) -> bool:
    """A gradient behind rgb_to_hsv of a pixel with equal channels, or with one that is not
    positive."""
    if not d.numeric or d.place[:1] == (0,):
        return False
    for value in map(np.asarray, d.operands("tf.image.rgb_to_hsv(")):
        if value.size % 3 == 0:
            pixels = np.sort(value.reshape(-1, 3), axis=-1)
            if (np.diff(pixels, axis=-1) == 0).any() or (pixels <= 0).any():
                return True
    return False


@DIFFERS.difference(
    "erfinv near 0",
    "`erfinv` of a number near 0 is accurate; TensorFlow's goes by (1 + x) / 2 and loses digits.",
)
def _erfinv_near_zero(d: Found) -> bool:
    given = d.operands("erfinv") if d.numeric else []
    return any(((value != 0) & (np.abs(value) < 1e-3)).any() for value in map(np.asarray, given))


@DIFFERS.difference(
    "nan in a pool",
    "In a max pool nan is greater than nothing, and the slope goes to the greatest number, "
    "also if it is inf; TensorFlow's results and slopes are arbitrary then.",
)
def _pool_of_nan(d: Found) -> bool:
    given = d.operands("max_pool") if d.numeric else []
    return any(not np.isfinite(value).all() for value in given)


@DIFFERS.difference(
    "nan in a segment",
    "In a segment's maximum or minimum what does not beat the next row gives way to it; "
    "with nan TensorFlow's hangs on the number of columns.",
)
def _segment_of_nan(d: Found) -> bool:
    words = ("segment_max", "segment_min") if d.numeric else ()
    return any(np.isnan(value).any() for word in words for value in d.operands(word))


@DIFFERS.difference(
    "igamma far out",
    "`igamma` and `igammac` of arguments beyond a million are accurate.",
)
def _igamma_far_out(d: Found) -> bool:
    given = d.operands("tf.math.igamma") if d.numeric else []
    return any(np.nanmax(np.abs(value), initial=0.0) > 1e6 for value in given)


@DIFFERS.difference(
    "ctc without a class",
    "In `ctc_loss` a logit of -inf is a class that cannot be; TensorFlow's loss is nan then.",
)
def _ctc_without_class(d: Found) -> bool:
    """Only numbers that are nan in TensorFlow, behind ctc_loss of -inf."""
    given = d.operands("ctc_loss") if d.numeric else []
    wanted, found = numbers(d.expected), numbers(d.got)
    infinite = any((value == -np.inf).any() for value in given)
    return infinite and equal(wanted, found, np.isnan(wanted))


@DIFFERS.difference(
    "below zero",
    "A cast of negative numbers to an unsigned dtype wraps around; TensorFlow's is undefined.",
)
def _below_zero(d: Found) -> bool:
    """A negative number is cast to an unsigned dtype."""
    values = d.values() if d.numeric else {}
    casts = [step for step in d.program["steps"] if step["op"] == "tf.cast({0}, {to})"]
    given = [values.get(step["of"][0]) for step in casts if step["dtype"].startswith("uint")]
    return any(value is not None and (value < 0).any() for value in given)


@DIFFERS.difference(
    "saturated to 64 bits",
    "`saturate_cast` of and to whole numbers of 64 bits ends at the last number that both dtypes "
    "hold; TensorFlow's limit is one beyond, and what a cast makes of that is undefined.",
)
def _saturated(d: Found) -> bool:
    """Only numbers from 2**62 on, behind saturate_cast or what is made of it."""
    words = ("saturate_cast", "convert_image_dtype")
    if not d.numeric or not any(word in d.ops for word in words):
        return False
    wanted, found = numbers(d.expected), numbers(d.got)
    return equal(wanted, found, np.maximum(np.abs(wanted), np.abs(found)) >= 2.0**62)


@DIFFERS.difference(
    "roll in a jacobian",
    "The Jacobian of `tf.roll` along a negative axis rolls that axis; TensorFlow's "
    "vectorization rolls another.",
)
def _turned_in_jacobian(d: Found) -> bool:
    kinds = ("jacobian", "batch_jacobian", "hessian")
    rolled = "axis=[-1])" in d.ops and "tf.roll" in d.ops
    return d.program["scenario"]["kind"] in kinds and rolled and d.numeric and d.place[0] > 0


@DIFFERS.difference(
    "product with zero",
    "The second derivative of a segment's product with one zero in it is finite, not nan.",
)
def _product_with_zero(d: Found) -> bool:
    return _nan_twice(d, "segment_prod") and any(
        (value == 0).any() for value in d.operands("segment_prod")
    )


@DIFFERS.difference(
    "running twice",
    "The second derivative of `cumulative_logsumexp` is finite where TensorFlow's is nan: in "
    "forward mode, and of an exclusive one whose first result, -inf, is not used.",
)
def _running_twice(d: Found) -> bool:
    return _nan_twice(d, "cumulative_logsumexp")


@DIFFERS.difference(
    "tangent of a constant",
    "In forward mode an operand without a tangent adds nothing; in TensorFlow it adds 0 times "
    "its slope, which is nan where that is infinite (the tangents of 1 / x and of y % x at 0).",
)
def _tangent_of_constant(d: Found) -> bool:
    """Tangents that are nan in TensorFlow and infinite here, or behind a remainder of x by 0, which
    has a finite slope in x only."""
    if d.program["scenario"]["kind"] not in FORWARD or not d.numeric or not d.place[0]:
        return False
    wanted, found = numbers(d.expected), numbers(d.got)
    by_zero = any((value == 0).any() for word in REMAINDERS for value in d.operands(word))
    return equal(wanted, found, np.isnan(wanted) & (np.isinf(found) | by_zero))


@DIFFERS.difference(
    "erf of infinity",
    "In float64 `erf` of an infinity is 1 or -1, not nan.",
)
def _erf_of_infinity(d: Found) -> bool:
    given = d.operands("tf.math.erf({0})") if d.numeric else []
    return any(np.isinf(value).any() for value in given)


PRODUCTS = ("matmul", "matvec", "einsum", "tensordot")


@DIFFERS.difference(
    "sign of zero",
    "`relu(-0.0)` is 0.0, and so is a product of matrices that is 0 as a rule; in TensorFlow the "
    "signs hang on the sizes of the tensors and on whether they are transposed.",
)
def _sign_of_zero(d: Found) -> bool:
    """Infinities of another sign, or an angle turned by pi, behind relu of -0.0 or a product."""
    if not d.numeric:
        return False
    wanted, found = numbers(d.expected), numbers(d.got)
    turned = np.zeros(wanted.shape, bool)
    if "atan2" in d.ops or "angle" in d.ops:
        turns = np.abs(wanted - found) / np.pi
        turned = np.isclose(turns, 1.0) | np.isclose(turns, 2.0)
    other = (np.isinf(wanted) & (wanted == -found)) | turned
    return equal(wanted, found, other) and ("tf.nn.relu" in d.ops or _zero_product(d))


def _zero_product(d: Found) -> bool:
    steps = [s["to"] for s in d.program["steps"] if any(word in s["op"] for word in PRODUCTS)]
    values = d.values() if steps else {}
    return any((values[name] == 0).any() for name in steps if name in values)


@DIFFERS.difference(
    "untouched pixels",
    "In the slopes of a depthwise convolution inf and nan stay with the pixels whose windows "
    "hold them; TensorFlow spreads them.",
)
def _untouched(d: Found) -> bool:
    """Only numbers that are nan in TensorFlow, behind a depthwise convolution with nan in it."""
    pair = numbers(d.expected), numbers(d.got)
    if "depthwise_conv2d" not in d.ops and "separable_conv2d" not in d.ops:
        return False
    return d.numeric and equal(*pair, np.isnan(pair[0]))


@DIFFERS.difference(
    "complex infinities",
    "Which parts of a complex number that is not finite are inf or nan follows NumPy's "
    "arithmetic, also inside of `tf.signal`.",
)
def _complex_infinities(d: Found) -> bool:
    """Numbers that are not finite on either side, in a program with complex numbers."""
    dtypes = str([part["dtype"] for part in d.program["steps"]])
    if "complex" not in dtypes and "tf.signal." not in d.ops:
        return False
    if not all(isinstance(side, dict) and "value" in side for side in (d.expected, d.got)):
        return False
    wanted, found = (np.asarray(floats(side["value"]), np.float64) for side in (d.expected, d.got))
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


@DIFFERS.difference(
    "complex power of 0",
    "In forward mode, the second derivative of a power of the complex number 0 is finite, where "
    "TensorFlow's is nan.",
)
def _complex_power_of_zero(d: Found) -> bool:
    if d.program["scenario"]["kind"] not in FORWARD or not d.numeric or not d.place[0]:
        return False
    at_zero = any((np.asarray(v) == 0).any() for v in d.operands("**") if np.iscomplexobj(v))
    wanted, found = numbers(d.expected), numbers(d.got)
    return at_zero and equal(wanted, found, np.isnan(wanted) & np.isfinite(found))


@DIFFERS.difference(
    "complex products",
    "A part of a complex product that cancels out is 0 to the rounding of one factor (NumPy rounds "
    "once what TensorFlow rounds twice), and what is computed from it differs as much.",
)
def _complex_products(d: Found) -> bool:
    if not d.numeric or "*" not in d.ops:
        return False
    parts = [np.abs(v).max() for v in d.values().values() if np.iscomplexobj(v) and np.size(v)]
    wanted, found = numbers(d.expected), numbers(d.got)
    # The weights of a query are the cosines of three times its targets.
    far = 1e-13 * np.cosh(min(3 * max(parts), 300.0)) * max(parts) if parts else 0.0
    return equal(wanted, found, (wanted == 0) & (np.abs(found) < far))


@DIFFERS.difference(
    "hue of whole numbers",
    "`tf.image.adjust_hue` of whole numbers, which are cut off at the end, is 1 more or less where "
    "the float32 numbers before differ in their last digit.",
)
def _hue_of_whole_numbers(d: Found) -> bool:
    if not d.numeric or "hue" not in d.ops or "int" not in d.expected.get("tensor", ""):
        return False
    return bool(np.all(np.abs(numbers(d.expected) - numbers(d.got)) <= 1))


@DIFFERS.difference(
    "powers of complex zero",
    "A complex 0 to the power of 0 is 1, as for other numbers; TensorFlow's is nan.",
)
def _powers_of_zero(d: Found) -> bool:
    words = ("tf.pow(", "tf.math.pow(", "**", "numpy.power(", "raw_ops.Pow(")
    if not d.numeric or "complex" not in d.expected.get("tensor", ""):
        return False
    if not any((value == 0).any() for word in words for value in d.operands(word)):
        return False
    wanted = numbers(d.expected)
    return equal(wanted, numbers(d.got), np.isnan(wanted))


@DIFFERS.difference(
    "denormal numbers",
    "Numbers below the smallest normal one are kept, where TensorFlow's CPU flushes them to 0.",
)
def _denormal_numbers(d: Found) -> bool:
    """A step gave such a number to another, or this is one."""
    if not d.numeric:
        return False
    values = [v for v in [*d.values().values(), numbers(d.got)] if v.dtype.kind == "f"]
    return any(((v != 0) & (np.abs(v) < np.finfo(np.float32).tiny)).any() for v in values)


@DIFFERS.difference(
    "order of eigenvalues",
    "`tf.linalg.eigvals` and `tf.linalg.eig` list eigenvalues in the order of LAPACK.",
)
def _order_of_eigenvalues(d: Found) -> bool:
    """The same numbers in another order, to the rounding of the largest."""
    if not d.numeric or not any(word in d.ops for word in ("eigvals(", ".eig(", "Eig(")):
        return False
    pair = [complex_numbers(side) for side in (d.expected, d.got)]
    if pair[0].shape != pair[1].shape or not pair[0].size:
        return False
    left = list(pair[1].ravel())
    near = 1e-5 * max(np.abs(pair[0]).max(), 1e-30)
    for one in pair[0].ravel():
        nearest = min(range(len(left)), key=lambda k: abs(left[k] - one))
        if not abs(left[nearest] - one) <= near:
            return False
        del left[nearest]
    return True


def complex_numbers(side: Any) -> Any:
    """The numbers of a complex tensor, of which each is a pair."""
    found = numbers(side)
    if "complex" not in side.get("tensor", "") or found.shape[-1:] != (2,):
        return np.zeros((0, 0))
    return found[..., 0] + 1j * found[..., 1]


@DIFFERS.difference(
    "linspace of unsigned numbers",
    "`tf.linspace` goes down between unsigned numbers; in TensorFlow their difference wraps "
    "around.",
)
def _unsigned_linspace(d: Found) -> bool:
    unsigned = any(one["dtype"].startswith("uint") for one in d.program["inputs"])
    return d.numeric and unsigned and "linspace(" in d.ops
