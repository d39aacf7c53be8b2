"""How Python and NumPy values become tensors: TensorFlow's rules, in one place.

A Python float is float32, an int is int32 (int64 if it must), NumPy keeps its dtype; beside a
tensor, numbers and arrays take the tensor's dtype where that loses no more than TensorFlow allows;
two tensors never promote each other.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes, errors
from ..core import apply
from ..core.apply import QUIET, restore, silence, tensor
from ..core.op import Op
from ..core.record import Value, threads

_INT32, _INT64 = np.iinfo(np.int32), np.iinfo(np.int64)
_TOO_LARGE = "Can't convert Python sequence with out-of-range integer to Tensor."
_PYTHON_KINDS = {bool: "b", int: "i", float: "f", complex: "c", str: "S", bytes: "S"}
# What a Python number of a kind may become without being asked twice; a truth value, as these.
_ACCEPTS = {"b": "biufc", "i": "iufcV", "f": "fcV", "c": "c", "S": "O"}
_TRUTHS = "?ilqLQefdD"
_HALF = 65504.0  # what every floating dtype can hold
_FLOAT32 = np.dtype(np.float32)


def array(value: Any, dtype: Any = None) -> Any:
    """The array (or NumPy scalar) for a value that holds no tensors; `dtype` is NumPy's."""
    kind = _PYTHON_KINDS.get(value.__class__)
    if kind is not None:
        return _number(value, kind, dtype)
    if isinstance(value, (np.ndarray, np.generic)):
        if value.__class__ is not np.ndarray and isinstance(value, np.ndarray):
            value = np.asarray(value)  # of a matrix, a masked array, …, the entries alone
        return _from_numpy(value, dtype)
    if isinstance(value, (list, tuple, range)):
        return _from_sequence(value, dtype)
    return array(_own(value), dtype)


_ARRAYS = ("__array__", "__array_interface__", "__array_struct__")
_BASES: dict[type, Any] = {
    int: int.__int__, float: float.__float__, complex: complex, str: str.__str__, bytes: bytes,
}  # fmt: skip


def _own(value: Any) -> Any:
    """A value of others' making as one of Python's or NumPy's own, as TensorFlow reads it."""
    for base, plain in _BASES.items():
        if isinstance(value, base):
            return plain(value)
    if any(hasattr(value, name) for name in _ARRAYS):
        if isinstance(value, type):
            raise TypeError(f"{value!r} is a class: give one of its instances.")
        return np.asarray(value)
    if is_ragged(value):
        raise unsupported(value)
    names = {name for kind in type(value).__mro__ for name in vars(kind)}
    if {"__getitem__", "__len__"} <= names and "keys" not in names:
        with contextlib.suppress(TypeError, NotImplementedError):  # a memoryview with several axes
            return list(value)  # any sequence, such as a deque
    raise unsupported(value)


class _Foreign(Exception):
    """A sequence holds values of others' making."""


def _plainly(value: Any) -> Any:
    """A sequence with Python's and NumPy's own values in place of others'."""
    if value.__class__ in _PYTHON_KINDS or isinstance(value, np.generic):
        return value
    if isinstance(value, np.ma.MaskedArray):  # TensorFlow takes its entries one by one
        return np.where(np.ma.getmaskarray(value), value.dtype.type(0), np.asarray(value))
    if isinstance(value, np.ndarray):
        return np.asarray(value)
    if isinstance(value, (list, tuple, range)):
        return [_plainly(v) for v in value]
    return _plainly(_own(value))


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
        text = value.encode() if isinstance(value, str) else value
        if dtype is not None and dtype.kind != "O":
            raise cannot(value, dtype)
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
        if kind == "i":
            _int64(value)  # TensorFlow first finds that there is no such number
        raise cannot(value, dtype)
    if kind == "i" and dtype.char not in _FLOATING:
        # Through int64 (or as it is), then wrapped around or rounded.
        wide = _uint64(value) if dtype.char in "LQ" and value >= 0 else _int64(value)
        return wide.astype(dtype)
    return _made(dtype.type, value)


_FLOATING = "efdD"  # the dtypes for which TensorFlow reads Python's whole numbers as floats


def _int64(value: int) -> Any:
    if not _INT64.min <= value <= _INT64.max:
        raise ValueError(_TOO_LARGE)
    return np.int64(value)


def _uint64(value: int) -> Any:
    return np.uint64(value) if value <= np.iinfo(np.uint64).max else _int64(value)


def _made(scalar: Any, value: Any) -> Any:
    token = silence[QUIET]
    try:
        return scalar(value)
    except OverflowError:
        raise ValueError(_TOO_LARGE) from None
    finally:
        restore(token)


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
    if dtype is not None and dtype.kind != "O" and (kind in "USO" or not _known(value.dtype)):
        token = silence[QUIET]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of the imaginary part
                return _settle(value.astype(dtype))  # reads texts as numbers, or complains as NumPy
        finally:
            restore(token)
    if kind in "US":
        value = np.frompyfunc(lambda s: s.encode() if isinstance(s, str) else bytes(s), 1, 1)(value)
        value = np.asarray(value, object)
    elif kind == "O":
        return _from_objects(value, dtype)
    elif kind not in "biufcV" or not _known(value.dtype):
        if dtype is not None and isinstance(value, np.void) and isinstance(value.item(), bytes):
            return np.array(value.item(), object)
        raise ValueError(
            f"Failed to convert a NumPy array to a Tensor (Unsupported object type "
            f"{value.dtype.name})."
        )
    if dtype is not None and value.dtype != dtype:
        if dtype.kind == "O":
            if not value.size:
                return np.empty(value.shape, object)
            raise ValueError(
                "Failed to convert a NumPy array to a Tensor (Unsupported object type "
                f"{value.dtype.name})."
            )
        if value.dtype.kind == "c" and dtype.kind not in "bc":
            value = value.real
        token = silence[QUIET]
        try:
            return _settle(value.astype(dtype))
        finally:
            restore(token)
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
# The leaves of a sequence by kind: b, i, f, c are Python's numbers, ? and the capitals NumPy's, S
# is text, and V what TensorFlow does not know in a sequence (bfloat16).
_LEAVES = {"b": "?", "i": "I", "u": "I", "f": "F", "c": "C", "O": "S", "U": "S", "S": "S"}
_REAL = "bifIF"
_TAKES = dict.fromkeys("efd", _REAL) | dict.fromkeys("ilqLQ", "biI") | {"?": "b?", "O": "S"}
_TAKES |= {"D": _REAL + "cC"}


def _from_sequence(value: Any, dtype: Any) -> Any:
    """As TensorFlow: the dtype that is asked for if all leaves fit, or else the first leaf's, to be
    cast where no kind of number is lost."""
    kinds: dict = {}  # in the order of their coming
    try:
        shape = _survey(value, kinds)
    except _Foreign:
        kinds.clear()
        value = _plainly(value)
        shape = _survey(value, kinds)
    if not kinds:
        return np.zeros(shape, np.float32 if dtype is None else dtype)
    letters = [_letter(kind) for kind in kinds]
    if letters[0] == "V":
        raise unsupported(_first(value))
    if dtype is not None and all(letter in _TAKES.get(dtype.char, "") for letter in letters):
        made = _filled(value, dtype)
        if made is not None:
            return made
    made = _inferred(value, next(iter(kinds)), letters, dtype is not None)
    if dtype is None or made.dtype == dtype:
        return made
    if not _compatible(made.dtype.kind, dtype.kind):
        raise cannot(value, dtype)
    token = silence[QUIET]
    try:
        return made.astype(dtype)
    finally:
        restore(token)


def _first(value: Any) -> Any:
    while isinstance(value, (list, tuple)) or np.ndim(value):
        value = value[0]
    return value


def _letter(kind: Any) -> str:
    return _LEAVES.get(kind.kind, "V") if isinstance(kind, np.dtype) else kind


def _compatible(given: str, wanted: str) -> bool:
    """Whether TensorFlow casts one kind of number into the other unasked."""
    kinds = {"i": "iu", "u": "iu", "f": "fViu", "V": "fViu", "c": "cfViu"}
    return given in kinds.get(wanted, wanted)


def _inferred(value: Any, first: Any, letters: list[str], asked: bool) -> Any:
    """The array that the first leaf asks for."""
    kind = letters[0]
    if kind in "b?S":
        wanted = np.dtype(object if kind == "S" else bool)
    elif kind in "cC":
        wanted = np.dtype(np.complex128)
    elif kind in "fF":
        known = isinstance(first, np.dtype) and _known(first)
        wanted = first if known else np.dtype("d" if asked else "f")
    else:
        wanted = np.dtype(np.int64)
        odd = next((letter for letter in letters if letter not in _TAKES["l"]), None)
        if odd is not None and odd in "fF":
            wanted = np.dtype("d" if asked else "f")
    if any(letter not in _TAKES.get(wanted.char, "") for letter in letters):
        raise ValueError(_MIXED)
    made = _filled(value, wanted)
    if made is None:
        raise ValueError(_TOO_LARGE)
    if wanted.kind == "i" and not asked and _within(made, _INT32):
        return made.astype(np.int32)
    if wanted.char == "f":
        return _in_range(made, np.array(value))
    return made


def _filled(value: Any, dtype: np.dtype) -> Any:
    """The array of a sequence whose leaves fit the dtype, or None if a number is too large."""
    if dtype.kind == "O":
        return _from_objects(np.array(value, object), None)
    given = np.array(value)
    if dtype.kind in "iu":
        if given.dtype.kind not in "biu":  # beyond 64 bits, or signed among unsigned ones
            given = np.array(value, object)
        if not _within(given, np.iinfo(dtype)):
            return None
    token = silence[QUIET]
    try:
        return given.astype(dtype)
    finally:
        restore(token)


def _within(numbers: np.ndarray, bounds: Any) -> bool:
    if not numbers.size:
        return True
    return bounds.min <= int(numbers.min()) and int(numbers.max()) <= bounds.max


# As many axes as NumPy's arrays have. TensorFlow takes 254, and ends the process beyond.
_DEEPEST = 64


def _too_deep() -> ValueError:
    return ValueError(
        f"A list nested more than {_DEEPEST} deep cannot become a tensor: each level is an axis."
    )


def _survey(value: Any, kinds: dict, depth: int = 0) -> tuple[int, ...]:
    """Collect the kinds of the leaves; the shape, or an error when it is ragged."""
    kind = _PYTHON_KINDS.get(value.__class__)
    if kind is not None:
        kinds[kind] = None
        return ()
    if isinstance(value, (np.ndarray, np.generic)):
        if value.__class__ is not np.ndarray and isinstance(value, np.ndarray):
            raise _Foreign
        if value.size:
            kinds[value.dtype if value.dtype.kind not in "USO" else "S"] = None
        return value.shape
    if not isinstance(value, (list, tuple, range)):
        raise _Foreign
    if depth == _DEEPEST:
        raise _too_deep()
    if not value:
        return (0,)
    shapes = [_survey(v, kinds, depth + 1) for v in value]
    if shapes.count(shapes[0]) < len(shapes):
        odd = next(k for k, shape in enumerate(shapes) if shape != shapes[0])
        raise ValueError(
            "Can't convert non-rectangular Python sequence to Tensor: item 0 has the shape "
            f"{list(shapes[0])}, item {odd} the shape {list(shapes[odd])}. Rows of different "
            "lengths are for tf.ragged.constant."
        )
    return (len(value), *shapes[0])


# --- with tensors among the values ----------------------------------------------------------------
def holds_tensor(value: Any, depth: int = 0) -> bool:
    """Does a list or tuple hold a tensor (or variable) at any depth?"""
    if isinstance(value, (list, tuple)):
        if depth == _DEEPEST:
            raise _too_deep()
        return any(holds_tensor(v, depth + 1) for v in value)
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
    if value.__class__ is float and hint is None and dtype in (None, _FLOAT32):
        return tensor(_number(value, "f", dtype))  # the usual case, 1 us faster
    read = getattr(value, "_read", None)
    if read is not None:
        found = read()
        return found if dtype is None and isinstance(found, Value) else to_tensor(found, dtype)
    if isinstance(value, (list, tuple)) and holds_tensor(value):
        return pack(value, dtype)
    convert = getattr(value, "__tf_tensor__", None)
    if convert is not None:
        return convert(None if dtype is None else dtypes.of(dtype))
    if REGISTERED and (made := _by_registered(value, dtype, hint)) is not None:
        return made
    if value.__class__ is range and not value and dtype is hint is None:
        dtype = np.dtype(np.int32)
    if dtype is None and hint is not None:
        try:
            return tensor(array(value, hint))
        except (TypeError, ValueError):
            return tensor(array(value))
    return tensor(array(value, dtype))


def examine(check: Callable[..., None], *values: Any) -> None:
    """Let a function look at the numbers of tensors, which raises or does nothing: in a function
    that is recorded, at those of every call."""
    if threads.recording is None or not any(type(v) is apply.Traced for v in values):
        check(*values)
    else:
        threads.recording.check(check, *values)


def computed(
    function: Callable[..., Any], *values: Any, sizes: tuple | None = None, dtype: Any = None
) -> Any:
    """The array that a pure function makes of the numbers of tensors, without a gradient: in a
    function that is recorded, of those of every call. Only their shapes tell that of the result;
    where the numbers tell a size, `sizes` has None for it, and the dtype is given as well."""
    if threads.recording is None or not any(type(v) is apply.Traced for v in values):
        return function(*values)
    name = getattr(function, "__name__", "computed")
    if sizes is None:
        return threads.recording.compute(name, function, *values)
    return threads.recording.compute_sizes(name, function, values, sizes, np.dtype(dtype))


def is_recorded(value: Any) -> bool:
    """Whether an array stands for those of all calls of a function, so that nobody should look."""
    return type(value) is apply.Traced


def is_ragged(value: Any) -> bool:
    """Whether this is a ragged tensor, a class that lies above."""
    return not isinstance(value, Value) and hasattr(value.__class__, "nested_row_splits")


def any_ragged(values: Any) -> bool:
    """Whether a ragged tensor is among these; 100 tensors, of one class, take 3 us."""
    return any(hasattr(kind, "nested_row_splits") for kind in {*map(type, values)})


def is_sparse(value: Any) -> bool:
    """Whether this is a sparse tensor, a class that lies above."""
    if isinstance(value, Value) or not hasattr(value, "with_values"):
        return False
    return all(hasattr(value, part) for part in ("indices", "values", "dense_shape"))


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
    from ..ops.shape import cast, stack

    if not values:
        raise errors.invalid("a list in a list with tensors must not be empty [Op:Pack] name: ")
    parts = []
    for k, v in enumerate(values):
        if isinstance(v, (list, tuple)):
            part = _pack(v, dtype, casts)
        else:
            part = to_tensor(v) if is_tensor_like(v) else to_tensor(v, dtype)
        if part._value.dtype != dtype:
            if not casts and not all(map(is_tensor_like, values)):
                raise TypeError(
                    f"Cannot convert a list containing a tensor of dtype {part.dtype.name} to "
                    f"{dtypes.of(dtype).name} (Tensor is: {part!r})"
                )
            if not casts:
                raise errors.wrong_dtype(
                    f"cannot compute Pack as input #{k}(zero-based) was expected to be a "
                    f"{c_name(dtype)} tensor but is a {c_name(part._value.dtype)} tensor; tf.cast "
                    "makes them agree [Op:Pack] name: packed"
                )
            if "O" in (np.dtype(dtype).kind, part._value.dtype.kind):
                own, wanted = c_name(part._value.dtype), c_name(dtype)
                raise errors.UnimplementedError(
                    None, None, f"Cast {own} to {wanted} is not supported [Op:Cast]"
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
            return dtype_of(v)
    return None


def is_tensor_like(value: Any) -> bool:
    return isinstance(value, Value) or hasattr(value, "_read")


def dtype_of(value: Any) -> np.dtype:
    """NumPy's dtype of a tensor or variable, also of Keras's, which stand for a variable."""
    dtype = value._value.dtype
    return dtype if isinstance(dtype, np.dtype) else np.dtype(dtype.as_numpy_dtype)


def quickly(value: Any) -> bool:
    """Whether TensorFlow's ops take the value as it is. With lists, NumPy's scalars and others'
    values among their inputs they go another way, on which a variable's dtype counts for nothing
    beside that of a tensor, or of a value before it."""
    return isinstance(value, (int, float, np.ndarray)) or is_tensor_like(value)


def read_as(variable: Any, dtype: np.dtype) -> Any:
    """What a variable holds, if that is of this dtype."""
    if variable.dtype != dtypes.of(dtype):
        raise ValueError(
            f"Incompatible type conversion requested to type {dtypes.of(dtype).name} for "
            f"`tf.Variable of type {variable.dtype.name}`. (Variable: {variable!r})"
        )
    return variable._read()


# --- the engine's hooks --------------------------------------------------------------------------
# TensorFlow's Python wrappers of these try the first operand's dtype for the second, and leave it
# its own if that fails.
_NUMBERS: Any = frozenset((float, int))
LENIENT = {"add", "matmul", "div"}


def pair(op: Op, a: Any, b: Any) -> Any:
    """Make two operands tensors of one dtype, or say what does not fit."""
    # First the usual case: a Python number beside a floating tensor.
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
        if not isinstance(b, Value) and not quickly(a) and op.name not in LENIENT:
            a = to_tensor(a)
            b = read_as(b, a._value.dtype)
        b = to_tensor(b)
        a = _beside(op, a, b, op.name == "matmul")
    else:
        a = to_tensor(a)
        b = _beside(op, b, a, op.name in LENIENT)
    if b is NotImplemented or a is NotImplemented:
        return NotImplemented
    if a._value.dtype != b._value.dtype:
        if op.name == "div":
            kinds = " != ".join(repr(dtypes.of(t._value.dtype)) for t in (a, b))
            raise TypeError(f"`x` and `y` must have the same dtype, got {kinds}.")
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
        reflected = None if known else getattr(type(value), f"__r{sign}__", None)
        with contextlib.suppress(TypeError, ValueError):
            if reflected is not None and reflected(value, other) is not NotImplemented:
                return NotImplemented
        raise


def mismatch(op: Op, a: np.dtype, b: np.dtype) -> Exception:
    return errors.wrong_dtype(
        f"cannot compute {op.label} as input #1(zero-based) was expected to be a {c_name(a)} "
        f"tensor but is a {c_name(b)} tensor [Op:{op.label}] name: (tensors do not promote each "
        f"other: tf.cast one of them)"
    )


def complain(op: Op, error: Exception, values: Any, params: dict) -> Exception:
    """The exception TensorFlow would raise where NumPy raised `error`."""
    if isinstance(error, errors.OpError):
        return error
    if isinstance(error, MemoryError):
        return errors.exhausted(op.label, error)
    if op.label == "Cast" and values[0].dtype.kind == "O":
        return errors.UnimplementedError(
            None, None, "Cast string to numbers is not supported; tf.strings.to_number [Op:Cast]"
        )
    shapes = " vs. ".join(str(list(v.shape)) for v in values)
    wrong = [v.dtype for v in values if v.dtype.kind not in op.takes]
    if wrong:
        return wrong_dtype(op, wrong[0])
    if op.broadcasts and "broadcast" in str(error):
        return errors.invalid(f"Incompatible shapes: {shapes} [Op:{op.label}] name: ")
    extra = "".join(f", {name}={value!r}" for name, value in params.items())
    of_numbers = isinstance(error, (IndexError, np.linalg.LinAlgError))
    kind = errors.at_run if of_numbers else errors.invalid
    return kind(f"{op.label} of shapes {shapes}{extra}: {error} [Op:{op.label}] name: ")


def wrong_dtype(op: Op, dtype: np.dtype, label: str = "") -> Exception:
    allowed = [n for n in _ALL if np.dtype(dtypes.as_dtype(n).as_numpy_dtype).kind in op.takes]
    return errors.wrong_dtype(
        f"Value for attr 'T' of {c_name(dtype)} is not in the list of allowed values: "
        f"{', '.join(allowed)}; cast the argument first, for example tf.cast(x, tf.float32) "
        f"[Op:{label or op.label}] name: "
    )


_ALL = (
    "bfloat16", "float16", "float32", "float64", "uint8", "uint16", "uint32", "uint64", "int8",
    "int16", "int32", "int64", "complex64", "complex128", "bool", "string",
)  # fmt: skip
