"""Writes TensorFlow's public names, with signatures and the members of classes, to `names.json`,
and the names of its ops, which errors tell as `[Op:MatMul]`, to `ops.txt`."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

from tests.tensorflow.api.signatures import kind, members, signature

STORED = Path(__file__).with_name("names.json")
OPS = Path(__file__).with_name("ops.txt")
API = "_api"  # the directory of the files that TensorFlow generates for its users
# Packages of their own and other editions of the API: one name each, whatever is in them.
WHOLE = ("compat.v1", "compat.v2", "keras", "raw_ops")
# Parts of Keras under a second name.
KERAS = ("initializers", "losses", "metrics", "optimizers")


def record(tf: Any) -> dict[str, Any]:
    """Return what `names.json` holds."""
    found = dict(sorted(_walk(tf, "")))
    homes: dict[int, list[str]] = {}
    for name, value in found.items():
        # One small number or string may stand for several things.
        if kind(value) != "constant" or hasattr(value, "as_datatype_enum"):
            homes.setdefault(id(value), []).append(name)
    aliases = {main: rest for main, *rest in (_main_first(h, found) for h in homes.values())}
    others = {name for rest in aliases.values() for name in rest}
    names = {}
    for name, value in found.items():
        if name not in others:
            entry: dict[str, Any] = {"kind": kind(value), "signature": signature(value)}
            if aliases.get(name):
                entry["aliases"] = aliases[name]
            names[name] = entry
    for name in (*WHOLE, *KERAS):
        names[name] = {"kind": "module", "signature": ""}
    return {
        "tensorflow": tf.__version__,
        "names": dict(sorted(names.items())),
        "members": {name: members(cls) for name, cls in _classes(tf, names, found).items()},
    }


def write(stored: dict[str, Any]) -> None:
    """Write one name to a line, so that a difference can be read."""
    text = f'{{\n"tensorflow": {json.dumps(stored["tensorflow"])},\n'
    for section in ("names", "members"):
        lines = [f"{json.dumps(n)}: {json.dumps(e)}" for n, e in stored[section].items()]
        text += f'"{section}": {{\n' + ",\n".join(lines) + "\n}" + ",\n" * (section == "names")
    STORED.write_text(text + "\n}\n")


def write_ops(tf: Any) -> None:
    """Write the names of all ops, one to a line."""
    OPS.write_text("".join(f"{name}\n" for name in dir(tf.raw_ops) if name[0] != "_"))


def _walk(package: Any, prefix: str) -> Any:
    """The names that the generated files of a package import, which are all that is public."""
    tree = ast.parse(Path(package.__file__).read_text())
    imported = [
        alias
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("tensorflow.")
        for alias in node.names
    ]
    for alias in imported:
        name = alias.asname or alias.name
        full = prefix + name
        if (name.startswith("_") and not name.endswith("__")) or full in WHOLE:
            continue
        value = getattr(package, name)
        yield full, value
        if kind(value) == "module" and API in Path(value.__file__).parts:
            yield from _walk(value, full + ".")


def _main_first(names: list[str], found: dict[str, Any]) -> list[str]:
    """The main name of several is the shortest way to it, and not an internal one."""
    own = getattr(found[names[0]], "name", None)  # tf.float64 is also tf.double
    return sorted(names, key=lambda name: ("__" in name, name.count("."), name != own, name))


def _classes(tf: Any, names: dict[str, Any], found: dict[str, Any]) -> dict[str, type]:
    """The classes, where needed in the form that eager code meets."""
    classes = {n: found[n] for n in names if n in found and kind(found[n]) == "class"}
    made = {"Tensor": type(tf.constant(0)), "Variable": type(tf.Variable(0))}
    chosen = {**classes, **made}
    return {
        name: cls
        for name, cls in sorted(chosen.items())
        if not hasattr(cls, "DESCRIPTOR") and not issubclass(cls, BaseException)
    }
