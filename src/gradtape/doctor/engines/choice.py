"""Which engine a program is for: said by the user, or seen in what the program imports."""

from __future__ import annotations

import ast
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from ...api import alias
from ...api.alias import installed as installed
from ...api.run import Program

ENGINES = ("auto", "gradtape", "tensorflow")
DEEP = 64  # modules of the program's own that are looked into
NOT_INSTALLED = "TensorFlow is not installed; --engine gradtape runs the program without it"


def choose(wanted: str, program: Program) -> str:
    """The engine to take; for gradtape's, `import tensorflow` is gradtape from now on."""
    if wanted == "tensorflow" and not installed():
        print(f"gradtape doctor: {NOT_INSTALLED}", file=sys.stderr)
        raise SystemExit(2)
    if wanted == "auto" and installed() and imports_tensorflow(program):
        return "tensorflow"
    if wanted != "tensorflow":
        alias.install()
        wanted = "gradtape"
    return wanted


def in_sight(names: dict[str, Any]) -> str:
    """The engine that a module computes with, by the names in it."""
    for thing in list(names.values()):
        name = thing.__name__ if isinstance(thing, ModuleType) else ""
        if name.partition(".")[0] in (alias.ALIAS, "keras") and alias.loaded():
            return "tensorflow"
    return "gradtape"


def of_keras() -> str:
    """The engine that Keras computes with in this process."""
    return "tensorflow" if alias.loaded() else "gradtape"


def keras() -> ModuleType:
    """The Keras of this process; if it has none yet, the one that finds TensorFlow, or gradtape in
    its place where that is not installed."""
    known = sys.modules.get("keras")
    return known or import_module("keras" if installed() else "gradtape.keras")


# --- reading imports, without running anything ----------------------------------------------------
def imports_tensorflow(program: Program) -> bool:
    """Does the program, or a module of its own beside it, import TensorFlow?"""
    if program.kind == "command":
        return mentions(program.target)
    first = _file(program)
    queue, seen = [first] if first is not None else [], set(filter(None, [first]))
    while queue:
        file = queue.pop()
        names = _imports(_text(file))
        if _names_tensorflow(names):
            return True
        assert first is not None
        for name in names:
            found = _beside(first.parent, name)
            if found is not None and found not in seen and len(seen) < DEEP:
                seen.add(found)
                queue.append(found)
    return False


def mentions(text: str) -> bool:
    """Does a piece of source import TensorFlow?"""
    return _names_tensorflow(_imports(text))


def _names_tensorflow(names: set[str]) -> bool:
    return any(name.partition(".")[0] in (alias.ALIAS, "keras") for name in names)


def _imports(text: str) -> set[str]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return set()
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


def _file(program: Program) -> Path | None:
    if program.kind == "script":
        path = Path(program.target)
        return path / "__main__.py" if path.is_dir() else path
    folder = Path.cwd()
    found = _beside(folder, program.target)
    inner = None if found is None else found.with_name("__main__.py")
    return inner if inner is not None and found.name == "__init__.py" else found  # type: ignore[union-attr]


def _beside(folder: Path, name: str) -> Path | None:
    """The file of a module that lies in a folder."""
    path = folder.joinpath(*name.split("."))
    for file in (path.with_suffix(".py"), path / "__init__.py"):
        if file.is_file():
            return file
    return None


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
