"""The findings as cards: the cause, the fix, the numbers where it begins, and the rule's lesson."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from ..facts.spots import Part
from ..rules import CATALOGUE
from ..rules.base import Rule
from ..source import sources
from ..trace.finding import Finding
from .listing import inked
from .markup import DASH, Safe, join, prose, tag
from .panels import COLUMNS, figures, shape
from .words import checked, headline, shown, steps

GRADUAL = ("vanishing", "exploding", "wrong")  # states that have no before and after
# Of the arrays at an op: the way they go, and what they do there.
ROLES = {
    "operand": ("values", "in"), "result": ("values", "out"), "arrives": ("gradients", "in"),
    "leaves": ("gradients", "out"),
}  # fmt: skip


def cards(findings: Sequence[Finding]) -> list[Safe]:
    return [_card(k, finding) for k, finding in enumerate(findings)]


def _card(k: int, finding: Finding) -> Safe:
    title = tag(
        "button",
        tag("span", finding.code, class_="code"),
        " ",
        tag("span", finding.name, class_="name"),
        " ",
        tag("span", prose(sentence(headline(finding))), class_="headline"),
        type="button", aria_expanded="false" if k else "true", aria_controls=f"more{k}",
    )  # fmt: skip
    where = None
    if finding.place is not None:
        where = tag("p", f"{shown(finding.place.file)}:{finding.place.line}", class_="where")
    more = tag("div", _more(finding), id=f"more{k}", class_="more")
    return tag(
        "article", tag("h2", title), where, more,
        id=f"f{k}", class_="card", data_finding=k, data_for=f"{k}:on",
        data_now=None if k else "on", data_key=_key(finding), data_state=finding.state,
        data_rule=f"{finding.code} {finding.name}",
    )  # fmt: skip


def _more(finding: Finding) -> Safe:
    sure = "" if finding.sure else "likely: "
    fields: list[tuple[str, Any]] = [
        ("Cause", prose(sentence(sure + finding.message))),
        ("Fix", join([prose(sentence(finding.fix)), _edit(finding)])),
        ("Checked", prose(checked(finding))),
        ("When", prose(steps(finding))),
        ("More", tag("button", f"What {finding.code} is about", type="button", class_="teach",
                     data_lesson=finding.code, title=f"gradtape explain {finding.code}")),
    ]  # fmt: skip
    rows = [tag("div", tag("dt", name), tag("dd", said)) for name, said in fields if said]
    return join([_path(finding), tag("dl", *rows), _onset(finding)])


def _key(finding: Finding) -> str:
    """What tells a finding from the others when the run has gone on."""
    place = finding.place
    at = "" if place is None else f"{shown(place.file)}:{place.line}:{place.text}"
    return f"{finding.code} {finding.state} {finding.target} {at}"


def _onset(finding: Finding) -> Safe | None:
    """What goes into the op where numbers stop being finite, and what comes out, there and back."""
    onset = finding.onset
    if onset is None:
        return None
    text = tag("code", " ".join(onset.place.text.split()))
    on = "On the way back, the" if onset.backward else "The"
    title = tag("p", f"{on} numbers stop being finite at ", text, f", line {onset.place.line}:")
    parts = sorted(onset.parts, key=lambda part: list(ROLES).index(part.role))
    ways = [(way, list(same)) for way, same in groupby(parts, lambda part: ROLES[part.role][0])]
    heads = [tag("th", way, colspan=len(same), scope="colgroup") for way, same in ways]
    names = [tag("th", *_called(part), scope="col") for part in parts]
    shapes = [tag("td", shape(part.shape) if part.dtype else DASH) for part in parts]
    columns = [[DASH] * len(COLUMNS) if p.stats is None else figures(p.stats) for p in parts]
    rows = [
        tag("tr", tag("th", name, scope="row"), *[_cell(column[k]) for column in columns])
        for k, name in enumerate(COLUMNS)
    ]
    head = tag("thead", tag("tr", tag("th"), *heads), tag("tr", tag("th"), *names))
    body = tag("tbody", tag("tr", tag("th", "shape", scope="row"), *shapes), *rows)
    scroll = {"class_": "wide", "tabindex": 0, "role": "group"}
    table = tag("div", tag("table", head, body), **scroll, aria_label="numbers where it begins")
    return tag("div", title, table, class_="onset")


def _called(part: Part) -> list[Any]:
    """in `x`"""
    said = ROLES[part.role][1]
    return [said, " ", tag("code", part.name)] if part.name else [said]


def _cell(figure: Any) -> Safe:
    return figure if isinstance(figure, Safe) else tag("td", figure)


def sentence(words: str) -> str:
    """With a capital letter, unless it begins with a name of the program's."""
    plain = re.match(r"[a-z]+[ ,:]", words)
    return words[:1].upper() + words[1:] if plain else words


def _path(finding: Finding) -> Safe | None:
    """The path in words, the break set apart; the middle of a long one is left out."""
    words = finding.path
    if not words:
        return None
    at = next((k for k, word in enumerate(words) if word.startswith("[")), len(words))
    kept = [
        k for k in range(len(words))
        if k < 4 or k >= len(words) - 4 or abs(k - at) <= 3 or len(words) <= 16
    ]  # fmt: skip
    items, before = [], -1
    for k in kept:
        if k > before + 1:
            items.append(tag("li", f"{k - before - 1} more", class_="left-out"))
        role = "lost" if k < at else "break" if k == at else "flow"
        if k != at and (at == len(words) or finding.state in GRADUAL):
            role = "plain"
        word = words[k][1:-1] if k == at else words[k]
        items.append(tag("li", tag("code", word), class_=role))
        before = k
    return tag("ol", *items, class_="path", aria_label="The path from the source to the target")


def _edit(finding: Finding) -> Safe | None:
    """The lines as they are and as they should be."""
    if finding.edit is None or finding.place is None:
        return None
    pairs = []
    for place, new in [(finding.place, finding.edit), *finding.further]:
        old = sources.line(place.file, place.line).strip()
        pairs += [tag("del", old), tag("ins", new.strip())]
    return tag("pre", *pairs, class_="edit")


# --- lessons --------------------------------------------------------------------------------------
def lessons(findings: Sequence[Finding]) -> list[Safe]:
    """The lesson of every rule that found something, once each."""
    codes = {finding.code for finding in findings}
    return [_lesson(rule) for rule in CATALOGUE if rule.code in codes]


def _lesson(rule: Rule) -> Safe:
    name = f"lesson-{rule.code}"
    return tag(
        "dialog",
        tag("button", "Close", type="button", class_="close", title="Escape"),
        tag("h2", tag("span", rule.code, class_="code"), " ", rule.name, id=f"{name}-title"),
        tag("p", prose(sentence(rule.title)), ".", class_="headline"),
        *[tag("p", prose(" ".join(part.split()))) for part in rule.lesson.strip().split("\n\n")],
        tag("h3", "A program with the fault"), inked(rule.failing),
        tag("h3", "The same without it"), inked(rule.cured),
        tag("h3", "When it is fine"), tag("p", prose(" ".join(rule.ignore.split()))),
        tag("h3", "In a terminal"), tag("p", tag("code", f"gradtape explain {rule.code}")),
        id=name, class_="lesson", aria_labelledby=f"{name}-title",
    )  # fmt: skip
