"""`tf.autograph.experimental`: what speaks to a converter of Python code; none is needed here."""

from __future__ import annotations

import enum
from typing import Any

from ..framework.namespaces import lookup

__getattr__ = lookup(__name__)

__all__ = ["Feature", "do_not_convert", "set_loop_options"]


class Feature(enum.Enum):
    """Parts of TensorFlow's conversion of Python code; gradtape runs it as it stands."""

    ALL = "ALL"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"

    @classmethod
    def all(cls) -> tuple[Feature, ...]:
        """All of them."""
        return tuple(cls.__members__.values())

    @classmethod
    def all_but(cls, exclude: Any) -> tuple[Feature, ...]:
        """All but some."""
        without = exclude if isinstance(exclude, (list, tuple, set)) else (exclude,)
        return tuple(set(cls.all()) - set(without) - {cls.ALL})


def do_not_convert(func: Any = None) -> Any:
    """The function itself, which is never converted."""
    return do_not_convert if func is None else func


def set_loop_options(
    parallel_iterations: Any = None,
    swap_memory: Any = None,
    maximum_iterations: Any = None,
    shape_invariants: Any = None,
) -> None:
    """Nothing: a loop of Python runs as it stands, as it does in TensorFlow outside functions."""
