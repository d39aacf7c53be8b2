"""Programs kept in files together with TensorFlow's answers, one line for each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PROGRAMS = Path(__file__).parent.parent / "programs"


def write(name: str, version: str, stored: Mapping[str, tuple[Any, Any]]) -> None:
    """Store programs with their answers under a name."""
    lines = [
        f"{json.dumps(id)}: {json.dumps({'program': program, 'answer': answer})}"
        for id, (program, answer) in stored.items()
    ]
    body = ",\n".join(lines)
    text = f'{{"tensorflow": {json.dumps(version)}, "programs": {{\n{body}\n}}}}\n'
    (PROGRAMS / f"{name}.json").write_text(text)


def read() -> dict[str, tuple[Any, Any]]:
    """All stored programs and answers by their ids."""
    found = {}
    for path in sorted(PROGRAMS.glob("*.json")):
        for id, entry in json.loads(path.read_text())["programs"].items():
            found[id] = entry["program"], entry["answer"]
    return found
