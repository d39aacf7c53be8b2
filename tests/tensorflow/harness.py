"""Cases that run alike on TensorFlow and on gradtape, and the comparison of what they return.

A case is a function of the module under test::

    @case
    def square(tf):
        x = tf.Variable(3.0)
        with tf.GradientTape() as tape:
            y = x * x
        return y, tape.gradient(y, x)

    @case(message="persistent")          # the exception's message must hold these words
    @case(tolerance=1e-3)                # relative, instead of the dtype's own
    @cases(dtype=["float32", "float64"], op={"tanh": lambda tf, x: tf.tanh(x)})

It returns a nest of tensors, variables, slices, arrays, scalars, strings, shapes, dtypes and None,
or raises. An exception caught with `attempt` may be part of the nest.
"""

from __future__ import annotations

import contextlib
import enum
import importlib
import io
import itertools
import json
import logging
import math
import pkgutil
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

ANSWERS = Path(__file__).parent / "answers"
LARGE = 100_000

# Relative tolerance and absolute floor of each dtype that is compared with one.
TOLERANCE = {
    "float64": (1e-9, 1e-13),
    "complex128": (1e-9, 1e-13),
    "float32": (2e-5, 1e-7),
    "complex64": (2e-5, 1e-7),
    "float16": (5e-3, 5e-4),
    "bfloat16": (4e-2, 1e-3),
    # A Python float is often a float32 that was taken out of a tensor.
    "float": (2e-6, 1e-9),
    "complex": (2e-6, 1e-9),
}


@dataclass(frozen=True)
class Case:
    """One call that both libraries answer, with what is asked of the comparison."""

    id: str
    family: str
    call: Callable[..., Any]
    params: dict[str, Any] = field(default_factory=dict)
    tolerance: float | None = None
    floor: float | None = None
    message: str | bool | None = None
    excuses: bool = False


REGISTRY: dict[str, Case] = {}


def case(
    call: Callable[..., Any] | None = None,
    *,
    tolerance: float | None = None,
    floor: float | None = None,
    message: str | bool | None = None,
    excuses: bool = False,
) -> Any:
    """Register a function of the module under test.

    `tolerance`, `floor`: relative and absolute, instead of the dtype's own; `floor=0` where tiny
    numbers are the point.
    `message`: words that every exception of the answer must carry, or True for the whole message.
    `excuses`: where TensorFlow's Python stumbles (an AttributeError deep inside), any exception of
    ours that says what is wrong will do, and where its CPU has no kernel, any answer.
    """
    asked = {"tolerance": tolerance, "floor": floor, "message": message, "excuses": excuses}
    if call is None:
        return lambda call: _register(call, {}, "", asked)
    _register(call, {}, "", asked)
    return call


def cases(
    *,
    tolerance: float | None = None,
    floor: float | None = None,
    message: str | bool | None = None,
    excuses: bool = False,
    **params: Any,
) -> Any:
    """Register one case for each combination; a mapping gives the values readable labels."""
    asked = {"tolerance": tolerance, "floor": floor, "message": message, "excuses": excuses}

    def decorate(call: Callable[..., Any]) -> Callable[..., Any]:
        axes = [[(name, *pair) for pair in _labelled(given)] for name, given in params.items()]
        for combination in itertools.product(*axes):
            chosen = {name: value for name, _, value in combination}
            label = ",".join(f"{name}={label}" for name, label, _ in combination)
            _register(call, chosen, f"[{label}]", asked)
        return call

    return decorate


def attempt(call: Callable[[], Any]) -> Any:
    """The result of the call, or the exception that it raises."""
    try:
        return call()
    except Exception as error:
        return error


def logged(call: Callable[[], Any]) -> list[str]:
    """The warnings that TensorFlow or gradtape logs during the call."""
    records: list[str] = []

    class Collect(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            records.append(record.getMessage())

    handler, loggers = Collect(), [logging.getLogger(name) for name in ("tensorflow", "gradtape")]
    before = [(logger.level, logger.propagate) for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.setLevel(logging.WARNING)
        logger.propagate = False
    try:
        call()
    finally:
        for logger, (level, propagate) in zip(loggers, before, strict=True):
            logger.removeHandler(handler)
            logger.setLevel(level)
            logger.propagate = propagate
    return records


def load(*families: str) -> list[Case]:
    """The cases of these families (of all, if none is named) in the order of their source."""
    package = importlib.import_module("tests.tensorflow.cases")
    modules = sorted(info.name for info in pkgutil.iter_modules(package.__path__))
    # A family is most often a module: the others, perhaps unfinished, are then left alone.
    chosen = families if families and set(families) <= set(modules) else modules
    for module in chosen:
        importlib.import_module(f"{package.__name__}.{module}")
    return [case for case in REGISTRY.values() if not families or case.family in families]


def run(case: Case, tf: Any) -> Any:
    """The encoded answer of the module to the case; what is printed or warned of is dropped."""
    np.random.seed(0)
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        with contextlib.suppress(AttributeError):
            tf.random.set_seed(0)
        try:
            return encode(case.call(tf, **case.params), tf)
        except Exception as error:
            return encode(error, tf)


def read(family: str) -> dict[str, Any]:
    """The stored answers of a family by the ids of their cases."""
    path = ANSWERS / f"{family}.json"
    return json.loads(path.read_text())["answers"] if path.exists() else {}


def write(family: str, version: str, answers: Mapping[str, Any]) -> None:
    """Store the answers, one line per case, so that a change of one is a change of one line."""
    lines = [f"{json.dumps(id)}: {json.dumps(answer)}" for id, answer in answers.items()]
    body = ",\n".join(lines)
    text = f'{{"tensorflow": {json.dumps(version)}, "answers": {{\n{body}\n}}}}\n'
    (ANSWERS / f"{family}.json").write_text(text)


# ---------------------------------------------------------------------------------- encoding


def encode(value: Any, tf: Any) -> Any:
    """A JSON-able form in which different kinds of value stay different."""
    if isinstance(value, enum.Enum):
        return {"enum": f"{type(value).__name__}.{value.name}"}
    if value is None or (isinstance(value, bool | int | str) and not isinstance(value, np.str_)):
        return value
    if isinstance(value, np.generic):
        return {"scalar": value.dtype.name, "value": _plain(value)}
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": _plain(value)}
    if isinstance(value, complex):
        return {"complex": _plain(value)}
    if isinstance(value, bytes):
        return {"bytes": value.decode("latin-1")}
    if isinstance(value, BaseException):
        bases = [base.__name__ for base in type(value).__mro__[1:] if base is not object]
        return {
            "raises": type(value).__name__,
            "bases": bases[: bases.index("Exception") + 1] if "Exception" in bases else bases,
            "message": _placeless(str(value)),
        }
    if isinstance(value, tf.Variable):
        return {"variable": value.dtype.name, **_content(value.numpy())}
    if isinstance(value, tf.Tensor):
        return {"tensor": value.dtype.name, **_content(value.numpy())}
    if isinstance(value, tf.IndexedSlices):
        parts = ("values", "indices", "dense_shape")
        return {"slices": {part: encode(getattr(value, part), tf) for part in parts}}
    if _is(value, tf, "SparseTensor"):
        parts = ("indices", "values", "dense_shape")
        return {"sparse": {part: encode(getattr(value, part), tf) for part in parts}}
    if _is(value, tf, "RaggedTensor"):
        parts = ("values", "row_splits")
        return {"ragged": {part: encode(getattr(value, part), tf) for part in parts}}
    if isinstance(value, np.ndarray):
        return {"array": value.dtype.name, **_content(value)}
    if _is(value, tf, "TensorShape"):
        return {"dims": None if value.rank is None else value.as_list()}
    if _is(value, tf, "DType"):
        return {"dtype": value.name}
    if isinstance(value, Mapping):
        return {"dict": [[encode(key, tf), encode(item, tf)] for key, item in value.items()]}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {"record": type(value).__name__, "items": [encode(item, tf) for item in value]}
    if isinstance(value, tuple):
        return {"tuple": [encode(item, tf) for item in value]}
    if isinstance(value, list):
        return [encode(item, tf) for item in value]
    return {"object": type(value).__name__}


def _content(array: Any) -> dict[str, Any]:
    array = np.asarray(array)
    # Of arrays that nobody would read, only the shape is kept.
    return {"shape": list(array.shape), "value": _nested(array) if array.size < LARGE else []}


def _nested(array: Any) -> Any:
    if not isinstance(array, np.ndarray):
        return _plain(array)
    return [_nested(row) for row in array] if array.ndim else _plain(array[()])


def _plain(scalar: Any) -> Any:
    if isinstance(scalar, bytes | np.bytes_):
        return scalar.decode("latin-1")
    if isinstance(scalar, str):
        return str(scalar)
    if isinstance(scalar, bool | np.bool_):
        return bool(scalar)
    if isinstance(scalar, int | np.integer):
        return int(scalar)
    if isinstance(scalar, complex | np.complexfloating):
        return [_plain(scalar.real), _plain(scalar.imag)]
    if not math.isfinite(scalar):
        return str(float(scalar))
    # The shortest digits that give the same number in its own dtype.
    return float(str(scalar)) if isinstance(scalar, np.float16 | np.float32) else float(scalar)


def _placeless(message: str) -> str:
    # Paths, addresses and device lists belong to the machine that recorded, not to the answer.
    message = re.sub(r"(?<![\w/])(/[\w.@+-]+)+/([\w.-]+)", r"\2", message)
    return re.sub(r"0x[0-9a-f]{6,}", "0x0", message).split("\nTraceback")[0]


def _is(value: Any, tf: Any, name: str) -> bool:
    kind = getattr(tf, name, None)
    return isinstance(kind, type) and isinstance(value, kind)


# -------------------------------------------------------------------------------- comparison
# How TensorFlow's Python code stumbles over arguments that it did not expect.
STUMBLES = ("AttributeError", "IndexError", "KeyError", "UnboundLocalError", "AssertionError")
# The words of Python and NumPy for the same: no check of an argument speaks like this.
STUMBLING = re.compile(
    r"unsupported operand type|object is not (iterable|subscriptable|callable)|has no len\(\)"
    r"|unhashable|can only concatenate|not supported between instances|truth value of an"
    r"|zero-size array|array of size 1|not all arguments converted|^must be str, not"
    r"|int\(\) argument must|invalid literal|only (0-dimensional|integer scalar) arrays"
    r"|setting an array element|not inexact|with an unsupported type \(<class '[\w.]*DType'>"
    r"|object cannot be interpreted|too many values to unpack|not enough values to unpack"
    r"|slice indices must|has no attribute|operands could not be broadcast|zip\(\) argument"
    r"|cannot reshape array|can't multiply sequence|object of type '\w+' has no len"
    r"|indices must be integers|cannot unpack non-iterable|iteration over a 0-d array"
)
# What TensorFlow says where it is declared to compute something that its CPU kernels do not.
LACKING = ("NotFoundError", "UnimplementedError")


def difference(case: Case, expected: Any, got: Any) -> str | None:
    """The first difference between what TensorFlow answered to a case and what came, or None."""
    if case.excuses:
        expected = _excused(expected, got)
    return mismatch(expected, got, case.tolerance, case.message, case.floor)


def stumbled(answer: Any) -> bool:
    """Whether an exception is Python's or NumPy's own, and not that of a check."""
    if _kind(answer) != "raises":
        return False
    return answer["raises"] in STUMBLES or bool(STUMBLING.search(answer["message"]))


def _excused(expected: Any, got: Any) -> Any:
    """The expected answer, with our exception instead of TensorFlow's where that is a stumble."""
    kind, other = _kind(expected), _kind(got)
    if kind == "raises":
        lacking = expected["raises"] in LACKING or " CPU" in expected["message"]
        excused = other == "raises" and stumbled(expected) and not stumbled(got)
        return got if lacking or excused else expected
    if kind == "dict" == other and len(expected["dict"]) == len(got["dict"]):
        pairs = zip(expected["dict"], got["dict"], strict=True)
        return {"dict": [[key, _excused(item, one)] for (key, item), (_, one) in pairs]}
    if kind == "tuple" == other:
        # Of a value and its gradients; there are no more where the first of them failed.
        items, others = expected["tuple"], got["tuple"]
        found = [
            one if at and stumbled(item) else _excused(item, one)
            for at, (item, one) in enumerate(zip(items, others, strict=False))
        ]
        cut = len(found) < len(others) and found[-1] is others[len(found) - 1]
        return {"tuple": [*found, *(others[len(found) :] if cut else items[len(found) :])]}
    return expected


def mismatch(
    expected: Any,
    got: Any,
    tolerance: float | None = None,
    message: str | bool | None = None,
    floor: float | None = None,
    path: str = "answer",
) -> str | None:
    """The first difference between two encoded answers in words, or None."""
    kind, other = _kind(expected), _kind(got)
    if kind != other and other == "raises":
        said = f"{got['raises']}: {got['message'][:200]}"
        return f"{path}: {said} is raised, expected {_short(expected)}"
    if kind != other:
        return f"{path}: {_short(expected)} expected, got {_short(got)}"
    if kind == "raises":
        return _mismatch_raised(expected, got, message, path)
    if kind in ("tensor", "variable", "array", "scalar"):
        return _mismatch_numbers(kind, expected, got, tolerance, floor, path)
    if kind in ("float", "complex"):
        pair = [e if isinstance(e, int | float) else e[kind] for e in (expected, got)]
        return _mismatch_values(kind, *pair, tolerance, floor, path)
    if kind in ("slices", "sparse", "ragged"):
        parts = [(f".{name}", part, got[kind][name]) for name, part in expected[kind].items()]
    elif kind == "dict":
        keys = [[pair[0] for pair in sorted(e["dict"], key=repr)] for e in (expected, got)]
        if keys[0] != keys[1]:
            return f"{path}: keys {keys[0]} expected, got {keys[1]}"
        found = {repr(key): item for key, item in got["dict"]}
        parts = [(f"[{key!r}]", item, found[repr(key)]) for key, item in expected["dict"]]
    elif kind in ("list", "tuple", "record"):
        if kind == "record" and expected["record"] != got["record"]:
            return f"{path}: {expected['record']} expected, got {got['record']}"
        where = {"list": None, "tuple": "tuple", "record": "items"}[kind]
        items, others = (e if where is None else e[where] for e in (expected, got))
        if len(items) != len(others):
            return f"{path}: {len(items)} items expected, got {len(others)}"
        parts = [(f"[{i}]", *pair) for i, pair in enumerate(zip(items, others, strict=True))]
    else:
        same = expected == got
        return None if same else f"{path}: {_short(expected)} expected, got {_short(got)}"
    for name, part, counterpart in parts:
        difference = mismatch(part, counterpart, tolerance, message, floor, path + name)
        if difference:
            return difference
    return None


def _mismatch_raised(expected: Any, got: Any, message: str | bool | None, path: str) -> str | None:
    if expected["raises"] not in (got["raises"], *got["bases"]):
        said = f"{got['raises']}: {got['message'][:200]}"
        return f"{path}: {expected['raises']} expected, got {said}"
    if message is True and expected["message"] != got["message"]:
        return f"{path}.message: {expected['message']!r} expected, got {got['message']!r}"
    if isinstance(message, str):
        for side, text in (("TensorFlow's", expected["message"]), ("the", got["message"])):
            if message not in text:
                return f"{path}.message: {message!r} is not in {side} message {text!r}"
    return None


def _mismatch_numbers(
    kind: str,
    expected: Any,
    got: Any,
    tolerance: float | None,
    floor: float | None,
    path: str,
) -> str | None:
    if expected[kind] != got[kind]:
        return f"{path}.dtype: {expected[kind]} expected, got {got[kind]}"
    if expected.get("shape") != got.get("shape"):
        return f"{path}.shape: {expected.get('shape')} expected, got {got.get('shape')}"
    values = expected["value"], got["value"]
    return _mismatch_values(expected[kind], *values, tolerance, floor, path)


def _mismatch_values(
    dtype: str,
    expected: Any,
    got: Any,
    tolerance: float | None,
    floor: float | None,
    path: str,
) -> str | None:
    if dtype not in TOLERANCE:
        return None if expected == got else f"{path}: {expected} expected, got {got}"
    wanted, found = (np.array(_floats(value), dtype=np.float64) for value in (expected, got))
    relative, usual = TOLERANCE[dtype]
    if tolerance is not None:
        usual, relative = usual * tolerance / relative, tolerance
    finite = np.abs(wanted[np.isfinite(wanted)])
    # Entries that cancel among larger ones carry the rounding of the larger ones.
    slack = (usual if floor is None else floor) + 0.1 * relative * (
        finite.max() if finite.size else 0.0
    )
    close = np.asarray(np.isclose(found, wanted, rtol=relative, atol=slack, equal_nan=True))
    if close.all():
        return None
    first = tuple(np.argwhere(~close)[0])
    place = "".join(f"[{i}]" for i in first)
    count = int((~close).sum())
    return f"{path}{place}: {wanted[first]} expected, got {found[first]} ({count} differ)"


def _floats(value: Any) -> Any:
    return [_floats(item) for item in value] if isinstance(value, list) else float(value)


def _kind(encoded: Any) -> str:
    if isinstance(encoded, dict):
        return next(iter(encoded))
    return type(encoded).__name__


def _short(encoded: Any) -> str:
    text = json.dumps(encoded)
    return text if len(text) <= 300 else text[:300] + " …"


# ------------------------------------------------------------------------------ registration


def _register(
    call: Callable[..., Any],
    params: dict[str, Any],
    label: str,
    asked: dict[str, Any],
) -> Callable[..., Any]:
    module = call.__module__.rpartition(".")[2]
    family = call.__globals__.get("__family__", module)
    id = f"{module}::{call.__name__}{label}"
    if id in REGISTRY:
        raise ValueError(f"two cases are called {id}")
    REGISTRY[id] = Case(id, family, call, params, **asked)
    return call


def _labelled(given: Any) -> list[tuple[str, Any]]:
    if isinstance(given, Mapping):
        return [(str(label), value) for label, value in given.items()]
    return [(_label(value), value) for value in given]


def _label(value: Any) -> str:
    if callable(value) and hasattr(value, "__name__"):
        return value.__name__
    return str(value).replace(" ", "")
