"""TensorFlow's public functions and the names of their parameters, as `api` holds them."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

from tests.tensorflow.api.signatures import parameters

STORED = Path(__file__).parent / "api" / "names.json"
NAMESPACES = {
    "", "autodiff", "bitwise", "config", "debugging", "dtypes", "experimental", "image", "linalg",
    "math", "nest", "nn", "ragged", "random", "sets", "signal", "sparse", "strings", "io",
}  # fmt: skip


def read() -> dict[str, list[str]]:
    """By dotted name (aliases too) the parameters, those that take the rest with their stars."""
    found = {}
    for name, one in json.loads(STORED.read_text())["names"].items():
        if one["kind"] != "function":
            continue
        given = [part.partition("=")[0] for part in parameters(one["signature"])]
        for path in (name, *one.get("aliases", ())):
            if path.rpartition(".")[0] in NAMESPACES:
                found[path] = [part for part in given if part not in ("*", "/")]
    return dict(sorted(found.items(), key=lambda one: ("." in one[0], one[0])))


def named(tf: Any, path: str) -> Any:
    """What stands at a dotted path, or None."""
    return functools.reduce(lambda home, name: getattr(home, name, None), path.split("."), tf)
