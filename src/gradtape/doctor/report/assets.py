"""The page's scripts and styles: short files, one after the other in one element each."""

from __future__ import annotations

from importlib.resources import files

STYLES = ("page", "findings", "source", "timeline", "edges")
SCRIPTS = (
    "view", "findings", "expressions", "numbers", "heat", "curves", "pointing", "timeline", "steps",
    "keys", "follow", "begin",
)  # fmt: skip


def style() -> str:
    return "".join(_read(f"{name}.css") for name in STYLES)


def script() -> str:
    """All of them in one scope of their own."""
    parts = "".join(_read(f"{name}.js") for name in SCRIPTS)
    return f'"use strict";\n(() => {{\n{parts}}})();\n'


def _read(name: str) -> str:
    return files(__package__).joinpath("assets", name).read_text(encoding="utf-8")
