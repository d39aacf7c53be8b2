"""Writes what is generated in the documentation: `python -m tests.documents`.

These are the pages of the reference, and what the commands in `console` blocks print. Where a block
has lines of `...`, it stays as it is while it fits.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from .blocks import ROOT, Block, Desk, blocks, commands, fits
from .reference import PAGES as REFERENCE
from .test_commands import PAGES, names, reason


def accept(page: Path) -> bool:
    """Write anew what the commands of a page print; is it another page now?"""
    text = before = page.read_text(encoding="utf-8")
    if "```console" not in text:
        return False
    changed: list[tuple[Block, str]] = []
    with tempfile.TemporaryDirectory() as folder:
        desk = Desk(Path(folder))
        for block in blocks(text):
            if block.title:
                desk.write(block.title, block.text)
            elif block.language == "sh":
                for command, _ in commands(block.text):
                    if reason(command) is None:
                        desk.run(command)
            elif block.language == "console":
                changed.append((block, _printed(desk, block)))
    for block, now in reversed(changed):
        text = text[: block.start] + now + text[block.start + len(block.text) :]
    page.write_text(text, encoding="utf-8")
    return text != before


def _printed(desk: Desk, block: Block) -> str:
    made = []
    for command, shown in commands(block.text):
        printed = desk.run(command)[1] if reason(command) is None else shown or ""
        # A page whose program should have run is not to show a traceback without one's leave.
        fails = "Traceback" in printed and "Traceback" not in (shown or "")
        kept = shown and (fails or ("..." in shown and fits(shown, printed)))
        clean = "".join(f"{line.rstrip()}\n" for line in printed.strip("\n").splitlines())
        made.append(f"$ {command}\n{shown if kept else clean}")
    return "".join(made)


def main(wanted: list[str]) -> None:
    for name, write in REFERENCE.items():
        (ROOT / name).write_text(write(), encoding="utf-8")
    for page in PAGES:
        if (not wanted or names(page) in wanted) and accept(page):
            print(f"{names(page)} has changed")


if __name__ == "__main__":
    main(sys.argv[1:])
