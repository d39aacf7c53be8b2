"""Writes the lessons of `gradtape explain` to `docs/rules`: `python -m tests.doctor.pages`."""

from __future__ import annotations

from pathlib import Path

from gradtape.doctor.report.lessons import catalogue, page
from gradtape.doctor.rules import CATALOGUE

FOLDER = Path(__file__).parents[2] / "docs" / "rules"
COMMAND = "python -m tests.doctor.pages"
NOTE = f"\n<!-- Written by `{COMMAND}` from src/gradtape/doctor/rules. -->\n"


def pages() -> dict[str, str]:
    """The text of every page, by the name of its file."""
    made = {f"{rule.name}.md": page(rule) + NOTE for rule in CATALOGUE}
    return {"README.md": catalogue(links=".md").rstrip() + "\n" + NOTE, **made}


def write() -> None:
    """Write all pages, and take away those of rules that are no more."""
    FOLDER.mkdir(exist_ok=True)
    made = pages()
    for old in FOLDER.glob("*.md"):
        if old.name not in made:
            old.unlink()
    for name, text in made.items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
    print(f"{len(pages())} pages in {FOLDER.relative_to(Path.cwd())}")
