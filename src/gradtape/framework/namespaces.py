"""Namespaces: names found when they are first asked for, and answers for those not here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from sys import modules
from typing import Any


class Missing(AttributeError):
    """An AttributeError that looks for its words only if somebody reads them.

    Python and libraries ask for names that are not there all the time (`from . import module` is
    one way), and what there is to propose is known only once everything is imported.
    """

    def __init__(self, module: str, name: str) -> None:
        super().__init__(module.replace("gradtape.internal", "gradtape.__internal__"), name)
        self.name = name  # with a name of its own, Python adds no second proposal

    def __str__(self) -> str:
        return explain_missing(*self.args)


def _plain_words(module: str, name: str) -> str:
    return f"module '{module}' has no attribute '{name}'"


# What to say of a name that a module does not have: the whole package knows, which sets this.
explain_missing: Callable[[str, str], str] = _plain_words
Missing.__module__, Missing.__name__, Missing.__qualname__ = "builtins", *["AttributeError"] * 2


def lookup(module: str, homes: Mapping[str, str] | None = None) -> Callable[[str], Any]:
    """`__getattr__` of a public module: names by the module they live in, or why one is not there.

    Names under "" are modules of the package itself.
    """
    home = {name: place for place, names in (homes or {}).items() for name in names.split()}

    def __getattr__(name: str) -> Any:
        if name not in home:
            raise Missing(module, name)
        this, place = modules[module], home[name]
        if not place:
            found: Any = import_module(f"{module}.{name}")
        else:
            relative = place if place[0] == "." else f".{place}"
            found = getattr(import_module(relative, this.__package__), name)
        setattr(this, name, found)
        return found

    return __getattr__


def namespace(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a package that holds nothing itself.

    Modules of one room need some of another, which need a third of the first. A room is never
    imported as a whole, so none of this goes in circles, and what nobody asks for costs nothing.
    """
    names = sorted(name for names in homes.values() for name in names.split())

    def __dir__() -> list[str]:
        return sorted({*names, *(name for name in vars(modules[package]) if name[:2] == "__")})

    return lookup(package, homes), __dir__, names
