"""Findings that are not wanted: by `# gradtape: ignore[GT120]` in the source, or by a setting."""

from __future__ import annotations

import difflib
import io
import re
import tokenize
from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import Any

from ..rules import CATALOGUE
from ..source import sources
from ..source.place import Place
from ..trace.finding import Finding

COMMENT = re.compile(r"#\s*gradtape:\s*ignore\b(?:\s*\[([^\]]*)\])?")
CODES = {word: rule.code for rule in CATALOGUE for word in (rule.code.lower(), rule.name)}


def code_of(word: str) -> str | None:
    """The code of a rule that is called by its code or its name."""
    return CODES.get(word.strip().lower().replace("_", "-"))


def unknown(word: str) -> str:
    """That there is no such rule, and which one may be meant."""
    near = difflib.get_close_matches(word.strip().lower(), CODES, n=1, cutoff=0.5)
    if not near:
        return f"there is no rule `{word.strip()}`; `gradtape explain` lists them"
    meant = CODES[near[0]] if near[0].startswith("gt") else near[0]
    return f"there is no rule `{word.strip()}`; did you mean `{meant}`?"


def ignored(finding: Finding, codes: Collection[str] = ()) -> bool:
    """Is a finding one of those that are ignored, everywhere or by a comment where it is?"""
    if finding.code in codes:
        return True
    places = [finding.place, getattr(finding.query, "place", None)]
    return any(_told(finding.code, place) for place in places if place is not None)


def left_out(finding: Finding, ignore: Collection[str] = (), baseline: Any = None) -> bool:
    """Is a finding none of the report's: ignored, or known by a baseline?"""
    return ignored(finding, ignore) or (baseline is not None and not baseline.divide([finding])[0])


def notes(files: Iterable[str]) -> list[str]:
    """What is wrong with the comments of some files."""
    return [
        f"{sources.shown(file)}:{line}: {unknown(word)}"
        for file in files
        for line, words in comments(file).items()
        for word in words or ()
        if code_of(word) is None
    ]


def comments(file: str) -> dict[int, tuple[str, ...] | None]:
    """The comments of a file by their lines: the rules that are named; None means every rule."""
    text = "".join(sources.lines(file))
    return _read(text) if "gradtape:" in text else {}


def _told(code: str, place: Place) -> bool:
    said = comments(place.file)
    if not said:
        return False
    lines = {place.span[0], place.span[2]}
    if place.statement is not None:
        lines.add(place.statement.lineno)
    found = [said[line] for line in lines if line in said]
    return any(words is None or code in map(code_of, words) for words in found)


@lru_cache(maxsize=64)
def _read(text: str) -> dict[int, tuple[str, ...] | None]:
    found: dict[int, tuple[str, ...] | None] = {}
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT and (told := COMMENT.search(token.string)):
                words = [word for word in (told[1] or "").split(",") if word.strip()]
                found[token.start[0]] = tuple(words) or None
    except (tokenize.TokenError, SyntaxError):
        pass  # a cell with more than Python in it: what was read until here counts
    return found
