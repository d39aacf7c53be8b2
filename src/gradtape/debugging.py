"""`tf.debugging`: assertions about values, shapes and dtypes, and a check for NaN and infinity."""

from __future__ import annotations

import types
from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np

from . import dtypes, errors
from .core.apply import QUIET, restore, silence, tensor
from .core.op import Op
from .core.record import Value
from .framework import convert
from .framework.namespaces import lookup
from .ops import checks, compare
from .ops import elementwise as ew

__getattr__ = lookup(__name__)


# --- truth ----------------------------------------------------------------------------------------
def Assert(condition: Any, data: Any, summarize: int | None = None, name: Any = None) -> None:
    """Raise `InvalidArgumentError` with the data if the condition does not hold."""
    if convert.is_tensor_like(condition) and convert.is_recorded(condition._value):
        values = [convert.to_tensor(one)._value for one in data]
        check = lambda holds, *values: Assert(tensor(holds), values, summarize)
        convert.examine(check, condition._value, *values)
        return
    if condition:
        return
    if not isinstance(data, (list, tuple)):
        raise TypeError("values must be a sequence.")
    texts = [_summary(convert.to_tensor(one)._value, summarize) for one in data]
    raise errors.invalid(
        f"Expected '{condition!s}' to be true. Summarized data: {chr(10).join(map(str, texts))}"
    )


def _summary(values: Any, summarize: int | None) -> str:
    flat = np.asarray(values).ravel()
    count = 3 if summarize is None else summarize
    shown = [str(item) for item in flat[:count]]
    return ", ".join([*shown, "..."] if len(shown) < flat.size else shown)


def _pair(op: Op, sign: str, x: Any, y: Any, message: Any, summarize: Any) -> None:
    x, y = convert.to_tensor(x), convert.to_tensor(y)
    check = partial(_check_pair, sign, message, summarize)
    convert.examine(check, op.apply(x, y)._value, x._value, y._value)


def _check_pair(sign: str, message: Any, summarize: Any, holds: Any, a: Any, b: Any) -> None:
    if np.all(holds):
        return
    a, b = np.asarray(a), np.asarray(b)
    count = 3 if summarize is None else summarize
    lines = [] if message is None else [str(message)]
    lines.append(f"Condition x {sign} y did not hold.")
    if a.shape == b.shape and a.ndim:
        wrong = ~np.asarray(holds)
        places = np.argwhere(wrong)[:count]
        lines += [f"Indices of first {len(places)} different values:", str(places)]
        lines += ["Corresponding x values:", str(a[wrong][:count])]
        lines += ["Corresponding y values:", str(b[wrong][:count])]
    for label, values in (("x", a), ("y", b)):
        lines += [f"First {min(count, values.size)} elements of {label}:"]
        lines += [str(values.reshape(-1)[:count])]
    raise errors.invalid("\n".join(lines))


def assert_equal(
    x: Any, y: Any, message: Any = None, summarize: int | None = None, name: Any = None
) -> None:
    """x == y everywhere.

    >>> import gradtape as tf
    >>> tf.debugging.assert_equal(tf.constant([1, 2]), [1, 2])
    """
    _pair(compare.equal, "==", x, y, message, summarize)


def assert_none_equal(
    x: Any, y: Any, summarize: int | None = None, message: Any = None, name: Any = None
) -> None:
    """x != y everywhere."""
    _pair(compare.not_equal, "!=", x, y, message, summarize)


def assert_less(
    x: Any, y: Any, message: Any = None, summarize: int | None = None, name: Any = None
) -> None:
    """x < y everywhere."""
    _pair(compare.less, "<", x, y, message, summarize)


def assert_less_equal(
    x: Any, y: Any, message: Any = None, summarize: int | None = None, name: Any = None
) -> None:
    """x <= y everywhere."""
    _pair(compare.less_equal, "<=", x, y, message, summarize)


def assert_greater(
    x: Any, y: Any, message: Any = None, summarize: int | None = None, name: Any = None
) -> None:
    """x > y everywhere."""
    _pair(compare.greater, ">", x, y, message, summarize)


def assert_greater_equal(
    x: Any, y: Any, message: Any = None, summarize: int | None = None, name: Any = None
) -> None:
    """x >= y everywhere."""
    _pair(compare.greater_equal, ">=", x, y, message, summarize)


def assert_near(
    x: Any,
    y: Any,
    rtol: Any = None,
    atol: Any = None,
    message: Any = None,
    summarize: int | None = None,
    name: Any = None,
) -> None:
    """|x - y| < atol + rtol * |y| everywhere; both are 10 units in the last place unless given."""
    x = convert.to_tensor(x)
    wanted = x._value.dtype
    y = convert.to_tensor(y, wanted)
    if wanted.kind not in "fcV":
        raise ValueError(
            f"data type {wanted.type} not inexact: assert_near takes fractions, assert_equal whole "
            "numbers"
        )
    real = np.empty(0, wanted).real.dtype
    least = 10.0 * float(np.finfo(np.float16 if real.kind == "V" else real).eps)
    rtol, atol = (convert.to_tensor(least if t is None else t, real) for t in (rtol, atol))
    check = partial(_check_near, message, summarize)
    difference = ew.sub.apply(x, y)
    convert.examine(check, *[t._value for t in (difference, x, y, rtol, atol)])


def _check_near(
    message: Any, summarize: Any, difference: Any, a: Any, b: Any, rtol: Any, atol: Any
) -> None:
    token = silence[QUIET]
    try:
        if np.all(np.abs(difference) < atol + rtol * np.abs(b)):
            return
    finally:
        restore(token)
    x, y, rtol, atol = map(tensor, (a, b, rtol, atol))
    Assert(
        False,
        [
            f"{message}.  " if message else "",
            f"x and y not equal to tolerance rtol = {rtol}, atol = {atol}",
            f"x (shape={x.shape} dtype={x.dtype.name}) = ", x,
            f"y (shape={y.shape} dtype={y.dtype.name}) = ", y,
        ],
        summarize,
    )  # fmt: skip


def _sign(op: Op, sign: str, x: Any, message: Any, summarize: Any) -> None:
    x = convert.to_tensor(x)
    zero = convert.to_tensor(0, x._value.dtype)
    check = partial(_check_sign, sign, message, summarize)
    convert.examine(check, op.apply(x, zero)._value, x._value)


def _check_sign(sign: str, message: Any, summarize: Any, holds: Any, values: Any) -> None:
    if np.all(holds):
        return
    x = tensor(values)
    raise errors.invalid(
        f"{f'{message}.  ' if message else ''}\nCondition x {sign} 0 did not hold element-wise:\n"
        f"x (shape={x.shape} dtype={x.dtype.name}) = \n{_summary(values, summarize)}"
    )


def assert_positive(
    x: Any, message: Any = None, summarize: int | None = None, name: Any = None
) -> None:
    """x > 0 everywhere."""
    _sign(compare.greater, ">", x, message, summarize)


def assert_negative(
    x: Any, message: Any = None, summarize: int | None = None, name: Any = None
) -> None:
    """x < 0 everywhere."""
    _sign(compare.less, "<", x, message, summarize)


def assert_non_negative(
    x: Any, message: Any = None, summarize: int | None = None, name: Any = None
) -> None:
    """x >= 0 everywhere."""
    _sign(compare.greater_equal, ">=", x, message, summarize)


def assert_non_positive(
    x: Any, message: Any = None, summarize: int | None = None, name: Any = None
) -> None:
    """x <= 0 everywhere."""
    _sign(compare.less_equal, "<=", x, message, summarize)


# --- finite numbers -------------------------------------------------------------------------------
def check_numerics(tensor: Any, message: str, name: Any = None) -> Any:
    """The tensor itself, or `InvalidArgumentError` if it or its gradient has NaN or infinity.

    >>> import gradtape as tf
    >>> tf.debugging.check_numerics(tf.constant([0.0]) / 0.0, "ratio")
    Traceback (most recent call last):
        ...
    tensorflow.python.framework.errors_impl.InvalidArgumentError: ratio : Tensor had NaN values ...
    """
    if not isinstance(message, (str, bytes)):
        raise TypeError(f"Expected string for argument 'message' not {message!r}.")
    x = convert.to_tensor(tensor)
    if x._value.dtype.kind not in "fV":
        raise convert.wrong_dtype(checks.check_numerics, x._value.dtype)
    return checks.check_numerics.apply(x, message=message)


def assert_all_finite(x: Any, message: str, name: Any = None) -> Any:
    """The tensor itself, or `InvalidArgumentError` if it holds NaN or infinity."""
    return check_numerics(x, message)


def enable_check_numerics(stack_height_limit: int = 30, path_length_limit: int = 50) -> None:
    """Check the results of all ops.

    Differs from TensorFlow: not there yet; `gradtape doctor` finds where NaN and infinity begin.
    """
    raise NotImplementedError(
        "tf.debugging.enable_check_numerics is not there: `gradtape doctor script.py` says where "
        "NaN and infinity begin."
    )


def disable_check_numerics() -> None:
    """Stop checking the results of all ops: nothing does."""


# --- shapes ---------------------------------------------------------------------------------------
def _prefix(message: Any) -> str:
    return f"{message}.  " if message else ""


def _rank(rank: Any) -> int:
    found = convert.to_tensor(rank)
    assert_type(found, dtypes.int32)
    if found._value.ndim:
        raise ValueError("Rank must be a scalar.")
    return int(found._value)


def _assert_rank(x: Any, holds: Any, words: str, message: Any) -> None:
    x = convert.to_tensor(x)
    ndim = x._value.ndim
    if not holds(ndim):
        raise ValueError(
            f"{_prefix(message)}Tensor  must have rank {words}.  Received rank {ndim}, "
            f"shape {x.shape}"
        )


def assert_rank(x: Any, rank: Any, message: Any = None, name: Any = None) -> None:
    """x has this many axes."""
    wanted = _rank(rank)
    _assert_rank(x, lambda ndim: ndim == wanted, str(wanted), message)


def assert_rank_at_least(x: Any, rank: Any, message: Any = None, name: Any = None) -> None:
    """x has at least this many axes."""
    wanted = _rank(rank)
    _assert_rank(x, lambda ndim: ndim >= wanted, f"at least {wanted}", message)


def assert_rank_in(x: Any, ranks: Any, message: Any = None, name: Any = None) -> None:
    """x has one of these numbers of axes."""
    wanted = tuple(_rank(rank) for rank in ranks)
    _assert_rank(x, lambda ndim: ndim in wanted, f"in {wanted}", message)


def assert_scalar(tensor: Any, message: Any = None, name: Any = None) -> Any:
    """The tensor has no axes."""
    x = convert.to_tensor(tensor)
    if x._value.ndim:
        raise ValueError(f"{_prefix(message)}Expected scalar shape, saw shape: {x.shape}.")
    return None


def assert_shapes(
    shapes: Any,
    data: Any = None,
    summarize: int | None = None,
    message: Any = None,
    name: Any = None,
) -> None:
    """Tensors have shapes of numbers and letters, where a letter is one size throughout.

    >>> import gradtape as tf
    >>> x, y = tf.zeros([5, 3]), tf.zeros([5])
    >>> tf.debugging.assert_shapes([(x, ("N", 3)), (y, ("N",))])
    """
    pairs = shapes.items() if isinstance(shapes, dict) else shapes
    sizes: dict[Any, tuple[int, str]] = {}
    for given, wanted in pairs:
        x = convert.to_tensor(given.deref() if hasattr(given, "deref") else given)
        if wanted is not None:
            _assert_shape(x, wanted, sizes, _prefix(message))


def _assert_shape(x: Any, wanted: Any, sizes: dict, prefix: str) -> None:
    who, shape = f"ensor shape={x.shape} dtype={x.dtype.name}", x._value.shape
    if not (hasattr(wanted, "__iter__") or hasattr(wanted, "__getitem__")):
        raise ValueError(
            f"{prefix}T{who}.  Specified shape must be an iterable.  An iterable has the attribute "
            f"`__iter__` or `__getitem__`.  Received specified shape: {wanted}"
        )
    names = list(wanted)
    first = 0
    if names and names[0] in (Ellipsis, "*"):
        names = names[1:]
        first = len(shape) - len(names)
        assert_rank_at_least(x, len(names), prefix.removesuffix(".  ") or None)
    elif names or len(shape) != 1:
        assert_rank(x, len(names), prefix.removesuffix(".  ") or None)
    elif shape != (1,):
        names = [1]  # as TensorFlow, to which () is a scalar or one number
    for at, name in enumerate(names):
        if name in (Ellipsis, "*"):
            raise ValueError(
                f"{prefix}T{who} specified shape index {at}.  Symbol `...` or `*` for a variable "
                "number of unspecified dimensions is only allowed as the first entry"
            )
        if name in (None, "."):
            continue
        size = shape[first + at]
        if isinstance(name, str) and not name.isdigit():
            expected, source = sizes.setdefault(name, (size, f"by t{who} dimension {first + at}"))
        else:
            expected, source = int(name), "explicitly"
        if size != expected:
            raise ValueError(
                f"{prefix}Specified {source}.  T{who} dimension {first + at} must have size "
                f"{expected}.  Received size {size}, shape {x.shape}"
            )


# --- dtypes ---------------------------------------------------------------------------------------
def assert_type(tensor: Any, tf_type: Any, message: Any = None, name: Any = None) -> None:
    """The tensor has this dtype."""
    found, wanted = convert.to_tensor(tensor).dtype, dtypes.as_dtype(tf_type)
    if found is not wanted:
        raise TypeError(
            f"{_prefix(message)}tensor must be of type tf.{wanted.name}; got tf.{found.name}"
        )


def assert_integer(x: Any, message: Any = None, name: Any = None) -> None:
    """x holds whole numbers."""
    found = convert.to_tensor(x).dtype
    if not found.is_integer:
        raise TypeError(
            f'{_prefix(message)}Expected "x" to be integer type.  Found: tensor of dtype {found!r}'
        )


def assert_same_float_dtype(tensors: Any = None, dtype: Any = None) -> Any:
    """The floating-point dtype that all of the tensors have (and that is given)."""
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    first = None
    for x in tensors or ():
        if wanted is None:
            wanted, first = x.dtype, x
        elif x.dtype is not wanted:
            beside = "" if first is None else f" as {first}"
            raise ValueError(
                f"{x}, type={x.dtype!r}, must be of the same type ({wanted!r}){beside}."
            )
    wanted = dtypes.float32 if wanted is None else wanted
    if not wanted.is_floating:
        raise ValueError(f"Expected floating point type, got {wanted.name}.")
    return wanted


def is_numeric_tensor(tensor: Any) -> bool:
    """Whether this is a tensor of numbers."""
    return isinstance(tensor, Value) and tensor._value.dtype.kind in "iufcV"


def assert_proper_iterable(values: Any) -> None:
    """A collection that Python iterates over item by item: no string, array or tensor."""
    if isinstance(values, (Value, str, bytes, np.ndarray)):
        raise TypeError(
            f'Expected argument "values" to be a "proper" iterable.  Found: {type(values)}'
        )
    if not isinstance(values, Iterable):
        raise TypeError(f'Expected argument "values" to be iterable.  Found: {type(values)}')


# --- settings -------------------------------------------------------------------------------------
_settings = types.SimpleNamespace(filtered=True, placement=False)


def enable_traceback_filtering() -> None:
    """Accepted: tracebacks are short as they are."""
    _settings.filtered = True


def disable_traceback_filtering() -> None:
    """Accepted: there is nothing hidden to show."""
    _settings.filtered = False


def is_traceback_filtering_enabled() -> bool:
    """The last setting."""
    return _settings.filtered


def set_log_device_placement(enabled: bool) -> None:
    """Accepted: all ops are placed on the CPU."""
    _settings.placement = bool(enabled)


def get_log_device_placement() -> bool:
    """The last setting."""
    return _settings.placement
