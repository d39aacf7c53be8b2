"""TensorFlow's public functions and their parameters: python -m tests.tensorflow.signatures.

Run with TensorFlow it stores them beside the answers; without it they are read from there.
"""

from __future__ import annotations

import functools
import inspect
import json
import os
import sys
from pathlib import Path
from typing import Any

STORED = Path(__file__).parent / "signatures.json"
NAMESPACES = [
    "autodiff",
    "bitwise",
    "config",
    "debugging",
    "dtypes",
    "experimental",
    "image",
    "linalg",
    "math",
    "nest",
    "nn",
    "ragged",
    "random",
    "sets",
    "signal",
    "sparse",
    "strings",
    "io",
]
Signature = list[list[str]]


def read() -> dict[str, Signature]:
    """By dotted name, a list of [parameter, its default as text] ('' for one without)."""
    return json.loads(STORED.read_text())["signatures"]


def describe(call: Any) -> Signature:
    """The parameters of a function in the form that is stored."""
    found = []
    for parameter in inspect.signature(call).parameters.values():
        star = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        bare = parameter.default is parameter.empty
        found.append([star + parameter.name, "" if bare else _text(parameter.default)])
    return found


def _text(default: Any) -> str:
    name = getattr(default, "__name__", None)
    return name if name is not None else str(getattr(default, "value", default))


def named(tf: Any, path: str) -> Any:
    """What stands at a dotted path, or None."""
    return functools.reduce(lambda home, name: getattr(home, name, None), path.split("."), tf)


def main() -> int:
    """Store the signatures of the TensorFlow that is installed."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow as tf

    found = {}
    for space in ["", *NAMESPACES]:
        home = named(tf, space) if space else tf
        for last in sorted(name for name in dir(home) if not name.startswith("_")):
            call = getattr(home, last)
            if callable(call) and not isinstance(call, type) and inspect.isroutine(call):
                found[f"{space}.{last}".removeprefix(".")] = describe(call)
    body = ",\n".join(f"{json.dumps(name)}: {json.dumps(one)}" for name, one in found.items())
    head = f'{{"tensorflow": {json.dumps(tf.__version__)}, "signatures": {{\n'
    STORED.write_text(f"{head}{body}\n}}}}\n")
    print(f"{len(found)} signatures")
    return 0


if __name__ == "__main__":
    sys.exit(main())
