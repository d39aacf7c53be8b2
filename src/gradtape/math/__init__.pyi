"""The names of this namespace; written by `python -m tests.stubs` from `_HOMES`."""

from . import special as special
from ..arrays.sorting import (
    approx_max_k as approx_max_k, approx_min_k as approx_min_k, top_k as top_k,
)  # fmt: skip
from ..nn.activations import log_softmax as log_softmax, softmax as softmax
from .elementwise import (
    abs as abs, accumulate_n as accumulate_n, acos as acos, acosh as acosh, add as add, add_n as
    add_n, angle as angle, asin as asin, asinh as asinh, atan as atan, atan2 as atan2, atanh as
    atanh, bessel_i0 as bessel_i0, bessel_i0e as bessel_i0e, bessel_i1 as bessel_i1, bessel_i1e
    as bessel_i1e, betainc as betainc, ceil as ceil, conj as conj, cos as cos, cosh as cosh,
    digamma as digamma, divide as divide, divide_no_nan as divide_no_nan, equal as equal, erf as
    erf, erfc as erfc, erfcinv as erfcinv, erfinv as erfinv, exp as exp, expm1 as expm1, floor
    as floor, floordiv as floordiv, floormod as floormod, greater as greater, greater_equal as
    greater_equal, igamma as igamma, igammac as igammac, imag as imag, is_finite as is_finite,
    is_inf as is_inf, is_nan as is_nan, less as less, less_equal as less_equal, lgamma as
    lgamma, log as log, log1p as log1p, log_sigmoid as log_sigmoid, logical_and as logical_and,
    logical_not as logical_not, logical_or as logical_or, logical_xor as logical_xor, maximum as
    maximum, minimum as minimum, mod as mod, multiply as multiply, multiply_no_nan as
    multiply_no_nan, ndtri as ndtri, negative as negative, nextafter as nextafter, not_equal as
    not_equal, polygamma as polygamma, polyval as polyval, pow as pow, real as real, reciprocal
    as reciprocal, reciprocal_no_nan as reciprocal_no_nan, rint as rint, round as round, rsqrt
    as rsqrt, scalar_mul as scalar_mul, sigmoid as sigmoid, sign as sign, sin as sin, sinh as
    sinh, softplus as softplus, softsign as softsign, sqrt as sqrt, square as square,
    squared_difference as squared_difference, subtract as subtract, tan as tan, tanh as tanh,
    truediv as truediv, xdivy as xdivy, xlog1py as xlog1py, xlogy as xlogy, zeta as zeta,
)  # fmt: skip
from .reductions import (
    argmax as argmax, argmin as argmin, count_nonzero as count_nonzero, cumprod as cumprod,
    cumsum as cumsum, cumulative_logsumexp as cumulative_logsumexp, in_top_k as in_top_k,
    invert_permutation as invert_permutation, is_non_decreasing as is_non_decreasing,
    is_strictly_increasing as is_strictly_increasing, l2_normalize as l2_normalize, lbeta as
    lbeta, reduce_all as reduce_all, reduce_any as reduce_any, reduce_euclidean_norm as
    reduce_euclidean_norm, reduce_logsumexp as reduce_logsumexp, reduce_max as reduce_max,
    reduce_mean as reduce_mean, reduce_min as reduce_min, reduce_prod as reduce_prod, reduce_std
    as reduce_std, reduce_sum as reduce_sum, reduce_variance as reduce_variance, zero_fraction
    as zero_fraction,
)  # fmt: skip
from .segments import (
    bincount as bincount, confusion_matrix as confusion_matrix, segment_max as segment_max,
    segment_mean as segment_mean, segment_min as segment_min, segment_prod as segment_prod,
    segment_sum as segment_sum, unsorted_segment_max as unsorted_segment_max,
    unsorted_segment_mean as unsorted_segment_mean, unsorted_segment_min as
    unsorted_segment_min, unsorted_segment_prod as unsorted_segment_prod,
    unsorted_segment_sqrt_n as unsorted_segment_sqrt_n, unsorted_segment_sum as
    unsorted_segment_sum,
)  # fmt: skip
from .special import sobol_sample as sobol_sample
