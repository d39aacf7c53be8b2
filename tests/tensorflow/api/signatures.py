"""Signatures as text, written alike for TensorFlow's functions and for gradtape's."""

from __future__ import annotations

import enum
import inspect
from typing import Any

EMPTY = inspect.Parameter.empty
POSITIONAL_ONLY = inspect.Parameter.POSITIONAL_ONLY
POSITIONAL = inspect.Parameter.POSITIONAL_OR_KEYWORD
REST = inspect.Parameter.VAR_POSITIONAL
KEYWORD = inspect.Parameter.KEYWORD_ONLY
KEYWORDS = inspect.Parameter.VAR_KEYWORD

PYTHON = ("abc", "absl", "builtins", "collections", "enum", "typing", "unittest")
# The operators and protocols that a class may have; others of that form are Python's own affair.
_PROTOCOLS = """
abs add and array bool call complex contains delitem divmod dlpack dlpack_device enter eq exit
float floordiv ge getitem gt index int invert iter le len lt matmul mod mul neg or pos pow radd
rand reversed rfloordiv rmatmul rmod rmul ror round rpow rsub rtruediv rxor setitem sub truediv
xor
"""
PROTOCOLS = {f"__{name}__" for name in _PROTOCOLS.split()}


def kind(thing: Any) -> str:
    """Whether a thing is a module, a class, a function or a constant."""
    if inspect.ismodule(thing):
        return "module"
    if inspect.isclass(thing):
        return "class"
    return "function" if callable(thing) and not hasattr(thing, "as_datatype_enum") else "constant"


def signature(thing: Any) -> str:
    """The parameters of a function, or of what makes a class's objects, as `(x, name=None)`.

    Empty for what is not called, and where Python cannot tell.
    """
    if inspect.isclass(thing):
        return "" if issubclass(thing, enum.Enum) else _of_class(thing)
    return _written(thing, drop=0) if kind(thing) == "function" else ""


def members(cls: type) -> dict[str, str]:
    """The public attributes of a class: methods with their signature, others with nothing."""
    if issubclass(cls, enum.Enum):
        return dict.fromkeys(cls.__members__, "")
    found = {}
    for name in dir(cls):
        if _inherited(cls, name) or (name.startswith("_") and name not in PROTOCOLS):
            continue
        static = inspect.getattr_static(cls, name)
        if isinstance(static, staticmethod):
            found[name] = _written(static.__func__, drop=0)
        elif isinstance(static, classmethod):
            found[name] = _written(static.__func__, drop=1)
        elif callable(static) and not inspect.isclass(static) and not isinstance(static, cls):
            found[name] = "" if name.startswith("_") else _written(static, drop=1)
        else:
            found[name] = ""
    return found


def parameters(text: str) -> list[str]:
    """The parameters of a written signature, one string each."""
    parts, depth, quoted = [""], 0, False
    for letter in text[1:-1]:
        quoted ^= letter == "'"
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and not depth and not quoted:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def _inherited(cls: type, name: str) -> bool:
    """Whether Python gave it, as it gives `index` to every tuple, or took it away."""
    home = next((base for base in cls.__mro__ if name in vars(base)), object)
    return home.__module__.partition(".")[0] in PYTHON or inspect.getattr_static(cls, name) is None


def _of_class(cls: type) -> str:
    for name in ("__init__", "__new__"):
        maker = getattr(cls, name)
        if maker is not getattr(object, name) and (text := _written(maker, drop=1)):
            return text
    return ""


def _written(function: Any, drop: int) -> str:
    try:
        found = list(inspect.signature(function).parameters.values())[drop:]
    except (TypeError, ValueError):
        return ""
    parts: list[str] = []
    for index, one in enumerate(found):
        if one.kind is KEYWORD and not any(p.kind is REST for p in found) and "*" not in parts:
            parts.append("*")
        if index and found[index - 1].kind is POSITIONAL_ONLY is not one.kind:
            parts.append("/")
        stars = {REST: "*", KEYWORDS: "**"}.get(one.kind, "")
        default = "" if one.default is EMPTY else f"={_default(one.default)}"
        parts.append(stars + one.name + default)
    if found and found[-1].kind is POSITIONAL_ONLY:
        parts.append("/")
    return f"({', '.join(parts)})"


def _default(value: Any) -> str:
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    if hasattr(value, "as_datatype_enum"):
        return f"tf.{value.name}"
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_default, value))}]"
    if value is None or isinstance(value, bool | int | float | str | bytes):
        return repr(value)
    return getattr(value, "__name__", "...")
