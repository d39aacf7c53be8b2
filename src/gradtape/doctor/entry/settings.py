"""`[tool.gradtape]` in pyproject.toml: what a project wants of the doctor, unless a command says
otherwise.

The file is the nearest one upward from the folder of the script (of a module or a piece of code,
from the current directory) that has this table. Paths in it are from its own folder.
"""

from __future__ import annotations

import argparse
import difflib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from ..report import ignoring
from ..source import sources
from ..trace.states import WORST

FILE, TABLE = "pyproject.toml", "[tool.gradtape]"
STATES = tuple(state for state in WORST if state != "error")  # an error stops a program itself


class WrongSetting(ValueError):
    """A setting that cannot be meant, and what would be one."""


class Setting(NamedTuple):
    """What a setting takes, in words, and how its value is that of an option."""

    takes: str
    fits: Callable[[Any], bool]
    value: Callable[[Any, Path], Any] = lambda given, folder: given


def _flag(given: Any) -> bool:
    return isinstance(given, bool)


def _text(given: Any) -> bool:
    return isinstance(given, str)


def _texts(given: Any) -> bool:
    return isinstance(given, list) and all(map(_text, given))


def _path(given: str, folder: Path) -> str:
    return given if given == "-" else str(folder / given)


def _some_states(given: Any) -> bool:
    return _flag(given) or (_texts(given) and set(given) <= set(STATES))


def _states(given: bool | list[str], folder: Path) -> tuple[str, ...]:
    return (STATES if given else ()) if isinstance(given, bool) else tuple(given)


SETTINGS = {
    "ignore": Setting('a list of codes or names of rules, as ["GT120"]', _texts),
    "strict": Setting("true or false", _flag),
    "output": Setting("the name of a file", _text, _path),
    "baseline": Setting("the name of a file", _text, _path),
    "fail-fast": Setting(
        f"true, false or a list of some of {', '.join(STATES)}", _some_states, _states
    ),
    "quiet": Setting("true or false", _flag),
}


def fill(options: argparse.Namespace) -> None:
    """Give the options that the command line left open the values of the project's settings."""
    script = options.kind == "script" and options.target != "-"
    target = os.path.abspath(options.target) if script else os.getcwd()
    folder = Path(target if os.path.isdir(target) else os.path.dirname(target))
    for name, value in read(folder).items():
        key = name.replace("-", "_")
        if getattr(options, key, None) == options.parser.get_default(key):
            setattr(options, key, value)


def read(folder: Path) -> dict[str, Any]:
    """The settings that hold in a folder."""
    for above in (folder, *folder.parents):
        file = above / FILE
        if file.is_file():
            found = _table(file)
            if found is not None:
                return {name: _value(file, name, given) for name, given in found.items()}
    return {}


def codes(words: list[str]) -> frozenset[str]:
    """The codes of rules, by their codes or names."""
    for word in words:
        if ignoring.code_of(word) is None:
            raise WrongSetting(ignoring.unknown(word))
    return frozenset(filter(None, map(ignoring.code_of, words)))


def _table(file: Path) -> dict[str, Any] | None:
    import tomllib

    try:
        found = tomllib.loads(file.read_text(encoding="utf-8")).get("tool", {}).get("gradtape")
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise WrongSetting(f"{sources.shown(str(file))} is no TOML: {error}") from None
    except OSError:
        return None
    if found is not None and not isinstance(found, dict):
        raise WrongSetting(
            f"{sources.shown(str(file))}: {TABLE} is a table, and here it is {found!r}"
        )
    return found


def _value(file: Path, name: str, given: Any) -> Any:
    setting = SETTINGS.get(name)
    if setting is None:
        near = difflib.get_close_matches(name.replace("_", "-"), SETTINGS, n=1, cutoff=0.5)
        known = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(SETTINGS)}"
        raise WrongSetting(f"{sources.shown(str(file))}: {TABLE} has no setting {name!r}; {known}")
    if not setting.fits(given):
        raise WrongSetting(
            f"{sources.shown(str(file))}: {TABLE} {name} = {given!r}: it takes {setting.takes}"
        )
    if name == "ignore":
        try:
            codes(given)
        except WrongSetting as error:
            raise WrongSetting(f"{sources.shown(str(file))}: {TABLE} {name}: {error}") from None
    return setting.value(given, file.parent)
