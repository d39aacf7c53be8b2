"""What the cases ask of each public function: python -m tests.tensorflow.measure.

The cases run on a proxy of gradtape that notes, call by call, the function and what its parameters
were bound to. Aliases (`tf.add`, `tf.math.add`) are one function.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

from tests.tensorflow import functions, harness

DTYPES = [
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "bool",
    "string",
]
_PYTHON = {bool: "bool", int: "int32", float: "float32", complex: "complex128", str: "string"}


@dataclass
class Met:
    """What one function met, over all cases."""

    names: list[str]
    parameters: list[str]
    exercised: set[str] = field(default_factory=set)
    dtypes: set[str] = field(default_factory=set)
    raised: set[str] = field(default_factory=set)
    calls: int = 0
    depth: int = 0  # of the tapes that followed a result: 2 is second order
    empty: bool = False
    scalar: bool = False

    @property
    def missing(self) -> list[str]:
        return [name for name in self.parameters if name not in self.exercised]


def public(tf: Any) -> dict[int, tuple[Callable[..., Any], list[str]]]:
    """The public functions that TensorFlow has too, by identity, with all their names."""
    found: dict[int, tuple[Callable[..., Any], list[str]]] = {}
    for name in functions.read():
        value = functions.named(tf, name)
        if callable(value) and not isinstance(value, type):
            found.setdefault(id(value), (value, []))[1].append(name)
    return found


def measure(
    tf: Any,
    cases: Iterable[harness.Case],
    enough: Callable[[dict[str, Met]], bool] = lambda met: False,
) -> dict[str, Met]:
    """Run the cases and say what each public function met, by its first name.

    It ends with the cases, or when it is `enough`, which is asked after every hundred of them and
    at the end.
    """
    functions = public(tf)
    met = {
        key: Met(names, [p for p in inspect.signature(call).parameters if p != "name"])
        for key, (call, names) in functions.items()
    }
    named = {one.names[0]: one for one in met.values()}
    spy = _Spy(tf, met, {})
    for at, case in enumerate(cases):
        if at % 100 == 0 and enough(named):
            break
        harness.run(case, spy)
    else:
        enough(named)
    return named


class _Spy:
    """A module that hands out its functions with an ear on each call."""

    def __init__(self, module: Any, met: dict[int, Met], made: dict[int, Any]) -> None:
        self.__dict__.update(_module=module, _met=met, _made=made)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._module, name)
        if id(value) not in self._made:
            self._made[id(value)] = self._wrapped(value)
        return self._made[id(value)]

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._module, name, value)

    def _wrapped(self, value: Any) -> Any:
        if isinstance(value, ModuleType):
            return _Spy(value, self._met, self._made)
        if id(value) in self._met:
            return _listening(value, self._met[id(value)])
        return value


def _listening(call: Callable[..., Any], met: Met) -> Callable[..., Any]:
    signature = inspect.signature(call)

    def listening(*args: Any, **kwargs: Any) -> Any:
        _note(met, signature, args, kwargs)
        try:
            result = call(*args, **kwargs)
        except Exception as error:
            met.raised.add(type(error).__name__)
            raise
        met.depth = max(met.depth, *(_depth(leaf) for leaf in _leaves([result, None])))
        return result

    listening.__name__ = getattr(call, "__name__", "function")
    listening.__doc__ = call.__doc__
    listening.__signature__ = signature  # type: ignore[attr-defined]
    return listening


def _note(met: Met, signature: inspect.Signature, args: Any, kwargs: Any) -> None:
    met.calls += 1
    try:
        bound = signature.bind(*args, **kwargs).arguments
    except TypeError:
        return
    for name, value in bound.items():
        if not _same(value, signature.parameters[name].default):
            met.exercised.add(name)
        for leaf in _leaves(value):
            dtype, shape = _seen(leaf)
            if dtype is not None:
                met.dtypes.add(dtype)
            if shape is not None:
                met.empty |= 0 in shape
                met.scalar |= shape == ()


def _same(value: Any, default: Any) -> bool:
    if value is default:
        return True
    plain = (bool, int, float, str, tuple, list)
    return type(value) is type(default) and isinstance(value, plain) and value == default


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _leaves(item)
    else:
        yield value


def _seen(leaf: Any) -> tuple[str | None, Any]:
    """The dtype and the shape of what may be an operand or a dtype itself."""
    if type(leaf) in _PYTHON:
        # A word is more often an option than a tensor of strings.
        return (leaf if leaf in DTYPES else None) if type(leaf) is str else _PYTHON[type(leaf)], ()
    if isinstance(leaf, (np.ndarray, np.generic)):
        kind = leaf.dtype.kind
        return ("string" if kind in "OUS" else leaf.dtype.name), leaf.shape
    dtype = getattr(leaf, "dtype", leaf)
    name = getattr(dtype, "name", None)
    if name not in DTYPES:
        return None, None
    shape = getattr(leaf, "shape", None)
    return name, None if shape is None or shape is NotImplemented else tuple(shape)


def _depth(leaf: Any) -> int:
    mark = getattr(leaf, "_mark", None)
    live = mark if mark is None else mark.live
    return 0 if live is None else len(live.recorders)


def main() -> int:
    """Print one line for each function, then the totals."""
    import gradtape

    found = measure(gradtape, harness.load())
    for name, met in sorted(found.items()):
        flags = [
            "-g2"[met.depth and min(met.depth, 2)],
            "e" if met.empty else "-",
            "0" if met.scalar else "-",
            "!" if met.raised else "-",
        ]
        kinds = " ".join(dtype for dtype in DTYPES if dtype in met.dtypes)
        print(f"{name:40}{met.calls:6} {''.join(flags)} missing: {met.missing} [{kinds}]")
    every = list(found.values())
    parameters = sum(len(met.parameters) for met in every)
    lacking = sum(len(met.missing) for met in every)
    print(f"functions {len(every)}, called {sum(met.calls > 0 for met in every)}")
    print(f"parameters {parameters}, exercised {parameters - lacking}")
    print(f"dtype cells {sum(len(met.dtypes) for met in every)}")
    for what in ("empty", "scalar", "raised"):
        print(f"{what}: {sum(bool(getattr(met, what)) for met in every)}")
    print(f"gradient: {sum(met.depth > 0 for met in every)}")
    print(f"second order: {sum(met.depth > 1 for met in every)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
