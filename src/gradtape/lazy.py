"""Lets a namespace answer for names that it does not have, in words found when they are read."""

from __future__ import annotations

from types import ModuleType
from typing import Any


class Missing(AttributeError):
    """An AttributeError that looks for its words only if somebody reads them.

    Python and libraries ask for names that are not there all the time (`from . import module` is
    one way), and what there is to propose is known only once everything is imported.
    """

    def __init__(self, module: str, name: str) -> None:
        super().__init__(module, name)
        self.name = name  # with a name of its own, Python adds no second proposal

    def __str__(self) -> str:
        from .alias import missing

        return missing(*self.args)


Missing.__module__, Missing.__name__, Missing.__qualname__ = "builtins", *["AttributeError"] * 2


def teach(module: Any, public: str) -> None:
    """Let a namespace, and those in it, say why a name is not there and what to use instead."""
    own = vars(module).get("__getattr__")
    if own is not None and own.__module__ == __name__:
        return

    def __getattr__(name: str) -> Any:
        if own is not None:
            try:
                return own(name)
            except AttributeError:
                pass
        raise Missing(f"gradtape.{public}", name)

    module.__getattr__ = __getattr__
    for name, value in list(vars(module).items()):
        if isinstance(value, ModuleType) and value.__name__ == f"{module.__name__}.{name}":
            teach(value, f"{public}.{name}")
