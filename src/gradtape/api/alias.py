"""Lets ``import tensorflow`` mean gradtape, and words the answer when a name is not here.

The module object for ``tensorflow`` *is* gradtape and the one for ``tensorflow.math`` *is*
``gradtape.math``: nothing is copied, so the two names can never disagree.
"""

from __future__ import annotations

import importlib
import importlib.abc
import sys
from collections.abc import Iterable, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

ALIAS = "tensorflow"
ENGINE = "gradtape"
SPAWN = "multiprocessing.spawn"


def install() -> bool:
    """Make ``tensorflow`` and its submodules resolve to gradtape, before any other finder; False
    if they do already."""
    if any(isinstance(finder, Finder) for finder in sys.meta_path):
        return False
    sys.meta_path.insert(0, Finder())
    if SPAWN in sys.modules:
        _follow(sys.modules[SPAWN])
    return True


def installed() -> bool:
    """Is the real TensorFlow installed?"""
    return PathFinder.find_spec(ALIAS) is not None


def loaded() -> bool:
    """Has the real TensorFlow been imported?"""
    module = sys.modules.get(ALIAS)
    return module is not None and module.__name__ == ALIAS


class Finder:
    """Finds ``tensorflow`` and ``tensorflow.*`` among gradtape's own modules."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname == SPAWN:
            return _following_spec(path)
        root, _, inner = fullname.partition(".")
        if root == ENGINE and _is_absent(inner, path):
            # `from tensorflow import keras`: of its own accord Python would not give the reason.
            raise ImportError(missing_module(inner), name=inner)
        if root != ALIAS:
            return None
        module = _engine_module(inner)
        if module is None:
            # Any other finder would search gradtape's directory and load its files a second time.
            raise ModuleNotFoundError(missing_module(inner), name=fullname)
        # Always a package: `tensorflow.experimental.numpy` may be an attribute of a plain module.
        return ModuleSpec(fullname, Loader(module), is_package=True)


class Loader(importlib.abc.Loader):
    """Hands out a module that is loaded already, and leaves it as it was."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module
        self.spec = module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self.module

    def exec_module(self, module: ModuleType) -> None:
        # The import system has just put the alias's spec in place of the module's own.
        alias = module.__spec__
        assert alias is not None
        if self.spec is None:  # a module of the table of private ones
            return
        module.__spec__ = self.spec
        sys.modules.setdefault(ENGINE + alias.name.removeprefix(ALIAS), module)


def _is_absent(inner: str, path: Sequence[str] | None) -> bool:
    """Is it a module of TensorFlow's that gradtape has a reason not to have?"""
    if "." in inner or PathFinder.find_spec(f"{ENGINE}.{inner}", path) is not None:
        return False
    from .absent import reason

    return reason(inner) is not None


def _engine_module(inner: str) -> ModuleType | None:
    """Return gradtape's module of that dotted name of TensorFlow's, or None if it has none."""
    from .private import module

    private = module(inner)
    if private is not None:
        return private
    found: Any = importlib.import_module(ENGINE)
    for name in inner.split(".") if inner else ():
        if name not in _offered(found):  # what only makes up gradtape is not TensorFlow's
            return None
        found = getattr(found, name)
    return found if isinstance(found, ModuleType) else None


# --- into processes that multiprocessing starts afresh --------------------------------------------


def _following_spec(path: Sequence[str] | None) -> ModuleSpec | None:
    """Return multiprocessing's own spec, changed to call `_follow` once the module is there."""
    spec = PathFinder.find_spec(SPAWN, path)
    if spec is None or spec.loader is None:
        return None
    execute = spec.loader.exec_module

    def execute_and_follow(module: ModuleType) -> None:
        execute(module)
        _follow(module)

    spec.loader.exec_module = execute_and_follow  # type: ignore[method-assign]
    return spec


def _follow(spawn: Any) -> None:
    """Have the children of this process install the alias before they load the main program."""
    prepare = spawn.get_preparation_data

    def prepare_with_alias(name: str) -> dict[str, Any]:
        data: dict[str, Any] = prepare(name)
        if name == "ignore":
            # For the fork server, which would load the main program before it knows the alias.
            data.pop("init_main_from_path", None)
        return {**data, ENGINE: _Installed()}

    spawn.get_preparation_data = prepare_with_alias


class _Installed:
    """Installs the alias in the process that unpickles it."""

    def __reduce__(self) -> tuple[Any, ...]:
        return install, ()


# --- what to say ----------------------------------------------------------------------------------


def missing(module_name: str, name: str, names: Iterable[str] | None = None) -> str:
    """Return the message for ``module_name.name``, a name that gradtape does not have.

    ``names`` are the public names that may be proposed instead, dotted and without ``tf.``; by
    default all of gradtape's. Give the exception ``name=name``: with a name of its own, Python
    adds no second proposal.

    >>> missing("gradtape", "log", ["exp", "math.log"])
    "module 'gradtape' has no attribute 'log'; did you mean tf.math.log?"
    >>> missing("gradtape", "to_float", [])
    "module 'gradtape' has no attribute 'to_float'; use tf.cast(x, tf.float32)"
    """
    from .absent import ABSENT

    message = f"module {module_name!r} has no attribute {name!r}"
    if name.startswith("_"):  # Python asks for many of these itself
        return f"{message}; {ABSENT[name]}" if name in ABSENT else message
    inner = f"{module_name.partition('.')[2]}.{name}".removeprefix(".")
    return message + _counsel(inner, public_names() if names is None else names, "tf.")


def missing_module(inner: str) -> str:
    """Return the message for ``import tensorflow.<inner>`` when gradtape has no such module."""
    message = f"No module named {ALIAS + '.' + inner!r}: gradtape does not have it"
    modules = [name for name in public_names() if _engine_module(name) is not None]
    return message + _counsel(inner, modules, ALIAS + ".")


def public_names() -> list[str]:
    """Return the names that gradtape offers, dotted, those of its modules included."""
    engine = importlib.import_module(ENGINE)
    found = []
    for name in _offered(engine):
        found.append(name)
        if name in _NOT_PROPOSED:
            continue
        value = getattr(engine, name)  # some are imported only now, to propose what is in them
        if isinstance(value, ModuleType) and value.__name__.startswith(ENGINE):
            inner = (
                one for one in _offered(value) if not isinstance(getattr(value, one), ModuleType)
            )
            found += [f"{name}.{one}" for one in inner]
    return found


# The same things again, under names that nobody looks for; and Keras, which takes long to import.
_NOT_PROPOSED = ("raw_ops", "keras", "initializers", "losses", "metrics", "optimizers")


def _offered(module: ModuleType) -> list[str]:
    held = [name for name in vars(module) if not name.startswith("_")]
    return list(vars(module).get("__all__", held))


def _counsel(inner: str, names: Iterable[str], prefix: str) -> str:
    from .absent import ELSEWHERE, reason

    first, last = inner.partition(".")[0], inner.rpartition(".")[2]
    advice = reason(inner) or ELSEWHERE.get(first) or ELSEWHERE.get(last)
    if advice:
        return f"; {advice}"
    near = [prefix + name for name in _near(inner, names)]
    return f"; did you mean {' or '.join(near)}?" if near else ""


def _near(inner: str, names: Iterable[str]) -> list[str]:
    """Return the same name if it lives in another module, otherwise up to three that look alike."""
    import difflib

    last = inner.rpartition(".")[2].lower()
    # Of the names of one thing the shortest is the one to use: tf.exp rather than tf.math.exp.
    homes: dict[str, str] = {}
    for name in sorted(names, key=lambda name: name.count(".")):
        homes.setdefault(name.rpartition(".")[2].lower(), name)
    alike = [last] if last in homes else difflib.get_close_matches(last, homes, cutoff=0.75)
    return [homes[one] for one in alike]
