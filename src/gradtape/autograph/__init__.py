"""`tf.autograph`: the converter of Python code, of which none is needed: code runs as it stands."""

from __future__ import annotations

from typing import Any

from ..framework.namespaces import lookup
from . import experimental as experimental

__getattr__ = lookup(__name__)

__all__ = ["experimental", "set_verbosity", "to_code", "to_graph", "trace"]


def to_graph(
    entity: Any, recursive: bool = True, experimental_optional_features: Any = None
) -> Any:
    """The function itself, which works on tensors as it stands."""
    return entity


def to_code(
    entity: Any,
    recursive: bool = True,
    experimental_optional_features: experimental.Feature | None = None,
) -> str:
    """The source of a function, which is what runs."""
    import inspect
    import textwrap

    return textwrap.dedent(inspect.getsource(entity))


def trace(*args: Any) -> None:
    """Print the arguments."""
    print(*args)


def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """Nothing: there is no conversion to tell of."""
