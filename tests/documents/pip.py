"""Stands for pip when a page's commands are run: is there what they would install?"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

KNOWN = Path(__file__).parents[2] / "pyproject.toml"


def main(words: list[str]) -> int:
    """Check the words after `pip`; 0 if all of them could be installed."""
    project = tomllib.loads(KNOWN.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    if words[:1] != ["install"]:
        return _no(f"pip {words[0]}")
    for word in words[1:]:
        if word in ("-q", "-e"):
            continue
        ours = re.fullmatch(r"(?:\.|gradtape)(?:\[([\w,]+)\])?", word)
        if ours is None:
            if not re.fullmatch(r"[\w-]+([<>=]=?[\w.,<>=]+)?", word):
                return _no(word)
        elif missing := set(filter(None, (ours[1] or "").split(","))) - set(extras):
            return _no(f"the extra {', '.join(sorted(missing))}")
    return 0


def _no(what: str) -> int:
    print(f"there is no {what}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
