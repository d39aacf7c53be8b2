"""A baseline: the findings that a project knows of, so that CI fails for new ones only.

A finding is recognised by its rule, its file, the text of its line and the names of its sources,
and so stays known when lines are added above it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..source import sources
from ..trace.finding import Finding

VERSION = 1
KEYS = ("code", "file", "text", "sources")


class NoBaseline(ValueError):
    """A file that is no baseline, and what to do."""


class Baseline:
    """The findings of a baseline; each stands for one of a run, however often it is met."""

    def __init__(self, entries: Iterable[dict[str, Any]], folder: str) -> None:
        self.folder = folder  # from which files are named
        self._known = Counter(map(_key, entries))

    def divide(self, findings: Iterable[Finding]) -> tuple[list[Finding], list[Finding]]:
        """The new ones, and those that are known."""
        left = Counter(self._known)
        new: list[Finding] = []
        known: list[Finding] = []
        for finding in findings:
            key = _key(entry(finding, self.folder))
            (known if left[key] > 0 else new).append(finding)
            left[key] -= 1
        return new, known


def entry(finding: Finding, folder: str) -> dict[str, Any]:
    """A finding as a baseline records it; files are named from a folder."""
    place = finding.place
    line = "" if place is None else " ".join(sources.line(place.file, place.line).split())
    file = "" if place is None else _name(place.file, folder)
    return {
        "code": finding.code,
        "name": finding.name,
        "file": file,
        "text": line,
        "sources": sorted(finding.sources),
    }


def fingerprint(finding: Finding) -> str:
    """The same in a short word, with files named from the current directory."""
    key = _key(entry(finding, sources.folder()))
    return hashlib.sha256(json.dumps(key).encode()).hexdigest()[:32]


def written(findings: Iterable[Finding], folder: str) -> str:
    """The text of a baseline of these findings, for a file in this folder."""
    entries = sorted((entry(finding, folder) for finding in findings), key=_key)
    return json.dumps({"version": VERSION, "findings": entries}, indent=2) + "\n"


def read(path: str) -> Baseline:
    """The baseline of a file."""
    try:
        told = json.loads(Path(path).read_text(encoding="utf-8"))
        if told["version"] != VERSION:
            raise NoBaseline(f"{path} is a baseline of version {told['version']!r}, not {VERSION}")
        return Baseline(told["findings"], os.path.dirname(os.path.abspath(path)))
    except FileNotFoundError:
        raise NoBaseline(f"there is no {path}; --write-baseline {path} writes it") from None
    except OSError as error:
        raise NoBaseline(f"{path} cannot be read ({error.strerror})") from None
    except (ValueError, KeyError, TypeError) as error:
        if isinstance(error, NoBaseline):
            raise
        raise NoBaseline(f"{path} is no baseline; --write-baseline {path} writes one") from None


def _key(entry: dict[str, Any]) -> tuple:
    code, file, text, names = (entry[key] for key in KEYS)
    return code, file, text, tuple(names)


def _name(file: str, folder: str) -> str:
    if not os.path.isabs(file):
        return file
    try:
        near = os.path.relpath(file, folder)
    except ValueError:  # another drive
        near = file
    return os.path.basename(file) if near.startswith(os.pardir) else near.replace(os.sep, "/")
