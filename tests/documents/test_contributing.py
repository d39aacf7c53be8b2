"""CONTRIBUTING.md shows how ops are declared; what the README shows, `documents` looks at."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_declarations_in_contributing_stand_in_the_source():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.partition("## Adding an op")[2].partition("\n## ")[0]
    source = "".join(p.read_text(encoding="utf-8") for p in (ROOT / "src/gradtape").rglob("*.py"))
    shown = re.findall(r"```python\n(.*?)```", section, re.S)
    assert len(shown) >= 3
    for block in shown:
        assert block.strip() in source
