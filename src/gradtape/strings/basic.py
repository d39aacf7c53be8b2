"""`tf.strings`: the basic functions of tensors that hold bytes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes, errors
from ..core.apply import tensor
from ..framework import convert
from ..framework.arguments import (
    alike,
    as_input,
    integer,
    listed,
    listed_dtype,
    narrow,
    truth,
    vector,
    word,
)
from ..framework.printing import tensor_text

_STRING = np.dtype(object)
_UNITS = ("BYTE", "UTF8_CHAR")


def _strings(value: Any) -> Any:
    return as_input(value, _STRING, "a string op")._value


def _converted(value: Any) -> Any:
    """The strings of an argument that TensorFlow's Python converts before its op looks at it."""
    return convert.to_tensor(value, _STRING)._value


def _each(function: Callable[..., Any], *arrays: Any, dtype: Any = object) -> Any:
    """A function of each element, as a tensor."""

    def make(*arrays: Any) -> Any:
        arrays = tuple(np.broadcast_arrays(*arrays))
        rows = zip(*(a.ravel().tolist() for a in arrays), strict=True)
        made = [function(*items) for items in rows]
        out = np.empty(len(made), dtype)
        out[:] = made
        out = out.reshape(arrays[0].shape)
        return out if out.ndim or dtype is object else out[()]

    return tensor(convert.computed(make, *arrays))


def _text(value: Any, argument: str) -> str:
    """A word given to an op; None is none."""
    if value is None:
        return ""
    if not isinstance(value, (str, bytes)):
        raise TypeError(f"Expected string for argument '{argument}' not {value!r}.")
    return value.decode() if isinstance(value, bytes) else value


def as_string(
    input: Any,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
    name: str | None = None,
) -> Any:
    """Numbers as text: `%f` unless `scientific` (`%e`) or `shortest` (`%g`).

    >>> import gradtape as tf
    >>> tf.strings.as_string(tf.constant([3.14159, 2.0]), precision=2).numpy().tolist()
    [b'3.14', b'2.00']
    """
    value = convert.to_tensor(input)._value
    kind = value.dtype.kind
    scientific, shortest = truth(scientific, "scientific"), truth(shortest, "shortest")
    precision, width = (
        -1 if n is None else integer(n, argument)
        for n, argument in ((precision, "precision"), (width, "width"))
    )
    fill = _text(fill, "fill")
    if len(fill) > 1:
        raise errors.invalid(f"Fill string must be one or fewer characters, got {fill!r}")
    if fill not in ("", " ", "+", "-", "0", "#"):
        raise errors.invalid(f"Fill argument not supported: {fill!r} [Op:AsString]")
    if scientific and shortest:
        raise errors.invalid("Cannot select both scientific and shortest notation")
    if kind not in "fcV" and (precision >= 0 or scientific or shortest):
        option = "precision" if precision >= 0 else "scientific or shortest notation"
        raise errors.invalid(
            f"{option} not supported for datatype {dtypes.of(value.dtype).name} [Op:AsString]"
        )
    if kind == "O":
        return tensor(value)
    if kind == "b":
        return _each(lambda x: b"true" if x else b"false", value)
    for n, argument in ((precision, "precision"), (width, "width")):
        if not -(2**31) <= n < 2**31:
            raise errors.invalid(f"Attr {argument} has value {n} out of range for an int32")
    size = f"{width}" if width >= 0 else ""
    if kind in "iu":
        return _each(lambda x: (f"%{fill}{size}d" % x).encode(), value)
    digits = f".{precision}" if precision >= 0 else ""
    form = f"%{fill}{size}{digits}{'e' if scientific else 'g' if shortest else 'f'}"
    if kind == "c":
        return _each(lambda x: f"({form % x.real},{form % x.imag})".encode(), value)
    return _each(lambda x: (form % float(x)).encode(), value)


def join(inputs: Any, separator: str = "", name: str | None = None) -> Any:
    """Strings of several tensors put together, element by element; scalars go with every shape."""
    if isinstance(inputs, (str, bytes)):
        raise TypeError(f"Expected list for 'inputs' argument of StringJoin, not {inputs!r}.")
    separator = _text(separator, "separator")
    if isinstance(inputs, (np.ndarray, dict)):
        listed(inputs, "inputs", "string_join")
    arrays = [_strings(one) for one in inputs]
    if not arrays:
        return tensor(np.array(b"", object))
    shapes = [a.shape for a in arrays if a.ndim]
    for shape in shapes[1:]:
        if shape != shapes[0]:
            raise errors.invalid(
                f"Input shapes do not match: {list(shapes[0])} vs. {list(shape)} [Op:StringJoin]"
            )
    return _each(lambda *parts: separator.encode().join(parts), *arrays)


def format(
    template: str,
    inputs: Any,
    placeholder: str = "{}",
    summarize: int = 3,
    name: str | None = None,
) -> Any:
    """A text with the tensors in the places of its placeholders, as `tf.print` shows them."""
    if convert.is_tensor_like(inputs) or not hasattr(inputs, "__iter__"):
        inputs = [inputs]
    if not isinstance(template, str):
        raise ValueError(f"The template must be a string, got {template!r}.")
    summarize = 3 if summarize is None else integer(summarize, "summarize")
    parts = template.split(placeholder)
    if len(parts) - 1 != len(inputs):
        raise ValueError(
            f"The template expects {len(parts) - 1} tensors, but the inputs only has {len(inputs)}."
            " Please ensure the number of placeholders in template matches inputs length."
        )
    texts = [tensor_text(convert.to_tensor(one)._value, summarize) for one in inputs]
    made = "".join(a + b for a, b in zip(parts, [*texts, ""], strict=True))
    return tensor(np.array(made.encode("utf-8", "surrogateescape"), object))


def length(input: Any, unit: str = "BYTE", name: str | None = None) -> Any:
    """How many bytes, or characters (`unit="UTF8_CHAR"`), each string has."""
    values = _strings(input)
    unit = word(unit, "unit", _UNITS, "StringLength", "BYTE")
    # A character has one byte that does not continue another.
    count = len if unit == "BYTE" else lambda s: sum(byte & 0xC0 != 0x80 for byte in s)
    return _each(count, values, dtype=np.int32)


def _cased(method: str, input: Any, encoding: str) -> Any:
    values = _strings(input)
    encoding = _text(encoding, "encoding")
    if encoding not in ("", "utf-8"):
        raise errors.invalid(f"encoding must be '' or 'utf-8', got {encoding!r}")
    if not encoding:
        return _each(lambda s: getattr(s, method)(), values)
    return _each(lambda s: getattr(s.decode(), method)().encode(), values)


def lower(input: Any, encoding: str = "", name: str | None = None) -> Any:
    """ASCII capitals made small; all of them with `encoding="utf-8"`."""
    return _cased("lower", input, encoding)


def upper(input: Any, encoding: str = "", name: str | None = None) -> Any:
    """ASCII letters made capitals; all of them with `encoding="utf-8"`."""
    return _cased("upper", input, encoding)


def strip(input: Any, name: str | None = None) -> Any:
    """Without the white space at both ends."""
    return _each(bytes.strip, _strings(input))


def substr(input: Any, pos: Any, len: Any, unit: str = "BYTE", name: str | None = None) -> Any:
    """The part of each string from `pos` on, `len` units long."""
    unit = word(unit, "unit", _UNITS, "Substr", "BYTE")

    def cut(text: bytes, start: int, size: int) -> bytes:
        units: Any = text if unit == "BYTE" else text.decode()
        count = units.__len__()
        if not -count <= start <= count:
            raise errors.at_run(f"pos {start} out of range for string {text!r} [Op:Substr]")
        start += count if start < 0 else 0
        part = units[start : start + size] if size >= 0 else units[start:]
        return part if unit == "BYTE" else part.encode()

    starts, sizes = alike((pos, len), "Substr", "T")
    if starts.shape != sizes.shape:
        raise errors.invalid(
            f"pos and len should have the same shape, got: {list(starts.shape)} vs. "
            f"{list(sizes.shape)} [Op:Substr]"
        )
    return _each(cut, _strings(input), starts, sizes)


def to_number(input: Any, out_type: Any = dtypes.float32, name: str | None = None) -> Any:
    """The numbers that strings spell."""
    if out_type.__class__ is int:
        raise TypeError(f"Expected DataType for argument 'out_type' not {out_type!r}.")
    allowed = ("float32", "float64", "int32", "int64")
    found = dtypes.of(listed_dtype(out_type, "out_type", allowed, "StringToNumber", "float32"))
    read = int if found.is_integer else float

    def number(text: bytes) -> Any:
        try:
            return read(text)
        except ValueError:
            raise errors.invalid(
                "StringToNumberOp could not correctly convert string: "
                f"{text.decode('utf-8', 'replace')} [Op:StringToNumber]"
            ) from None

    return _each(number, _strings(input), dtype=np.dtype(found.as_numpy_dtype))


def reduce_join(
    inputs: Any,
    axis: Any = None,
    keepdims: bool = False,
    separator: str = "",
    name: str | None = None,
) -> Any:
    """Strings put together along axes."""
    values = _strings(convert.to_tensor(inputs))
    separator, keepdims = _text(separator, "separator"), truth(keepdims, "keep_dims")
    # The last of the axes is joined first, as in TensorFlow.
    given = range(values.ndim)[::-1] if axis is None else _axes(axis)
    for k in given:
        if not -values.ndim <= k < values.ndim:
            raise errors.OutOfRangeError(
                None, None, f"Invalid reduction dimension {k} for {values.ndim} axes"
            )
    axes = [int(k) % max(values.ndim, 1) for k in given]
    rest = [k for k in range(values.ndim) if k not in axes]
    rows = values.transpose(rest + axes[::-1]).reshape([values.shape[k] for k in rest] + [-1])
    out = np.empty(rows.shape[:-1], object)
    for place in np.ndindex(out.shape):
        out[place] = separator.encode().join(rows[place].tolist())
    if keepdims:
        out = out.reshape([1 if k in axes else n for k, n in enumerate(values.shape)])
    return tensor(out)


def _axes(axis: Any) -> Any:
    return vector(axis, "ReduceJoin", "", only=True).reshape(-1)


def _pattern(pattern: Any) -> Any:
    try:
        return re.compile(_bytes(pattern))
    except re.error as error:
        raise errors.invalid(f"Invalid pattern: {pattern}, error: {error}") from None


def regex_full_match(input: Any, pattern: str, name: str | None = None) -> Any:
    """Whether a pattern matches the whole of each string."""
    match = _pattern(pattern).fullmatch
    return _each(lambda s: match(s) is not None, _strings(input), dtype=bool)


def regex_replace(
    input: Any, pattern: str, rewrite: str, replace_global: bool = True, name: str | None = None
) -> Any:
    """Every match of a pattern (or the first) replaced."""
    replace_global = truth(replace_global, "replace_global", default=True)
    found, text = _pattern(pattern), _bytes(rewrite)
    # \\0 is the whole match, which Python writes otherwise.
    text = re.sub(rb"\\0", rb"\\g<0>", text)
    return _each(lambda s: found.sub(text, s, count=0 if replace_global else 1), _strings(input))


def split(input: Any, sep: Any = None, maxsplit: int = -1, name: str | None = None) -> Any:
    """The parts between separators (white space, unless given): a ragged row for each string."""
    between = None if sep is None else _bytes(sep) or None
    limit = -1 if maxsplit is None else narrow(integer(maxsplit, "maxsplit"), "StringSplitV2")
    if between is None and limit > 0:
        return _rows(lambda s: _words(s, limit), input)
    return _rows(lambda s: s.split(between, limit), input)


def _words(text: bytes, limit: int) -> list[bytes]:
    """At most `limit` words and, if there are so many, the rest, even if nothing is left."""
    found: list[bytes] = []
    rest = text.lstrip()
    while rest and len(found) < limit:
        word_, *more = rest.split(None, 1)
        found.append(word_)
        rest = more[0] if more else b""
    return [*found, rest] if len(found) == limit else found


def bytes_split(input: Any, name: str | None = None) -> Any:
    """The single bytes: a ragged row for each string."""
    values = convert.to_tensor(input)
    return _rows(lambda s: [s[k : k + 1] for k in range(len(s))], values)


def _rows(function: Callable[[bytes], list[bytes]], input: Any) -> Any:
    values = _converted(input)
    if values.ndim > 1:
        raise errors.UnimplementedError(None, None, "only a string or a vector of them is split")
    # In a function that is recorded, how many parts there are is looked at, and not the texts.
    split = lambda v: _split(function, v)[1]
    parts = tensor(convert.computed(split, values, sizes=(None,), dtype=object))
    if not values.ndim:
        return parts
    from ..ragged import RaggedTensor

    lengths = convert.computed(lambda v: _split(function, v)[0], values)
    return RaggedTensor.from_row_lengths(parts, tensor(lengths), validate=False)


def _split(function: Callable[[bytes], list[bytes]], values: Any) -> tuple[Any, Any]:
    """How many parts each string has, and all parts."""
    rows = [function(text) for text in values.reshape(-1).tolist()]
    parts = np.empty(sum(map(len, rows)), object)
    parts[:] = [part for row in rows for part in row]
    return np.array([len(row) for row in rows], np.int64), parts


def _bytes(text: Any) -> bytes:
    if isinstance(text, str):
        return text.encode()
    found = _converted(text)
    if found.size != 1:
        raise errors.invalid(f"a single string is needed here, got {text!r}")
    return bytes(found.item())
