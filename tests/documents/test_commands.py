"""Every command and every program in the documentation runs, and prints what is shown there.

`python -m tests.documents` writes anew what the commands of `console` blocks print.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from gradtape.cli import build_parser

from .blocks import ROOT, Desk, blocks, commands, fits

PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "benchmarks" / "README.md",
    *sorted((ROOT / "examples").rglob("*.md")),
    *sorted(
        page for page in (ROOT / "docs").rglob("*.md")
        if page.parent.name != "rules"  # their programs are run by tests/doctor
    ),
]  # fmt: skip
# What is not run, and why; it is read all the same (`test_what_is_not_run_could_be`).
NOT_RUN = {
    r"python -m pytest": "the suite itself",
    r"python -m tests\.": "takes minutes, needs TensorFlow or writes into the repository",
    r"python benchmarks/": "takes minutes",
    r"^\.ci/": "takes minutes and the network",
    r"# on TensorFlow$": "needs it",
    r"ruff|mypy": "is part of .ci/run",
    r"^ssh ": "another machine",
    r"mkdocs": "is what .ci/docs does",
}
# The programs in these pages are no programs of their own.
PARTS = {
    "CONTRIBUTING.md": "declarations, which test_contributing.py finds in the source",
}
# Blocks of settings and of what another program shows.
OTHER = {"", "text", "md", "toml", "yaml", "ini", "json", "pycon", "finding", "xml"}


def names(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def reason(command: str) -> str | None:
    return next((why for words, why in NOT_RUN.items() if re.search(words, command)), None)


@pytest.mark.parametrize("page", PAGES, ids=names)
def test_page(page: Path, tmp_path: Path) -> None:
    found = blocks(page.read_text(encoding="utf-8"))
    assert {block.language for block in found} <= OTHER | {"sh", "console", "python"}
    if not any(block.title or block.language in ("sh", "console", "python") for block in found):
        return
    desk = Desk(tmp_path)
    for block in found:
        where = f"{names(page)}:{block.line}"
        if block.title:
            desk.write(block.title, block.text)
        elif block.language in ("sh", "console"):
            for command, shown in commands(block.text):
                if reason(command) is not None:
                    could(command)
                    continue
                code, printed = desk.run(command)
                meant = shown is not None and shown.strip(
                    ".\n "
                )  # a program that fails is shown so
                assert code == 0 or meant, f"{where}: {command}\n{printed}"
                if shown is not None:
                    told = f"{where}: {command}\n{printed}\npython -m tests.documents writes it"
                    assert fits(shown, printed), told
    programs = [b for b in found if b.language == "python" and not b.title]
    if programs and page.name not in PARTS:
        results = desk.execute([block.text for block in programs])
        for block, result in zip(programs, results, strict=True):
            for shown, printed in result:
                assert fits(shown, printed), f"{names(page)}:{block.line} prints {printed}"


def could(command: str) -> None:
    """A command that is not run names what there is."""
    command = command.partition("   #")[0]
    for words in re.split(r"\s*&&\s*", command):
        parts = [part for part in shlex.split(words) if "=" not in part.partition("/")[0]]
        if "-m" in parts:
            module = parts[parts.index("-m") + 1]
            if module.startswith("tests"):
                file = ROOT / module.replace(".", "/")
                assert file.with_suffix(".py").exists() or (file / "__main__.py").exists(), words
        for part in parts:
            if re.match(r"(tests|benchmarks|\.ci|docs|src|examples)/", part):
                assert (ROOT / part.partition("::")[0]).exists(), words


INLINE = re.compile(r"(?<!`)`gradtape ([^`\n]+)`(?!`)")


@pytest.mark.parametrize("page", PAGES, ids=names)
def test_commands_in_sentences_are_understood(page: Path) -> None:
    for words in INLINE.findall(page.read_text(encoding="utf-8")):
        parts = shlex.split(words.replace("…", "train.py"))
        if parts[0] in ("run", "doctor") and not any(
            part.endswith(".py") or part == "-m" for part in parts
        ):
            parts.append("train.py")
        if parts[0].islower() and not parts[0].startswith("-"):
            try:
                build_parser().parse_args(parts)
            except SystemExit:
                pytest.fail(f"gradtape {words}")
