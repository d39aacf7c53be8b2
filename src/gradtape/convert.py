"""How Python and NumPy values become tensors: TensorFlow's rules, in one place.

A Python float is float32, an int is int32 (int64 if it must), NumPy keeps its dtype; beside a
tensor, numbers and arrays take the tensor's dtype where that loses no more than TensorFlow allows;
two tensors never promote each other.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import dtypes, errors
from .core import apply
from .core.apply import QUIET, hush, tensor, unhush
from .core.op import Op
from .core.record import Value

_INT32, _INT64 = np.iinfo(np.int32), np.iinfo(np.int64)
_TOO_LARGE = "Can't convert Python sequence with out-of-range integer to Tensor."
_PYTHON_KINDS = {bool: "b", int: "i", float: "f", complex: "c", str: "S", bytes: "S"}
# What a Python number of a kind may become without being asked twice; a truth value, as these.
_ACCEPTS = {"b": "biufc", "i": "iufcV", "f": "fcV", "c": "c", "S": "O"}
_TRUTHS = "?ilqLQefdD"
_HALF = 65504.0  # what every floating dtype can hold


def array(value: Any, dtype: Any = None) -> Any:
    """The array (or NumPy scalar) for a value that holds no tensors; `dtype` is NumPy's."""
    kind = _PYTHON_KINDS.get(value.__class__)
    if kind is not None:
        return _number(value, kind, dtype)
    if isinstance(value, (np.ndarray, np.generic)):
        return _from_numpy(value, dtype)
    if isinstance(value, (list, tuple, range)):
        return _from_sequence(value, dtype)
    if hasattr(value, "__array__") and not isinstance(value, type):
        return _from_numpy(np.asarray(value), dtype)
    if hasattr(value, "__dlpack__"):
        return _from_numpy(np.from_dlpack(value), dtype)
    raise unsupported(value)


def unsupported(value: Any) -> ValueError:
    hint = (
        " tf.ragged.map_flat_values applies a function to its values, and .to_tensor() makes it "
        "dense; reductions, tf.concat, tf.stack and tf.gather take it as it is."
    )
    return ValueError(
        f"Attempt to convert a value ({value!r}) with an unsupported type ({type(value)}) "
        f"to a Tensor.{hint if is_ragged(value) else ''}"
    )


def cannot(value: Any, dtype: np.dtype) -> TypeError:
    return TypeError(f"Cannot convert {value!r} to EagerTensor of dtype {c_name(dtype)}")


def c_name(dtype: np.dtype) -> str:
    """TensorFlow's kernels call the dtypes by their C names."""
    name = dtypes.of(dtype).name
    return {"float16": "half", "float32": "float", "float64": "double"}.get(name, name)


def _number(value: Any, kind: str, dtype: Any) -> Any:
    if kind == "S":
        if dtype is not None and dtype.kind != "O":
            raise cannot(value, dtype)
        text = value.encode() if isinstance(value, str) else value
        return np.array(text, object)
    if dtype is None:
        if kind == "i":
            if not _INT64.min <= value <= _INT64.max:
                raise ValueError(_TOO_LARGE)
            small = _INT32.min <= value <= _INT32.max
            return np.int32(value) if small else np.int64(value)
        if kind == "f":
            if -_HALF <= value <= _HALF:
                return np.float32(value)
            return _in_range(_made(np.float32, value), value)
        return np.bool_(value) if kind == "b" else np.complex128(value)
    if not _accepts(kind, dtype):
        raise cannot(value, dtype)
    if kind == "i" and dtype.kind in "iu":
        # Wraps around, as TensorFlow's conversion does.
        return np.array(value).astype(dtype)[()]
    return _made(dtype.type, value)


def _made(scalar: Any, value: Any) -> Any:
    token = hush(QUIET)
    try:
        return scalar(value)
    except OverflowError:
        raise ValueError(_TOO_LARGE) from None
    finally:
        unhush(token)


def _in_range(made: Any, given: Any) -> Any:
    """A number too large for the float32 that nobody asked for is an error, not an infinity."""
    if np.isinf(made).any() and (np.isinf(made) & ~np.isinf(given)).any():
        raise ValueError(
            "Can't convert Python sequence with a value out of range for a double-precision float "
            "(it is too large for float32, the dtype of Python's floats: give dtype=tf.float64)."
        )
    return made


def _accepts(kind: str, dtype: np.dtype) -> bool:
    return dtype.kind in _ACCEPTS[kind] and (kind != "b" or dtype.char in _TRUTHS)


def _from_numpy(value: Any, dtype: Any) -> Any:
    kind = value.dtype.kind
    if kind in "US":
        value = np.frompyfunc(lambda s: s.encode() if isinstance(s, str) else bytes(s), 1, 1)(value)
        value = np.asarray(value, object)
    elif kind == "O":
        return _from_objects(value, dtype)
    elif kind not in "biufcV" or not _known(value.dtype):
        raise ValueError(
            f"Failed to convert a NumPy array to a Tensor (Unsupported object type "
            f"{value.dtype.name})."
        )
    if dtype is not None and value.dtype != dtype:
        if dtype.kind == "O":
            raise ValueError(
                "Failed to convert a NumPy array to a Tensor (Unsupported object type "
                f"{value.dtype.name})."
            )
        if value.dtype.kind == "O":
            raise cannot(value, dtype)
        if value.dtype.kind == "c" and dtype.kind != "c":
            value = value.real
        with np.errstate(all="ignore"):
            return _settle(value.astype(dtype))
    if not value.dtype.isnative:
        value = value.astype(value.dtype.newbyteorder("="))
    return _settle(value.copy())


def _known(dtype: np.dtype) -> bool:
    try:
        dtypes.of(dtype)
    except (KeyError, TypeError):
        return False
    return True


def _from_objects(value: np.ndarray, dtype: Any) -> Any:
    leaves = value.ravel().tolist()
    if all(isinstance(leaf, (str, bytes)) for leaf in leaves):
        texts = [leaf.encode() if isinstance(leaf, str) else leaf for leaf in leaves]
        out = np.empty(len(texts), object)
        out[:] = texts
        return out.reshape(value.shape)
    raise ValueError(
        "Failed to convert a NumPy array to a Tensor (Unsupported object type "
        f"{type(leaves[0]).__name__ if leaves else 'object'})."
    )


def _settle(value: Any) -> Any:
    return value[()] if not value.ndim and value.dtype.kind != "O" else value


_MIXED = "Can't convert Python sequence with mixed types to Tensor."
# Which kinds may follow the first in a sequence; NumPy's truth values (?) mix with no numbers.
_FOLLOW = {"b": "b?", "?": "b?", "i": "ibf", "f": "fib", "c": "cfib", "S": "S"}


def _from_sequence(value: Any, dtype: Any) -> Any:
    kinds: dict = {}  # in the order of their coming
    chosen = False
    shape = _survey(value, kinds)
    if not kinds:
        return np.zeros(shape, np.float32 if dtype is None else dtype)
    letters = [_letter(kind) for kind in kinds]
    if any(letter not in _FOLLOW[letters[0]] for letter in letters):
        raise ValueError(_MIXED)
    if dtype is not None and not all(
        _accepts(letter.replace("?", "b"), dtype) for letter in letters
    ):
        raise cannot(value, dtype)
    if letters[0] == "S":
        return _from_objects(np.array(value, object), None)
    if dtype is None:
        dtype = _dtype_of(next(iter(kinds)), letters)
        if dtype is None:
            return _whole_numbers(value)
        chosen = True
    with np.errstate(all="ignore"):
        given = np.array(value)
        made = given.astype(dtype)
        return _in_range(made, given) if chosen and made.dtype.char == "f" else made


def _letter(kind: Any) -> str:
    if isinstance(kind, np.dtype):
        return {"b": "?", "u": "i", "V": "f"}.get(kind.kind, kind.kind)
    return kind


def _dtype_of(first: Any, letters: list[str]) -> Any:
    """The dtype of a sequence: the first entry decides, as in TensorFlow; None for integers."""
    if letters[0] in "b?":
        return np.dtype(bool)
    if letters[0] == "c":
        return np.dtype(np.complex128)
    if letters[0] == "i":
        return np.dtype(np.float32) if "f" in letters else None
    return first if isinstance(first, np.dtype) else np.dtype(np.float32)


def _whole_numbers(value: Any) -> Any:
    numbers = np.array(value)
    if numbers.dtype.kind not in "biu" or (numbers.size and numbers.max() > _INT64.max):
        raise ValueError(_TOO_LARGE)
    small = not numbers.size or (_INT32.min <= numbers.min() and numbers.max() <= _INT32.max)
    return numbers.astype(np.int32 if small else np.int64)


def _survey(value: Any, kinds: dict) -> tuple[int, ...]:
    """Collect the kinds of the leaves; the shape, or an error when it is ragged."""
    kind = _PYTHON_KINDS.get(value.__class__)
    if kind is not None:
        kinds[kind] = None
        return ()
    if isinstance(value, (np.ndarray, np.generic)):
        kinds[value.dtype if value.dtype.kind not in "US" else "S"] = None
        return value.shape
    if not isinstance(value, (list, tuple, range)):
        if hasattr(value, "__array__") and not isinstance(value, type):
            return _survey(np.asarray(value), kinds)
        raise unsupported(value)
    if not value:
        return (0,)
    shapes = [_survey(v, kinds) for v in value]
    if shapes.count(shapes[0]) < len(shapes):
        odd = next(k for k, shape in enumerate(shapes) if shape != shapes[0])
        raise ValueError(
            "Can't convert non-rectangular Python sequence to Tensor: item 0 has the shape "
            f"{list(shapes[0])}, item {odd} the shape {list(shapes[odd])}. Rows of different "
            "lengths are for tf.ragged.constant."
        )
    return (len(value), *shapes[0])


# --- with tensors among the values ----------------------------------------------------------------
def holds_tensor(value: Any) -> bool:
    """Does a list or tuple hold a tensor (or variable) at any depth?"""
    if isinstance(value, (list, tuple)):
        return any(holds_tensor(v) for v in value)
    return isinstance(value, Value) or hasattr(value, "_read")


def to_tensor(value: Any, dtype: Any = None, hint: Any = None) -> Any:
    """The tensor for any value; `dtype` must be met, `hint` is taken where possible (NumPy's)."""
    if isinstance(value, Value):
        if dtype is not None and value._value.dtype != dtype:
            raise ValueError(
                f"Tensor conversion requested dtype {dtypes.of(dtype).name} for Tensor with dtype "
                f"{dtypes.of(value._value.dtype).name}: {value!r}"
            )
        return value
    read = getattr(value, "_read", None)
    if read is not None:
        return to_tensor(read(), dtype)
    if isinstance(value, (list, tuple)) and holds_tensor(value):
        return pack(value, dtype)
    convert = getattr(value, "__tf_tensor__", None)
    if convert is not None:
        return convert(None if dtype is None else dtypes.of(dtype))
    if REGISTERED and (made := _by_registered(value, dtype, hint)) is not None:
        return made
    if dtype is None and hint is not None:
        try:
            return tensor(array(value, hint))
        except (TypeError, ValueError):
            return tensor(array(value))
    return tensor(array(value, dtype))


def is_ragged(value: Any) -> bool:
    """Whether this is a ragged tensor, a class that lies above."""
    return not isinstance(value, Value) and hasattr(value, "nested_row_splits")


# What `tf.register_tensor_conversion_function` adds: (priority, classes, function), in order.
REGISTERED: list[tuple[int, Any, Any]] = []


def _by_registered(value: Any, dtype: Any, hint: Any) -> Any:
    """What a registered function makes of a value, or None."""
    for _, kinds, function in REGISTERED:
        if isinstance(value, kinds):
            for wanted in dict.fromkeys((dtype or hint, dtype)):
                named = None if wanted is None else dtypes.of(wanted)
                made = function(value, dtype=named, name=None, as_ref=False)
                if made is not NotImplemented:
                    return to_tensor(made, dtype)
    return None


def pack(values: Any, dtype: Any = None) -> Any:
    """A list that holds tensors becomes their stack, through which gradients flow.

    A dtype that is asked for casts them; else they must agree.
    """
    return _pack(values, dtype or _dtype_among(values), dtype is not None)


def _pack(values: Any, dtype: Any, casts: bool) -> Any:
    from .ops.shape import cast, stack

    parts = []
    for k, v in enumerate(values):
        if isinstance(v, (list, tuple)):
            part = _pack(v, dtype, casts)
        else:
            part = to_tensor(v) if is_tensor_like(v) else to_tensor(v, dtype)
        if part._value.dtype != dtype:
            if not casts:
                raise errors.invalid(
                    f"cannot compute Pack as input #{k}(zero-based) was expected to be a "
                    f"{c_name(dtype)} tensor but is a {c_name(part._value.dtype)} tensor; tf.cast "
                    "makes them agree [Op:Pack] name: packed"
                )
            part = cast.apply(part, dtype=dtype)
        parts.append(part)
    shape = parts[0]._value.shape
    for k, part in enumerate(parts):
        if part._value.shape != shape:
            raise errors.invalid(
                f"Shapes of all inputs must match: values[0].shape = {list(shape)} != "
                f"values[{k}].shape = {list(part._value.shape)} [Op:Pack] name: packed"
            )
    return stack.apply(*parts, axis=-len(shape) - 1)


def _dtype_among(values: Any) -> Any:
    for v in values:
        if isinstance(v, (list, tuple)):
            found = _dtype_among(v)
            if found is not None:
                return found
        elif isinstance(v, Value) or hasattr(v, "_read"):
            return v._value.dtype
    return None


def is_tensor_like(value: Any) -> bool:
    return isinstance(value, Value) or hasattr(value, "_read")


# --- the engine's hooks --------------------------------------------------------------------------
# TensorFlow's Python wrappers of these try the first operand's dtype for the second, and leave it
# its own if that fails.
_NUMBERS: Any = frozenset((float, int))
LENIENT = {"add", "matmul"}


def pair(op: Op, a: Any, b: Any) -> Any:
    """Make two operands tensors of one dtype, or say what does not fit."""
    # First what is met most: a Python number beside a floating tensor.
    if b.__class__ in _NUMBERS and isinstance(a, Value):
        if a._value.dtype.kind in "fV" and -_HALF <= b <= _HALF:
            return a, tensor(a._value.dtype.type(b))
    elif a.__class__ in _NUMBERS and isinstance(b, Value):
        if b._value.dtype.kind in "fV" and -_HALF <= a <= _HALF:
            return tensor(b._value.dtype.type(a)), b
    elif isinstance(a, Value) and isinstance(b, Value):
        if a._value.dtype == b._value.dtype:
            return a, b
        raise mismatch(op, a._value.dtype, b._value.dtype)
    if is_tensor_like(a):
        a = to_tensor(a)
        b = _beside(op, b, a, op.name in LENIENT)
    elif is_tensor_like(b):
        b = to_tensor(b)
        a = _beside(op, a, b, op.name == "matmul")
    else:
        a = to_tensor(a)
        b = _beside(op, b, a, op.name in LENIENT)
    if b is NotImplemented or a is NotImplemented:
        return NotImplemented
    if a._value.dtype != b._value.dtype:
        raise mismatch(op, a._value.dtype, b._value.dtype)
    return a, b


def _beside(op: Op, value: Any, other: Any, lenient: bool) -> Any:
    dtype = other._value.dtype
    try:
        if lenient or is_tensor_like(value):
            return to_tensor(value, hint=dtype)
        return to_tensor(value, dtype)
    except (TypeError, ValueError):
        # An object that knows how to work with tensors gets its turn.
        sign = {"div": "truediv", "power": "pow"}.get(op.name, op.name)
        plain = (np.ndarray, np.generic, list, tuple)
        known = value.__class__ in _PYTHON_KINDS or isinstance(value, plain)
        if not known and hasattr(type(value), f"__r{sign}__"):
            return NotImplemented
        raise


def mismatch(op: Op, a: np.dtype, b: np.dtype) -> Exception:
    return errors.invalid(
        f"cannot compute {op.label} as input #1(zero-based) was expected to be a {c_name(a)} "
        f"tensor but is a {c_name(b)} tensor [Op:{op.label}] name: (tensors do not promote each "
        f"other: tf.cast one of them)"
    )


def complain(op: Op, error: Exception, values: Any, params: dict) -> Exception:
    """The exception TensorFlow would raise where NumPy raised `error`."""
    if isinstance(error, errors.OpError):
        return error
    shapes = " vs. ".join(str(list(v.shape)) for v in values)
    wrong = [v.dtype for v in values if v.dtype.kind not in op.takes]
    if wrong:
        return wrong_dtype(op, wrong[0])
    if op.broadcasts and "broadcast" in str(error):
        return errors.invalid(f"Incompatible shapes: {shapes} [Op:{op.label}] name: ")
    extra = "".join(f", {name}={value!r}" for name, value in params.items())
    return errors.invalid(f"{op.label} of shapes {shapes}{extra}: {error} [Op:{op.label}] name: ")


def wrong_dtype(op: Op, dtype: np.dtype) -> Exception:
    allowed = [n for n in _ALL if np.dtype(dtypes.as_dtype(n).as_numpy_dtype).kind in op.takes]
    return errors.invalid(
        f"Value for attr 'T' of {c_name(dtype)} is not in the list of allowed values: "
        f"{', '.join(allowed)}; cast the argument first, for example tf.cast(x, tf.float32) "
        f"[Op:{op.label}] name: "
    )


_ALL = (
    "bfloat16", "float16", "float32", "float64", "uint8", "uint16", "uint32", "uint64", "int8",
    "int16", "int32", "int64", "complex64", "complex128", "bool", "string",
)  # fmt: skip


def install(tensor_class: type) -> None:
    apply.install(
        Tensor=tensor_class,
        operand=to_tensor,
        operands=pair,
        complain=complain,
        wrong_dtype=wrong_dtype,
    )
