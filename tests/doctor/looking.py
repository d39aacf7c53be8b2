"""All that one can see of a function without calling it, to compare before, during and after."""

from __future__ import annotations

import inspect
from typing import Any

from gradtape.doctor.engines import ears

CODE = (
    "co_name", "co_qualname", "co_filename", "co_firstlineno", "co_argcount", "co_posonlyargcount",
    "co_kwonlyargcount", "co_flags", "co_freevars", "co_cellvars",
)  # fmt: skip
FUNCTION = (
    "__name__", "__qualname__", "__module__", "__doc__", "__defaults__", "__kwdefaults__",
    "__annotations__", "__closure__", "__globals__", "__dict__",
)  # fmt: skip


def seen(function: Any) -> dict[str, Any]:
    """What `inspect`, `repr` and the function itself tell."""
    inner = ears.innermost(function)
    code = inner.__code__
    facts: dict[str, Any] = {name: getattr(code, name) for name in CODE}
    facts |= {name: getattr(inner, name) for name in FUNCTION}
    facts["__globals__"] = id(facts["__globals__"])
    if callable(function):
        facts |= {"signature": inspect.signature(function), "spec": inspect.getfullargspec(inner)}
    return facts | {
        "identity": (id(function), id(inner)), "repr": repr(function),
        "wrapped": hasattr(inner, "__wrapped__"), "source": inspect.getsource(inner),
        "lines": {line for *_, line in code.co_lines()}, "parameters": ears.parameters(inner),
    }  # fmt: skip
