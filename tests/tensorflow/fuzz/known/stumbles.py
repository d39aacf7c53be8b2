"""Where TensorFlow's own Python stumbles over an argument, instead of checking it."""

from __future__ import annotations

import re

from tests.tensorflow import harness
from tests.tensorflow.fuzz.known.answers import raised
from tests.tensorflow.fuzz.known.found import Family, Found

DIFFERS = Family()

# What a check of an argument raises here; an error of NumPy's or Python's own is a fault of ours.
CHECKS = (
    "TypeError", "ValueError", "InvalidArgumentError", "UnimplementedError", "OverflowError",
    "LookupError",
)  # fmt: skip
ACCIDENTS = (
    "AttributeError", "IndexError", "KeyError", "UnboundLocalError", "AssertionError",
    "ZeroDivisionError", "RecursionError", "UFuncTypeError",
)  # fmt: skip
# TensorFlow asks a plain value for what only its tensors have, or a tensor for what NumPy's have.
PLAIN = re.compile(
    r"^'(list|tuple|int|float|bool|complex|str|bytes|range|numpy\.\w+)' object has no attribute "
    r"'(shape|dtype|get_shape|ndims|rank|_shape|_shape_as_list|is_self_adjoint|device|graph|"
    r"is_fully_defined|set_shape|as_list|base_dtype)'"
    r"|^'numpy\.dtypes\.\w+' object has no attribute 'is_(floating|integer|complex|bool)'"
    r"|^'([\w.]*EagerTensor|ResourceVariable)' object has no attribute '(ndims|is_self_adjoint)'"
    r"|^EagerTensor object has no attribute '(astype|data|tolist|transpose|reshape|ravel)'"
    r"|^can't multiply sequence by non-int|^can only concatenate (list|tuple) \(not "
    r"|^list indices must be integers or slices, not tuple$"
)

NOT_UNDERSTOOD = re.compile(r"^data type '.*' not understood$")


@DIFFERS.difference(
    "accidents",
    "Where TensorFlow falls over inside of itself because it did not check an argument "
    "(AttributeError, IndexError, KeyError, UnboundLocalError, AssertionError, ZeroDivisionError, "
    "RecursionError, or a TypeError or ValueError in Python's or NumPy's own words), the error is "
    "the TypeError, ValueError or InvalidArgumentError of a check.",
)
def _accidents(d: Found) -> bool:
    error, ours = raised(d.expected), raised(d.got)
    if not error or not ours:
        return False
    if error["raises"] not in ACCIDENTS and not harness.stumbled(error):
        return False
    return ours["raises"] in CHECKS and not harness.stumbled(ours)


@DIFFERS.difference(
    "no memory",
    "A wrong argument is refused by a check also where TensorFlow first runs out of memory over it "
    "(ResourceExhaustedError).",
)
def _no_memory(d: Found) -> bool:
    error, ours = raised(d.expected), raised(d.got)
    if not error or not ours or error["raises"] != "ResourceExhaustedError":
        return False
    return ours["raises"] in CHECKS and not harness.stumbled(ours)


@DIFFERS.difference(
    "forgotten attributes",
    "A whole number beyond 64 bits is an OverflowError; TensorFlow forgets it beside a variable.",
)
def _forgotten(d: Found) -> bool:
    ours = raised(d.got) or {"raises": ""}
    beside = any(given["kind"] == "variable" for given in d.program["inputs"])
    return not raised(d.expected) and ours["raises"] == "OverflowError" and beside


@DIFFERS.difference(
    "short seeds",
    "A seed of one number is refused; TensorFlow reads on behind it in the memory.",
)
def _short_seeds(d: Found) -> bool:
    words = "seed must have shape [2], not [1]:"
    return not raised(d.expected) and words in (raised(d.got) or {}).get("message", "")


@DIFFERS.difference(
    "plain values",
    "Numbers, lists and arrays are taken where TensorFlow's Python asks them for what only its "
    "tensors have, or its tensors for what only NumPy's arrays have, and ends in an "
    "AttributeError or a TypeError of Python's: `tf.nn.conv2d` of a list, "
    "`tf.experimental.numpy.isinf` of an array, `tf.experimental.numpy.cbrt` of whole numbers.",
)
def _plain_values(d: Found) -> bool:
    error = raised(d.expected)
    if not error or raised(d.got):
        return False
    kind = error["raises"] in ("AttributeError", "TypeError")
    return kind and bool(PLAIN.search(error["message"]))


@DIFFERS.difference(
    "texts for dtypes",
    "`tf.experimental.numpy` takes lists of texts; TensorFlow reads the texts as names of dtypes "
    "and ends in NumPy's TypeError.",
)
def _texts_for_dtypes(d: Found) -> bool:
    error = raised(d.expected)
    if not error or raised(d.got) or "tf.experimental.numpy." not in d.ops:
        return False
    return error["raises"] == "TypeError" and bool(NOT_UNDERSTOOD.search(error["message"]))


@DIFFERS.difference(
    "ragged operands",
    "Ragged tensors are taken by `tf.ragged`, reductions, `tf.concat`, `tf.stack` and `tf.gather`; "
    "other functions raise a ValueError that names `tf.ragged.map_flat_values`, also where "
    "TensorFlow applies them to the values.",
)
def _ragged_operands(d: Found) -> bool:
    ours = raised(d.got)
    words = re.compile(r"with an unsupported type \(<class '[\w.]*\.RaggedTensor'>\) to a Tensor\.")
    return bool(ours) and ours["raises"] == "ValueError" and bool(words.search(ours["message"]))


@DIFFERS.difference(
    "classes of datasets",
    "All datasets are of one class; TensorFlow has one for each kind, whose name its texts have.",
)
def _classes_of_datasets(d: Found) -> bool:
    pair = [
        side.get("object", "") if isinstance(side, dict) else "" for side in (d.expected, d.got)
    ]
    return pair[0].startswith("_") and pair[0].endswith("Dataset") and pair[1] == "DatasetV2"
