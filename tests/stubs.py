"""Writes what editors and type checkers read of namespaces whose names are found when asked for.

    python -m tests.stubs

A namespace is declared in one table (`_HOMES` in its `__init__.py`); the `__init__.pyi` beside it
says the same in imports. A test fails when one of them is out of date.
"""

from __future__ import annotations

import textwrap
from importlib import import_module
from pathlib import Path

import gradtape

SOURCE = Path(gradtape.__file__).parent
HEAD = '"""The names of this namespace; written by `python -m tests.stubs` from `_HOMES`."""\n\n'
TOP = """
__version__: str

def load_ipython_extension(shell: object) -> None: ...
"""


def stubs() -> dict[Path, str]:
    """The text of every stub, by its file."""
    found = {}
    for file in sorted(SOURCE.rglob("__init__.py")):
        if "_HOMES = " in file.read_text():
            inner = file.parent.relative_to(SOURCE).parts
            module = import_module(".".join(("gradtape", *inner)))
            homes = dict(module._HOMES)
            if module is gradtape:
                homes[""] += " " + " ".join(set(gradtape._OTHERS.values()))
            found[file.with_suffix(".pyi")] = _text(homes) + (TOP if module is gradtape else "")
    return found


def _text(homes: dict[str, str]) -> str:
    parts = []
    for module, names in sorted(homes.items()):
        start = f"from {module if module[:1] == '.' else '.' + module} import "
        words = ", ".join(f"{name} as {name}" for name in sorted(names.split()))
        if len(start + words) > 100:
            words = "(\n" + textwrap.fill(
                words, 96, initial_indent="    ", subsequent_indent="    "
            )
            words += ",\n)  # fmt: skip"
        parts.append(start + words + "\n")
    return HEAD + "".join(parts)


if __name__ == "__main__":
    for file, text in stubs().items():
        file.write_text(text)
        print(file.relative_to(SOURCE))
