"""The part of `tf.strings` about Unicode, hashes and runs of words."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import errors
from ..core.apply import tensor
from ..errors import invalid
from ..framework import convert
from ..framework.arguments import as_input, integer, listed, narrow, number, truth
from ..ragged import RaggedTensor
from . import hashing

_STRING = np.dtype(object)


def _strings(value: Any) -> Any:
    return convert.to_tensor(value, _STRING)._value


def _texts(input: Any, label: str) -> Any:
    """The strings of a tensor that is there already; of another dtype, the op refuses it."""
    found = convert.to_tensor(input)._value if convert.is_tensor_like(input) else _strings(input)
    if found.dtype != _STRING:
        raise errors.wrong_dtype(
            f"cannot compute {label} as input #0(zero-based) was expected to be a string tensor "
            f"but is a {convert.c_name(found.dtype)} tensor [Op:{label}] name: "
        )
    return found


def _packed(items: list, shape: Any = None, dtype: Any = object) -> Any:
    out = np.empty(len(items), dtype)
    out[:] = items
    out = out.reshape(len(items) if shape is None else shape)
    return tensor(out if out.ndim or dtype is object else out[()])


# --- hashes ---------------------------------------------------------------------------------------
def _buckets(input: Any, num_buckets: int, label: str, digest: Any) -> Any:
    # What is no plain number takes TensorFlow's slow way, where another dtype is a ValueError.
    slow = num_buckets.__class__ is not int
    num_buckets = integer(num_buckets, "num_buckets")
    texts = _strings(input) if slow else _texts(input, label)
    if num_buckets < 1:
        raise errors.invalid(
            f"Value for attr 'num_buckets' of {num_buckets} must be at least minimum 1 [Op:{label}]"
        )
    found = [digest(text) % num_buckets for text in np.ravel(texts).tolist()]
    return _packed(found, texts.shape, np.int64)


def to_hash_bucket(input: Any, num_buckets: int, name: str | None = None) -> Any:
    """A number below `num_buckets` for each string, the same for equal ones."""
    return _buckets(input, num_buckets, "StringToHashBucket", hashing.murmur)


def to_hash_bucket_fast(input: Any, num_buckets: int, name: str | None = None) -> Any:
    """A number below `num_buckets` for each string, by FarmHash.

    >>> import gradtape as tf
    >>> tf.strings.to_hash_bucket_fast(["a", "b"], 1000)
    <tf.Tensor: shape=(2,), dtype=int64, numpy=array([939, 822])>
    """
    return _buckets(input, num_buckets, "StringToHashBucketFast", hashing.farm)


def to_hash_bucket_strong(input: Any, num_buckets: int, key: Any, name: str | None = None) -> Any:
    """A number below `num_buckets` for each string that nobody foresees without the key."""
    label = "StringToHashBucketStrong"
    integer(num_buckets, "num_buckets")
    listed(key, "key", "string_to_hash_bucket_strong")
    pair = tuple(integer(k, "key") for k in key)
    _texts(input, label)
    if len(pair) != 2:
        raise errors.invalid(f"Key must have 2 elements [Op:{label}] name: ")
    return _buckets(input, num_buckets, label, lambda text: hashing.sip(text, pair))


def fingerprint(data: Any, method: str = "farmhash64", name: str | None = None) -> Any:
    """Eight bytes for each row of the data, the same for equal rows."""
    x = convert.to_tensor(data)._value
    if not x.ndim:
        raise errors.invalid(
            "`data` should have at least one dimension: [] [Op:Fingerprint] name: "
        )
    kind = method.decode() if isinstance(method, bytes) else method
    if kind != "farmhash64":
        raise errors.invalid(f"Unsupported fingerprint method: {kind} [Op:Fingerprint] name: ")
    if x.dtype.kind == "O" and x.ndim > 1:
        # Rows of strings are told by the fingerprints of their strings.
        each = [hashing.farm(text) for text in x.reshape(-1).tolist()]
        x = np.array(each, np.uint64).reshape(x.shape)
    rows = x.tolist() if x.dtype.kind == "O" else [np.ascontiguousarray(r).tobytes() for r in x]
    found = np.array([hashing.farm(row) for row in rows], np.uint64)
    return tensor(found.astype("<u8").view(np.uint8).reshape(len(rows), 8))


# --- words ----------------------------------------------------------------------------------------
def unsorted_segment_join(
    inputs: Any, segment_ids: Any, num_segments: Any, separator: str = "", name: str | None = None
) -> Any:
    """The strings of each segment joined."""
    kind, label = np.dtype(object), "UnsortedSegmentJoin"
    if all(map(convert.quickly, (inputs, segment_ids, num_segments))):
        given = as_input(inputs, kind, label)
    else:
        given = convert.to_tensor(inputs, kind)
    texts, ids = given._value, np.asarray(convert.to_tensor(segment_ids)._value)
    count = number(num_segments)
    if texts.shape[: ids.ndim] != ids.shape:
        raise errors.invalid(
            f"the shape of segment_ids, {list(ids.shape)}, must start that of the inputs, "
            f"{list(texts.shape)} [Op:UnsortedSegmentJoin] name: "
        )
    if ids.size and not 0 <= ids.min() <= ids.max() < count:
        raise errors.invalid(
            "segment_ids are not allowed to exceed num_segments or to have negative values: they "
            f"are in [0, {count}) [Op:UnsortedSegmentJoin] name: "
        )
    if not isinstance(separator, (str, bytes)):
        raise TypeError(f"Expected string for argument 'separator' not {separator!r}.")
    rest = texts.shape[ids.ndim :]
    rows = texts.reshape(ids.size, -1)
    places = ids.reshape(-1).tolist()
    try:
        np.empty((count, rows.shape[1]), object)  # in less time than the lists would take to fail
    except MemoryError as error:
        raise errors.exhausted("UnsortedSegmentJoin", error) from None
    groups: list[list[list[bytes]]] = [[[] for _ in range(rows.shape[1])] for _ in range(count)]
    for place, row in zip(places, rows.tolist(), strict=True):
        for group, text in zip(groups[place], row, strict=True):
            group.append(text)
    glue = separator.encode() if isinstance(separator, str) else separator
    return _packed([glue.join(texts) for group in groups for texts in group], (count, *rest))


def ngrams(
    data: Any,
    ngram_width: Any,
    separator: str = " ",
    pad_values: Any = None,
    padding_width: int | None = None,
    preserve_short_sequences: bool = False,
    name: str | None = None,
) -> Any:
    """Runs of neighbouring strings, joined.

    >>> import gradtape as tf
    >>> tf.strings.ngrams(["a", "b", "c"], 2).numpy().tolist()
    [b'a b', b'b c']
    """
    left, right = _pads(pad_values)
    if padding_width is not None and pad_values is None:
        raise ValueError(
            "pad_values must be provided if padding_width is set."
        )  # fmt: skip
    if padding_width is not None and padding_width < 0:
        raise ValueError(f"padding_width must be greater than 0. Received: {padding_width}")
    several = isinstance(ngram_width, (list, tuple))
    compared = convert.is_tensor_like(ngram_width) or isinstance(ngram_width, int)
    if compared and ngram_width < 1:
        raise ValueError(f"All ngram_widths must be greater than 0. Received: {ngram_width}")
    given = ngram_width if several else [ngram_width]
    widths = tuple(narrow(integer(w, "ngram_widths"), "StringNGrams") for w in given)
    if any(width < 1 for width in widths):
        raise ValueError(f"All ngram_widths must be greater than 0. Received: {widths}")
    ragged = isinstance(data, RaggedTensor)
    truth(preserve_short_sequences, "preserve_short_sequences")
    if not isinstance(separator, (str, bytes)):
        raise TypeError(f"Expected string for argument 'separator' not {separator!r}.")
    texts = data if ragged else _strings(data)
    if not ragged and not texts.ndim:
        raise ValueError("Data must have rank>0")
    rows = texts.to_list() if ragged else texts.reshape(-1, texts.shape[-1]).tolist()
    glue = separator.encode() if isinstance(separator, str) else separator
    made = []
    for row in rows:
        grams = []
        for width in widths:
            reach = width - 1 if padding_width is None else min(width - 1, padding_width)
            reach = 0 if pad_values is None else reach
            full = [left] * reach + row + [right] * reach
            grams += [glue.join(full[k : k + width]) for k in range(len(full) - width + 1)]
        if not grams and preserve_short_sequences and row:
            grams = [glue.join(row)]
        made.append(grams)
    if ragged:
        return _ragged(made)
    return _packed([g for row in made for g in row], (*texts.shape[:-1], len(made[0])))


def _pads(pad_values: Any) -> tuple[bytes, bytes]:
    if pad_values is None:
        return b"", b""
    if isinstance(pad_values, (list, tuple)):
        if not all(isinstance(p, (str, bytes)) for p in pad_values):
            raise TypeError("pad_values must be a string, tuple of strings, or None.")
        left, right = (p.encode() if isinstance(p, str) else p for p in pad_values)
        return left, right
    if not isinstance(pad_values, (str, bytes)):
        raise TypeError("pad_values must be a string, tuple of strings, or None.")
    pad = pad_values.encode() if isinstance(pad_values, str) else pad_values
    return pad, pad


def _ragged(rows: list[list], dtype: Any = object) -> RaggedTensor:
    flat = np.empty(sum(map(len, rows)), dtype)
    flat[:] = [item for row in rows for item in row]
    ends = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    return RaggedTensor.from_row_splits(tensor(flat), ends)


# --- Unicode --------------------------------------------------------------------------------------
_OUTPUTS = {"UTF-8": "utf-8", "UTF-16-BE": "utf-16-be", "UTF-32-BE": "utf-32-be"}
_POLICIES = ("replace", "ignore", "strict")


def _characters(text: bytes, encoding: str, policy: str, char: int, control: bool) -> Any:
    """The code points of a string, and where each starts."""
    if policy not in _POLICIES:
        raise errors.invalid(
            f"Value for attr 'errors' of \"{policy}\" is not in the list of allowed values: "
            '"strict", "replace", "ignore" [Op:UnicodeDecode]'
        )
    import codecs

    try:
        decoder = codecs.getincrementaldecoder(encoding)("strict")
    except LookupError:
        raise errors.invalid(
            f"Could not create converter for input encoding: {encoding} [Op:UnicodeDecode] name: "
        ) from None
    points, starts, start, place = [], [], 0, 0
    while place < len(text) or (place == len(text) and start < place):
        try:
            found = decoder.decode(text[place : place + 1], place >= len(text))
        except UnicodeDecodeError as error:
            if policy == "strict":
                raise errors.invalid(
                    f"Invalid formatting on input string {text!r} [Op:UnicodeDecode] name: "
                ) from None
            if policy == "replace":
                points.append(char)
                starts.append(start)
            # What is wrong is left behind; what follows it is read again.
            start = place = start + max(error.end - error.start, 1)
            decoder.reset()
            continue
        place += 1
        if found:
            code = ord(found)
            points.append(char if control and code <= 0x1F else code)
            starts.append(start)
            start = place
    return points, starts


def _decoded(input: Any, encoding: str, policy: str, char: int, control: bool, make: Any) -> Any:
    given = convert.to_tensor(input)
    _attributes(char, input_encoding=encoding, errors=policy)
    if convert.is_tensor_like(char):
        given = convert.to_tensor(given, np.dtype(object))  # converted before the op looks at it
    char = 65533 if char is None else integer(char, "replacement_char")
    if not 0 <= char <= 0x10FFFF:
        raise errors.invalid(
            f"replacement_char out of unicode codepoint range: {char} [Op:UnicodeDecode]"
        )
    control = truth(control, "replace_control_characters")
    texts = _texts(given, "UnicodeDecode")
    kind = np.int32 if make is int else object

    def characters(text: bytes) -> tuple[list, list]:
        points, places = _characters(text, encoding, policy, char, control)
        return [make(p) for p in points], places

    if not texts.ndim:
        points_of = lambda text: _packed(characters(text.item())[0], dtype=kind)._value
        places_of = lambda text: _packed(characters(text.item())[1], dtype=np.int64)._value
        return (
            tensor(convert.computed(points_of, texts, sizes=(None,), dtype=kind)),
            tensor(convert.computed(places_of, texts, sizes=(None,), dtype=np.int64)),
        )
    found = [characters(text) for text in np.ravel(texts).tolist()]
    values, starts = [points for points, _ in found], [places for _, places in found]
    parts = _ragged(values, kind), _ragged(starts, np.int64)
    if texts.ndim == 1:
        return parts
    outer = RaggedTensor.from_tensor(given, ragged_rank=texts.ndim - 1)
    return tuple(outer.with_flat_values(part) for part in parts)


def unicode_decode(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Any:
    """The code points of each string."""
    options = errors, replacement_char, replace_control_characters
    return _decoded(input, input_encoding, *options, int)[0]


def unicode_decode_with_offsets(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Any:
    """The code points of each string, and the byte at which each starts."""
    options = errors, replacement_char, replace_control_characters
    return _decoded(input, input_encoding, *options, int)


def unicode_split(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    name: str | None = None,
) -> Any:
    """The characters of each string."""
    make = _in_encoding(input_encoding)
    return _decoded(input, input_encoding, errors, replacement_char, False, make)[0]


def unicode_split_with_offsets(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    name: str | None = None,
) -> Any:
    """The characters of each string, and the byte at which each starts."""
    make = _in_encoding(input_encoding)
    return _decoded(input, input_encoding, errors, replacement_char, False, make)


def _attributes(char: Any, **words: Any) -> None:
    """Look at what is no tensor, as TensorFlow does first: words and a number."""
    for argument, word in words.items():
        if not isinstance(word, (str, bytes)):
            raise TypeError(f"Expected string for argument '{argument}' not {word!r}.")
    if char is not None:
        integer(char, "replacement_char")


def _in_encoding(encoding: str) -> Any:
    codec = _OUTPUTS.get(encoding, "utf-8")
    return lambda code: chr(code).encode(codec, "replace")


def _encoded(points: list[int], encoding: str, policy: str, char: int, label: str) -> bytes:
    if encoding not in _OUTPUTS:
        raise errors.invalid(
            f"Value for attr 'output_encoding' of \"{encoding}\" is not in the list of allowed "
            f'values: "UTF-8", "UTF-16-BE", "UTF-32-BE" [Op:{label}]'
        )
    good = []
    for point in points:
        if 0 <= point <= 0x10FFFF and not 0xD800 <= point <= 0xDFFF:
            good.append(chr(point))
        elif policy == "strict":
            raise errors.invalid(
                "Code point is out of range for Unicode, or is a surrogate. "
                f"[Op:{label}] name: "
            )  # fmt: skip
        elif policy == "replace":
            good.append(chr(char))
    return "".join(good).encode(_OUTPUTS[encoding])


def unicode_encode(
    input: Any,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    name: str | None = None,
) -> Any:
    """Strings of code points."""
    options = output_encoding, errors, replacement_char, "UnicodeEncode"
    points = None
    if not isinstance(input, RaggedTensor):
        points = np.asarray(convert.to_tensor(input)._value)
        if not points.ndim:
            raise ValueError("input_tensor's rank must be at least 1.")
    _attributes(replacement_char, output_encoding=output_encoding, errors=errors)
    if points is None:
        return _packed([_encoded(row, *options) for row in input.to_list()])
    if points.dtype != np.int32:
        raise invalid(
            "cannot compute UnicodeEncode as input #0(zero-based) was expected to be a int32 "
            f"tensor but is a {convert.c_name(points.dtype)} tensor [Op:UnicodeEncode] name: "
        )
    rows = points.reshape(int(np.prod(points.shape[:-1])), points.shape[-1]).tolist()
    return _packed([_encoded(row, *options) for row in rows], points.shape[:-1])


def unicode_transcode(
    input: Any,
    input_encoding: str,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Any:
    """Strings in another encoding."""
    words = {"input_encoding": input_encoding, "output_encoding": output_encoding}
    _attributes(replacement_char, **words, errors=errors)
    truth(replace_control_characters, "replace_control_characters")
    texts = as_input(input, np.dtype(object), "UnicodeTranscode")._value
    made = []
    for text in np.ravel(texts).tolist():
        points, _ = _characters(
            text, input_encoding, errors, replacement_char, replace_control_characters
        )
        options = output_encoding, errors, replacement_char, "UnicodeTranscode"
        made.append(_encoded(points, *options))
    return _packed(made, texts.shape)
