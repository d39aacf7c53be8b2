"""Namespaces: names found when they are first asked for, and answers for those not here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from sys import modules
from types import ModuleType
from typing import Any

# What gradtape is called by its users, where a module has another name: `tf.__internal__`.
_CALLED = {"gradtape.internal": "gradtape.__internal__"}


class Missing(AttributeError):
    """An AttributeError that looks for its words only if somebody reads them.

    Python and libraries ask for names that are not there all the time (`from . import module` is
    one way), and what there is to propose is known only once everything is imported.
    """

    def __init__(self, module: str, name: str) -> None:
        super().__init__(_CALLED.get(module, module), name)
        self.name = name  # with a name of its own, Python adds no second proposal

    def __str__(self) -> str:
        from ..api.alias import missing

        return missing(*self.args)


Missing.__module__, Missing.__name__, Missing.__qualname__ = "builtins", *["AttributeError"] * 2


def namespace(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a package: its names by the module they live in.

    Modules of one room need some of another, which need a third of the first. A room as a whole is
    imported only name by name, so none of this goes in circles, and what nobody asks for costs
    nothing. Names under "" are modules of the package itself.
    """
    home = {name: module for module, names in homes.items() for name in names.split()}

    def __getattr__(name: str) -> Any:
        if name not in home:
            raise Missing(package, name)
        module = home[name]
        if not module:
            found = import_module(f"{package}.{name}")
            teach(found)
        else:
            relative = module if module[0] == "." else f".{module}"
            found = getattr(import_module(relative, package), name)
        setattr(modules[package], name, found)
        return found

    def __dir__() -> list[str]:
        return sorted({*home, *(name for name in vars(modules[package]) if name[:2] == "__")})

    return __getattr__, __dir__, sorted(home)


def teach(module: Any) -> None:
    """Let a module, and those in it, say why a name is not there and what to use instead."""
    own = vars(module).get("__getattr__")
    if own is not None and own.__module__ == __name__:
        return

    def __getattr__(name: str) -> Any:
        if own is not None:
            try:
                return own(name)
            except AttributeError:
                pass
        raise Missing(module.__name__, name)

    module.__getattr__ = __getattr__
    for name, value in list(vars(module).items()):
        if isinstance(value, ModuleType) and value.__name__ == f"{module.__name__}.{name}":
            teach(value)
