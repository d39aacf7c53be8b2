"""Arguments that must be known beforehand: shapes, axes, sizes, read as Python's own numbers."""

from __future__ import annotations

import contextlib
import warnings
from typing import Any

import numpy as np

from .. import dtypes, errors
from ..core import apply
from ..core.record import Value, threads
from . import convert
from .shapes import TensorShape


def numbers(
    value: Any, label: str, attr: str = "Tshape", only: bool = False, plain: bool = False
) -> tuple[int, ...]:
    """A vector of whole numbers: a list (of scalar tensors too), a tensor, an array, a shape."""
    found = quickly(value)
    if found is None:
        array = vector(value, label, attr, only, plain)
        if array.ndim > 1:
            raise errors.invalid(
                f"sizes input must be 1-D, not {list(array.shape)} (argument of {label}) "
                f"[Op:{label}]"
            )
        found = tuple(array.reshape(-1).tolist())
    return found


def quickly(value: Any) -> tuple[int, ...] | None:
    """The common cases: Python's whole numbers in a list or tuple, or scalar tensors among them."""
    if value.__class__ not in (list, tuple):
        return None
    found = []
    for n in value:
        if n.__class__ is not int:
            n = getattr(n, "_value", n)
            if not isinstance(n, np.integer):
                return None
            n = int(n)
        found.append(n)
    return tuple(found)


def vector(
    value: Any, label: str, attr: str, only: bool = False, plain: bool = False
) -> np.ndarray:
    """An array of whole numbers of any rank, or TensorFlow's error about the dtype.

    `only`: the op is declared for int32 alone, so that no text gets as far as it; `plain`: it hopes
    for no dtype, so that fractions do.
    """
    if isinstance(value, TensorShape):
        return np.array(known(value), np.int64)
    if only and isinstance(value, (str, bytes)):
        raise convert.cannot(value, np.dtype(np.int32))
    if only and isinstance(value, (list, tuple)) and not convert.holds_tensor(value):
        return np.asarray(convert.to_tensor(value, np.dtype(np.int32))._value).astype(np.int64)
    if value.__class__ is float and not plain:
        raise convert.cannot(value, np.dtype(np.int32))
    array = np.asarray(convert.to_tensor(value)._value)
    listed = isinstance(value, (list, tuple)) and convert.holds_tensor(value)
    if listed and array.dtype.kind in "fV" and not plain:
        # The tensors of a list are cast to the dtype that is hoped for: (tensor(3.0), 1) counts.
        array = np.asarray(convert.pack(value, np.dtype(np.int32))._value)
    if array.dtype.kind in "iu" or not array.size or _counts(value, array):
        return (array.real if array.dtype.kind == "c" else array).astype(np.int64)
    raise errors.wrong_dtype(
        f"Value for attr '{attr}' of {convert.c_name(array.dtype)} is not in the list of allowed "
        f"values: int32, int64. {label} takes whole numbers here, got {value!r}. [Op:{label}]"
    )


def alike(values: Any, label: str, attr: str, default: Any = None) -> list[np.ndarray]:
    """Whole numbers in several arguments of one dtype: the first tensor's, or the first value's."""
    values = [np.array(known(v), np.int32) if isinstance(v, TensorShape) else v for v in values]
    wanted = next((v._value.dtype for v in values if convert.is_tensor_like(v)), None)
    found = []
    for v in values:
        if convert.is_tensor_like(v) or not _sized(v):
            t = convert.to_tensor(v, wanted)
        elif wanted is None and default is not None and not isinstance(v, (str, bytes)):
            t = convert.to_tensor(v, np.dtype(default))
        else:
            t = convert.to_tensor(v, wanted)
        if wanted is None and _sized(v):
            wanted = t._value.dtype
        found.append(t._value)
    if wanted is not None and wanted not in (np.int32, np.int64):
        raise errors.wrong_dtype(
            f"Value for attr '{attr}' of {convert.c_name(wanted)} is not in the list of allowed "
            f"values: int32, int64. {label} takes whole numbers here, got {values!r}. [Op:{label}]"
        )
    return [convert.computed(_wide, array) for array in found]


def _wide(array: Any) -> np.ndarray:
    return np.asarray(array).astype(np.int64)


def whole(value: Any, hoped: Any) -> Any:
    """A tensor of an argument for which TensorFlow hopes for whole numbers of this dtype: truth
    values are counted, fractions are not."""
    if convert.is_tensor_like(value):
        return convert.to_tensor(value)
    if value.__class__ is float:
        raise convert.cannot(value, np.dtype(hoped))
    found = convert.to_tensor(value)
    if found._value.dtype.kind == "b" or not found._value.size:
        return convert.to_tensor(value, np.dtype(hoped))
    return found


def defaulted(value: Any, dtype: Any) -> Any:
    """A tensor of an argument for whose dtype TensorFlow's op has a default: an array is cast to
    it, whatever it holds; Python's own values become it if they can."""
    if convert.is_tensor_like(value):
        return convert.to_tensor(value)
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "biufcVUS":
        with warnings.catch_warnings(action="ignore"):  # of an imaginary part that is dropped
            return convert.to_tensor(np.asarray(value).astype(dtype))
    try:
        return convert.to_tensor(value, np.dtype(dtype))
    except (TypeError, ValueError):
        return convert.to_tensor(value)


def _sized(value: Any) -> bool:
    """Whether there is anything in it to tell its dtype by."""
    return not isinstance(value, (list, tuple)) or bool(value)


def several(values: Any, label: str, attr: str = "Index") -> list[tuple[int, ...]]:
    """Vectors of whole numbers of one dtype."""
    quick = [quickly(v) for v in values]
    if None not in quick:
        return quick  # type: ignore[return-value]
    if all(map(convert.quickly, values)):
        matching(label, values)  # which leaves tensors that do not agree to the op
    return [tuple(array.reshape(-1).tolist()) for array in alike(values, label, attr)]


def listed(value: Any, argument: str, function: str) -> Any:
    """A list (or tuple) as it is; nothing else stands for a list of tensors or numbers."""
    if not isinstance(value, (list, tuple)):
        raise TypeError(
            f"Expected list for '{argument}' argument to '{function}' Op, not {value!r}."
        )
    return value


def _counts(value: Any, array: np.ndarray) -> bool:
    """Whether TensorFlow, which hopes for int32, takes these for whole numbers: truth values, and
    NumPy's numbers of any kind, but no tensors."""
    if isinstance(value, Value) or hasattr(value, "_read"):
        return False
    of_numpy = isinstance(value, (np.ndarray, np.generic))
    if isinstance(value, (list, tuple)) and any(isinstance(one, np.generic) for one in value):
        return False  # NumPy's truth values in a list are none of Python's
    return array.dtype.kind == "b" or (array.dtype.kind in "fc" and of_numpy)


def is_open(size: int) -> bool:
    """Whether this is the stand-in for a size that nobody knows yet, or was made of one, so that it
    cannot be compared with others."""
    recording = threads.recording
    return recording is not None and recording.known((size,)).as_list() == [None]


def agree(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Whether two shapes are the same, as far as they are known."""
    return one == other or (
        threads.recording is not None
        and len(one) == len(other)
        and all(n == m or is_open(n) or is_open(m) for n, m in zip(one, other, strict=True))
    )


def known(shape: TensorShape) -> list[int]:
    if not shape.is_fully_defined():
        raise ValueError(f"Cannot convert a partially known TensorShape {shape} to a Tensor.")
    return shape.as_list()  # type: ignore[return-value]


def dimensions(shape: Any, label: str = "Fill") -> tuple[int, ...]:
    """The shape of a tensor to be made: a number stands for a vector of that size."""
    found = quickly(shape)
    if found is None:
        if isinstance(shape, TensorShape):
            found = tuple(known(shape))
        else:
            of_numpy = isinstance(shape, (np.ndarray, np.generic))
            floating = not of_numpy and not convert.holds_tensor(shape)
            array = np.asarray(convert.to_tensor(shape)._value)
            if floating and array.size and array.dtype.kind not in "biu":
                raise convert.cannot(shape, np.dtype(np.int32))
            if array.ndim > 1:
                raise errors.invalid(
                    f"dims must be a vector, got shape {list(array.shape)} [Op:{label}]"
                )
            found = tuple(vector(shape, label, "index_type").reshape(-1).tolist())
    for n in found:
        if n < 0:
            raise errors.invalid(f"Dimension {n} must be >= 0 [Op:{label}]")
    return found


_WIDEST = 2**63


def number(value: Any, label: str = "", only: bool = False, plain: bool = False) -> int:
    """One whole number, such as an axis; a list of one is as good, as it is in TensorFlow."""
    if value.__class__ is int:
        if not -_WIDEST <= value < _WIDEST:
            convert.to_tensor(value)  # its error
        return value
    array = np.asarray(getattr(value, "_value", None))
    if array.dtype.kind not in "iu" or array.size != 1:
        array = vector(value, label or "an argument", "Tidx", only, plain)
    if array.size != 1:
        raise errors.invalid(f"a single whole number is needed here, got {value!r} [Op:{label}]")
    return int(array.reshape(()))


# --- arguments that TensorFlow's ops call attributes: they are never tensors ----------------------
def truth(value: Any, argument: str, default: bool = False) -> bool:
    """True or False and nothing like them; None stands for the default."""
    if value is True or value is False:
        return value
    if value is None:
        return default
    raise TypeError(f"Expected bool for argument '{argument}' not {value!r}.")


def integer(value: Any, argument: str, compares: bool = False) -> int:
    """A Python number, a fraction being cut off; `compares` where TensorFlow compares it first."""
    if value.__class__ is int:
        if not -_WIDEST <= value < _WIDEST:
            raise OverflowError(f"int too big to convert: '{argument}' is {value!r}.")
        return value
    if isinstance(value, (list, tuple)) or convert.is_ragged(value):
        raise TypeError(f"Expected int for argument '{argument}' not {value!r}.")
    if isinstance(value, dtypes.DType):
        return int(value)  # its number, which TensorFlow takes for one
    array = np.asarray(getattr(value, "_value", value))
    if array.dtype.kind in "cV" and not array.ndim and value.__class__ is not complex:
        array = np.asarray(array.real, np.float64)  # as Python's int() of it
    if array.dtype.kind in "biuf" and not array.ndim and not np.isnan(array):
        if np.isinf(array):
            raise OverflowError(f"cannot convert an infinity to integer: '{argument}'.")
        return int(array[()])
    if isinstance(value, Value) and array.dtype.kind == "O" and not array.ndim:
        with contextlib.suppress(ValueError):
            return int(array[()])  # the digits of a text
    if compares and array.dtype.kind in "biuf" and array.size > 1:
        raise ValueError(
            f"The truth value of an array with more than one element is ambiguous: '{argument}' "
            f"takes a single whole number, not {value!r}."
        )
    raise TypeError(f"Expected int for argument '{argument}' not {value!r}.")


def typed(value: Any, label: str) -> Any:
    """An argument for which TensorFlow's op hopes for no dtype: NumPy's values keep theirs, which
    has to be one of whole numbers of 32 or 64 bits."""
    of_numpy = isinstance(value, (np.ndarray, np.generic))
    if of_numpy and value.dtype not in (np.int32, np.int64):
        raise errors.wrong_dtype(
            f"{label} takes int32 and int64 here, got {value!r} of {value.dtype} [Op:{label}]"
        )
    return value


def narrow(value: int, label: str) -> int:
    """An attribute that TensorFlow's kernel keeps in 32 bits."""
    if not -(1 << 31) <= value < 1 << 31:
        raise errors.at_run(f"{value} is out of range for an int32 [Op:{label}] name: ")
    return value


def real(value: Any, argument: str, default: float) -> float:
    """A number of Python's or NumPy's, no tensor; None stands for the default."""
    if value is None:
        return default
    scalar = isinstance(value, (int, float, np.generic))
    if not scalar or np.asarray(value).dtype.kind not in "biuf":
        raise TypeError(f"Expected float for argument '{argument}' not {value!r}.")
    return float(value)


def word(value: Any, argument: str, allowed: tuple[str, ...], label: str, default: str = "") -> str:
    """One of the words that the op knows; None stands for the default, if there is one."""
    if value is None and default:
        return default
    if not isinstance(value, (str, bytes)):
        raise TypeError(f"Expected string for argument '{argument}' not {value!r}.")
    found = value.decode() if isinstance(value, bytes) else value
    if found not in allowed:
        listed = ", ".join(f'"{one}"' for one in allowed)
        raise errors.invalid(
            f"Value for attr '{argument}' of \"{found}\" is not in the list of allowed values: "
            f"{listed} [Op:{label}]"
        )
    return found


def listed_dtype(
    value: Any, argument: str, allowed: tuple[str, ...], label: str, default: str = ""
) -> np.dtype:
    """NumPy's dtype for one that the op can make; None stands for the default."""
    if value is None and default:
        return np.dtype(default)
    try:
        # A class of NumPy's has a `dtype` too, which is none.
        own = value if isinstance(value, type) else getattr(value, "dtype", value)
        found = dtypes.as_dtype(own)
    except TypeError:
        if value.__class__ is int:
            raise errors.invalid(
                f"AttrValue has invalid DataType enum: {value} for attr '{argument}' [Op:{label}]"
            ) from None
        raise TypeError(f"Expected DataType for argument '{argument}' not {value!r}.") from None
    if isinstance(value, Value) or hasattr(value, "_read"):
        raise TypeError(f"Expected DataType for argument '{argument}' not {value!r}.")
    if found.name not in allowed:
        raise errors.invalid(
            f"Value for attr '{argument}' of {found.name} is not in the list of allowed values: "
            f"{', '.join(allowed)} [Op:{label}]"
        )
    return np.dtype(found.as_numpy_dtype)


def attribute_dtype(value: Any, argument: str, label: str) -> np.dtype:
    """NumPy's dtype for any; a number that stands for none gets as far as TensorFlow's op."""
    if value.__class__ is int:
        try:
            return dtype(value)
        except TypeError:
            raise errors.invalid(
                f"AttrValue has invalid DataType enum: {value} for attr '{argument}' [Op:{label}]"
            ) from None
    return dtype(value)


def as_input(value: Any, dtype: Any, label: str) -> Any:
    """A tensor of the dtype that the op is declared with; another tensor is no argument for it."""
    wanted = np.dtype(dtype)
    if convert.is_tensor_like(value) and value._value.dtype != wanted:
        raise errors.wrong_dtype(
            f"cannot compute {label} as an input was expected to be a {convert.c_name(wanted)} "
            f"tensor but is a {convert.c_name(value._value.dtype)} tensor; tf.cast makes them "
            f"agree [Op:{label}]"
        )
    return convert.to_tensor(value, wanted)


def truths(value: Any) -> Any:
    """An operand of an op for truth values: other tensors are left to its error, NumPy's numbers
    become true where they are not 0."""
    tensor_like = convert.is_tensor_like(value)
    return convert.to_tensor(value) if tensor_like else convert.to_tensor(value, np.dtype(bool))


def allow(x: Any, label: str, names: str, attr: str = "T") -> None:
    """Refuse a tensor whose dtype is not among those that TensorFlow's op is declared for."""
    if x.dtype.name not in names.split():
        raise errors.wrong_dtype(
            f"Value for attr '{attr}' of {convert.c_name(x._value.dtype)} is not in the list of "
            f"allowed values: {', '.join(names.split())}; cast the argument first, for example "
            f"tf.cast(x, tf.float32) [Op:{label}] name: "
        )


def no_layout(layout: Any) -> None:
    """Tensors spread over machines are not here; TensorFlow too takes nothing but a Layout."""
    if layout is not None:
        raise AttributeError(f"{layout!r} is no dtensor.Layout, and gradtape has none: drop it.")


def dtype(value: Any) -> np.dtype:
    """NumPy's dtype for any name of one."""
    return np.dtype(dtypes.as_dtype(value).as_numpy_dtype)


def matching(
    label: str,
    values: Any,
    name: str = "",
    beside: Any = (),
    default: tuple[str, ...] = (),
) -> list[Any]:
    """Tensors of one dtype: that of the first tensor among them, or else of the first value.

    `beside`: what else the op is given; `default`: the dtypes that the op takes if it has a default
    dtype, which is the first of them.
    """
    wanted: Any
    if values.__class__ is list and set(map(type, values)) == {apply.Tensor}:
        wanted = values[0]._value.dtype
        if all(v._value.dtype is wanted for v in values):
            return list(values)  # the usual case: nothing to convert
    if convert.is_tensor_like(values):
        values = [values]
    quick = all(map(convert.quickly, (*values, *beside)))
    counts = convert.is_tensor_like if quick else (lambda v: isinstance(v, Value))
    wanted = next((v._value.dtype for v in values if counts(v)), None)
    # The quick way leaves wrong tensors to the op, as does the other one if there are only tensors.
    left = quick or all(isinstance(v, Value) for v in values)
    tensors: list[Any] = []
    for v in values:
        if convert.is_tensor_like(v) or hasattr(v, "__tf_tensor__"):
            if left or wanted is None:
                t = convert.to_tensor(v)
            else:
                t = convert.to_tensor(v, wanted) if isinstance(v, Value) else _as(v, wanted)
        elif wanted is None and default:
            t = _first(v, default, quick)
        else:
            t = convert.to_tensor(v, wanted)
        wanted = t._value.dtype if wanted is None else wanted
        tensors.append(t)
    for k, t in enumerate(tensors):
        if t._value.dtype != wanted:
            raise errors.wrong_dtype(
                f"cannot compute {label} as input #{k}(zero-based) was expected to be a "
                f"{convert.c_name(wanted)} tensor but is a {convert.c_name(t._value.dtype)} "
                f"tensor; tf.cast makes them agree [Op:{label}] name: {name}"
            )
    return tensors


def _as(value: Any, dtype: np.dtype) -> Any:
    read = hasattr(value, "_read")
    return convert.read_as(value, dtype) if read else convert.to_tensor(value, dtype)


def _first(value: Any, default: tuple[str, ...], quick: bool) -> Any:
    """The tensor of a value that no tensor tells the dtype of, for an op with a default dtype."""
    if quick:
        return defaulted(value, default[0])
    found = convert.to_tensor(value)
    if found.dtype.name in default:
        return found
    return convert.to_tensor(value, hint=np.dtype(default[0]))
