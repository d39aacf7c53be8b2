"""The lessons behind the findings: for `gradtape explain`, and the pages of `docs/rules`."""

from __future__ import annotations

import difflib
import re
import sys
from itertools import groupby

from ..rules import CATALOGUE
from ..rules.base import Rule
from .searching import Hit, clear, search
from .terminal import colored, console, width

MOST = 8  # rules that a search shows
_NAME = re.compile(r"\w*([-_]\w+)+|GT\d+", re.IGNORECASE)  # no word of a language

FAMILIES = {
    "1": "No gradient: None", "2": "A gradient of zeros", "3": "Not a finite number",
    "4": "Vanishing and exploding", "5": "Finite, and not what was meant", "6": "Errors",
    "7": "The model trains but cannot learn this",
}  # fmt: skip
STATES = {
    "none": "None", "zero": "zeros", "nan": "NaN", "inf": "infinity", "vanishing": "vanishing",
    "exploding": "exploding", "wrong": "finite but wrong", "error": "an exception",
}  # fmt: skip


def explain(words: list[str]) -> int:
    """Print the lessons of rules, those that fit some words, or all there are; the exit code."""
    if not words:
        _show(catalogue())
        return 0
    name = " ".join(words)
    found = find(name) or [rule for rules in map(find, words) if rules for rule in rules]
    if found and (len(words) == 1 or find(name) or all(map(find, words))):
        _show("\n".join(page(rule) for rule in found))
        return 0
    hits = [] if len(words) == 1 and _NAME.fullmatch(name) else search(name)
    if clear(hits):
        _show(page(hits[0].rule))
        return 0
    if not hits:
        print(f"gradtape explain: no rule {name!r}{_alike(name)}", file=sys.stderr)
        return 2
    _list(hits)
    return 0


def _list(hits: list[Hit]) -> None:
    """The best of them, a line each."""
    room = width(sys.stdout)
    longest = max(len(hit.rule.name) for hit in hits[:MOST])
    for hit in hits[:MOST]:
        line = f"{hit.rule.code}  {hit.rule.name:<{longest}}  {hit.rule.title}"
        print(line if len(line) <= room else line[: room - 1] + "…")
    more = f"{len(hits) - MOST} more fit less well. " if len(hits) > MOST else ""
    print(f"\n{more}`gradtape explain {hits[0].rule.code}` shows the lesson of the first.")


def find(name: str) -> list[Rule]:
    """The rules with this code, name or cause; several rules may share a cause."""
    word = name.strip().lower().replace("_", "-").replace(" ", "-")
    exact = [rule for rule in CATALOGUE if word in (rule.code.lower(), rule.code[2:], rule.name)]
    return exact or [rule for rule in CATALOGUE if word == rule.cause]


def catalogue(links: str = "") -> str:
    """All rules by family, in Markdown; `links` is the ending of the files to link to."""
    lines = ["# What the doctor knows", ""]
    lines += ["`gradtape explain GT101` (or the name) shows the lesson behind a finding.", ""]
    rules = sorted(CATALOGUE, key=lambda rule: rule.code)
    for family, members in groupby(rules, key=lambda rule: rule.code[2]):
        lines += [f"## {FAMILIES[family]}", ""]
        for rule in members:
            name = f"[{rule.name}]({rule.name}{links})" if links else f"**{rule.name}**"
            lines.append(f"- `{rule.code}` {name}: {rule.title}")
        lines.append("")
    return "\n".join(lines)


def page(rule: Rule) -> str:
    """The lesson of one rule, in Markdown."""
    facts = filter(None, [f"{_sentence(rule.title)}.", _symptom(rule), _needs(rule)])
    return f"""\
# {rule.code} {rule.name}

{" ".join(facts)}

## Why it happens

{rule.lesson.strip()}

## A program with the fault

```python
{rule.failing.strip()}
```

## The same without it

```python
{rule.cured.strip()}
```

## When it is fine

{rule.ignore.strip()}
"""


def _sentence(words: str) -> str:
    """Begun with a capital, unless it begins with code."""
    code = re.match(r"\S*[._(]\S*", words)
    return words if code else words[:1].upper() + words[1:]


def _symptom(rule: Rule) -> str:
    # A rule that looks at sound answers looks for numbers that are not what was meant.
    found = {"wrong" if state == "ok" else state for state in rule.states}
    words = [words for state, words in STATES.items() if state in found]
    return f"The gradient is: {', '.join(words)}." if words else ""


def _needs(rule: Rule) -> str:
    return f"It cannot happen without {rule.needs}." if rule.needs else ""


def _alike(name: str) -> str:
    words = {w.lower(): w for rule in CATALOGUE for w in (rule.code, rule.name, rule.cause)}
    near = difflib.get_close_matches(name.lower(), words, cutoff=0.5)
    if not near:
        return "; `gradtape explain` lists all there are"
    return f"; did you mean {' or '.join(words[word] for word in near)}?"


def _show(markdown: str) -> None:
    """Print it in colours on a terminal, and as it is elsewhere."""

    if not colored(sys.stdout):
        print(markdown)
        return
    from rich.markdown import Markdown

    screen = console(force_terminal=True, width=min(width(sys.stdout), 100))
    screen.print(Markdown(markdown, code_theme="ansi_dark"))
