"""The fenced blocks of a page, and a place where they can be carried out, one after the other.

In a block of `python` with a title, the title is a file that is written; without one, the block is
run, and where a `print` has a comment behind it, that is what it prints. `sh` is run; of `console`,
the lines after `$ ` are run and the others are what they print. `...` stands for any text.
"""

from __future__ import annotations

import math
import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.commands import LIMIT, SOURCE

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^(?P<mark>`{3,})(?P<info>[^\n`]*)\n(?P<text>.*?)^(?P=mark)`*$", re.S | re.M)
TITLE = re.compile(r'title="([^"]+)"')
PRINTS = re.compile(r"^print\(.*\)  +# (.*)$", re.M)
WIDTH = 90  # columns of the reports that pages show

# Programs that pages speak of without showing them, and the modules of a project.
PROGRAM = """\
import gradtape as tf

w = tf.Variable(2.0)
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = (w - 1.0) ** 2
    w.assign_sub(0.1 * tape.gradient(loss, w))
"""
FILES = {
    "train.py": PROGRAM,
    "package/__init__.py": "",
    "package/train.py": PROGRAM,
    "project/__init__.py": "",
    "project/train.py": PROGRAM,
    "tests/test_model.py": "def test_nothing():\n    pass\n",
}
# What stands for a command: Python itself, which makes no environments, and a pip that only looks
# whether there is what it is asked for.
COMMANDS = {
    "python": """\
if [ "$1 $2" = "-m venv" ]; then
    mkdir -p "$3/bin" && cp "$(dirname "$0")"/* "$3/bin"
else
    exec "$PYTHON" "$@"
fi
""",
    "pip": 'exec "$PYTHON" -m tests.documents.pip "$@"\n',
    "pytest": 'exec "$PYTHON" -m pytest -p no:cacheprovider "$@"\n',
    # The pages show gradtape's own engine, whatever is installed where the tests run.
    "gradtape": """\
if [ "$1" = doctor ] && [[ "$*" != *--engine* ]] && [[ "$*" != *--help* ]]; then
    shift
    set -- doctor --engine gradtape "$@"
fi
exec "$PYTHON" -m gradtape "$@"
""",
}


@dataclass
class Block:
    """A fenced block: its language, the file that its title names, and where it stands."""

    language: str
    title: str
    text: str
    start: int  # of its text in the page, in characters
    line: int


def blocks(page: str) -> list[Block]:
    """The blocks of a page, in their order."""
    found = []
    for match in FENCE.finditer(page):
        info, start = match["info"].strip(), match.start("text")
        title = TITLE.search(info)
        language = info.split()[0] if info else ""
        line = page.count("\n", 0, start) + 1
        found.append(Block(language, title[1] if title else "", match["text"], start, line))
    return found


def commands(text: str) -> Iterator[tuple[str, str | None]]:
    """The commands of a block of `sh`, or of `console` with what they print."""
    if not re.search(r"^\$ ", text, re.M):
        for line in text.replace("\\\n", "").splitlines():
            if line.strip() and not line.startswith("#"):
                yield line, None
        return
    for part in re.split(r"^\$ ", text, flags=re.M)[1:]:
        command, _, shown = part.partition("\n")
        yield command, shown


class Desk:
    """A folder with the examples, in which the blocks of one page are carried out."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "desk"
        shutil.copytree(ROOT / "examples", self.folder / "examples")
        for name, text in FILES.items():
            self.write(name, text)
        bin = folder / "bin"
        bin.mkdir()
        for name, text in COMMANDS.items():
            for other in (name, f"{name}3") if name == "python" else (name,):
                file = bin / other
                file.write_text(f"#!/usr/bin/env bash\n{text}")
                file.chmod(file.stat().st_mode | stat.S_IXUSR)
        paths = [str(SOURCE), str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        self.environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith("GRADTAPE_")},
            "PATH": os.pathsep.join([str(bin), os.environ["PATH"]]),
            "PYTHON": sys.executable,
            "PYTHONPATH": os.pathsep.join(paths),
            "PYTHONIOENCODING": "utf-8",
            "PYTHONUNBUFFERED": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "GRADTAPE_CACHE": "0",
            "NO_COLOR": "1",
            "COLUMNS": str(WIDTH),
        }

    def write(self, name: str, text: str) -> None:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def run(self, command: str) -> tuple[int, str]:
        """The exit code of a command, and what it prints on both streams."""
        process = subprocess.run(
            ["bash", "-c", command], cwd=self.folder, env=self.environment, timeout=LIMIT,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            encoding="utf-8", check=False,
        )  # fmt: skip
        return process.returncode, process.stdout

    def execute(self, programs: list[str]) -> list[list[tuple[str, str]]]:
        """Run the programs of a page in one process; for each `print` that shows what it prints,
        that and what it did print."""
        ends = 'print("\\0", end="")\n'
        self.write("page.py", "".join(f"{text}\n{ends}" for text in programs))
        code, printed = self.run("python page.py")
        assert code == 0, printed
        found = []
        for text, said in zip(programs, printed.split("\0"), strict=False):
            promised, lines = PRINTS.findall(text), said.splitlines()
            found.append(list(zip(promised, lines, strict=True)) if promised else [])
        return found


NUMBER = re.compile(r"-?\d+\.\d+(?:e[+-]?\d+)?")
LEVELS = "▁▂▃▄▅▆▇█"
VARYING = re.compile(rf"{NUMBER.pattern}|[{LEVELS}]+| {{2,}}|\.\.\.")


def fits(shown: str, printed: str) -> bool:
    """Is this what was shown, where `...` stands for any text, also of several lines?

    Numbers may differ in their last digits, as they do from one CPU to another, and so may the
    height of a bar.
    """
    clean = "\n".join(map(str.rstrip, printed.strip().splitlines()))
    pattern, numbers, end = "", [], 0
    for found in VARYING.finditer(shown.strip()):
        pattern += re.escape(shown.strip()[end : found.start()])
        if found[0] == "...":
            pattern += "(?s:.*)"
        elif found[0].isspace():
            pattern += " +"
        elif found[0][0] in LEVELS:
            pattern += f"[{LEVELS}]{{{len(found[0])}}}"
        else:
            pattern += f"({NUMBER.pattern})"
            numbers.append(float(found[0]))
        end = found.end()
    match = re.fullmatch(pattern + re.escape(shown.strip()[end:]), clean)
    return match is not None and all(
        math.isclose(float(now), then, rel_tol=1e-2, abs_tol=1e-3)
        for now, then in zip(match.groups(), numbers, strict=True)
    )
