"""Which lines of which files confirmed findings change, and which they leave alone, with reasons.

Only what a trial has confirmed is written, only into files of the user's program that are still
what ran, and a finding whose lines cannot all be changed changes none. Two findings that want
different texts for one line: the first, which is the worse one, has it.
"""

from __future__ import annotations

import ast
import hashlib
import io
import json
import os
import sysconfig
import tokenize
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ..source import sources
from ..source.place import Place
from ..source.sources import shown
from ..trace.finding import CONFIRMED, Finding
from .files import Refused, SourceFile

INSTALLED = ("site-packages", "dist-packages")


@dataclass
class Plan:
    """New texts of lines, by file and number, for these findings; and what is left, and why."""

    lines: dict[str, dict[int, str]] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)  # of the files as they ran
    findings: list[Finding] = field(default_factory=list)
    count: int = 0  # of these findings
    found: int = 0  # of all findings
    left: list[str] = field(default_factory=list)

    def contents(self) -> dict[str, tuple[bytes, bytes]]:
        """Every file before and after; a file that is no longer what ran is a refusal."""
        found = {}
        for path, lines in self.lines.items():
            file = SourceFile(path)
            if _digest(file) != self.digests[path]:
                raise Refused(f"{shown(path)} has changed since it ran")
            found[path] = file.data, file.changed(lines)
        return found

    def to_json(self) -> str:
        """The plan for another process, which has not seen the findings."""
        told = {key: value for key, value in vars(self).items() if key != "findings"}
        return json.dumps(told)

    @classmethod
    def from_json(cls, text: str) -> Plan:
        told = json.loads(text)
        told["lines"] = {
            file: {int(number): line for number, line in lines.items()}
            for file, lines in told["lines"].items()
        }
        return cls(**told)


def plan(findings: Iterable[Finding], roots: Sequence[str]) -> Plan:
    """The plan for some findings, in their order; `roots` are the folders of the program."""
    made = Plan()
    files: dict[str, SourceFile] = {}
    for finding in findings:
        made.found += 1
        if finding.edit is None or finding.place is None or not confirmed(finding):
            continue
        try:
            _take(made, files, finding, roots)
        except Refused as why:
            made.left.append(f"{finding.code} is left: {why}")
    made.count = len(made.findings)
    made.digests = {path: _digest(files[path]) for path in made.lines}
    return made


def confirmed(finding: Finding) -> bool:
    """Has a trial shown that the change of a finding helps?"""
    return finding.sure and finding.verdict.kind == CONFIRMED


def edits(finding: Finding) -> list[tuple[Place, str]]:
    """The lines that a finding changes, as they should be; none where that cannot be written."""
    if finding.edit is None or finding.place is None:
        return []
    return [(finding.place, finding.edit), *finding.further]


def rewritten(old: str, new: str) -> str:
    """A line with another text, and its own indentation, comment and spaces at the end."""
    indent, end = old[: len(old) - len(old.lstrip())], old[len(old.rstrip()) :]
    new, comment = new.strip(), _comment(old)
    if comment.strip() and not new.endswith(comment.strip()):
        new += comment.rstrip()
    return indent + new + end


def _take(made: Plan, files: dict[str, SourceFile], finding: Finding, roots: Sequence[str]) -> None:
    """Add the lines of a finding to the plan, or refuse them all."""
    wanted: dict[str, dict[int, str]] = {}
    for place, text in edits(finding):
        path = place.file
        if path not in files:
            files[path] = _opened(path, roots)
        new = rewritten(files[path].text(place.line), text)
        taken = made.lines.get(path, {}).get(place.line, new)
        if taken != new or wanted.setdefault(path, {}).setdefault(place.line, new) != new:
            raise Refused(f"another finding changes line {place.line} of {shown(path)}")
    for path, lines in wanted.items():
        _check(files[path], {**made.lines.get(path, {}), **lines})
    for path, lines in wanted.items():
        made.lines.setdefault(path, {}).update(lines)
    made.findings.append(finding)


def _opened(path: str, roots: Sequence[str]) -> SourceFile:
    if not os.path.isfile(path):
        raise Refused(f"{shown(path)} is no file, or its text is not what ran")
    if not _within(path, roots):
        raise Refused(f"{shown(path)} is no file of the program's own")
    if not os.access(path, os.W_OK):
        raise Refused(f"{shown(path)} is read-only")
    file = SourceFile(path)
    if not file.ran():
        raise Refused(f"{shown(path)} has changed since it ran")
    return file


def _within(path: str, roots: Sequence[str]) -> bool:
    """Is it a file of the user's program: in one of its folders, and not installed there?"""
    real = os.path.realpath(path)
    if not any(_under(real, os.path.realpath(root)) for root in roots):
        return False
    paths = sysconfig.get_paths()
    libraries = (paths[name] for name in ("purelib", "platlib", "stdlib", "platstdlib"))
    inside = any(_under(real, os.path.realpath(library)) for library in libraries)
    return not inside and not set(INSTALLED) & set(real.split(os.sep))


def _under(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip(os.sep) + os.sep)


def _check(file: SourceFile, lines: dict[int, str]) -> None:
    """The file must stay a program, with as many statements (a line may hold several) and with the
    same comments."""
    before, after = (_outline(data) for data in (file.data, file.changed(lines)))
    if before is None or before != after:
        numbers = ", ".join(map(str, sorted(lines)))
        raise Refused(f"line {numbers} of {shown(file.path)} cannot be written alone")


def _outline(data: bytes) -> tuple[int, list[str]] | None:
    tree = sources.read(data, ast.PyCF_ONLY_AST)
    if tree is None:
        return None
    tokens = tokenize.tokenize(io.BytesIO(data).readline)
    comments = [token.string for token in tokens if token.type == tokenize.COMMENT]
    return sum(isinstance(node, ast.stmt) for node in ast.walk(tree)), comments


def _comment(line: str) -> str:
    """The comment at the end of a line, with the spaces before it."""
    try:
        for token in tokenize.generate_tokens(io.StringIO(line.lstrip()).readline):
            if token.type == tokenize.COMMENT:
                start = len(line) - len(line.lstrip()) + token.start[1]
                return line[len(line[:start].rstrip()) :]
    except (tokenize.TokenError, SyntaxError):
        pass  # a part of something that goes on in the next line
    return ""


def _digest(file: SourceFile) -> str:
    return hashlib.sha256(file.data).hexdigest()
