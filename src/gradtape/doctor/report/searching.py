"""Finds rules by what people see and say: `gradtape explain nan`, `gradtape explain my numpy`."""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import cache
from typing import NamedTuple

from ..rules import CATALOGUE
from ..rules.base import Rule

# What people call a symptom, by the state that it is.
SYMPTOMS = {
    "none": "none null missing nothing", "zero": "zero zeros 0 0.0 dead", "nan": "nan nans",
    "inf": "inf infinite infinity overflow", "vanishing": "vanishing vanish vanishes tiny small",
    "exploding": "exploding explode explodes huge diverges divergence",
    "wrong": "wrong incorrect accuracy stuck learns", "error": "error exception raises lookuperror",
}  # fmt: skip
STATES = {word: state for state, words in SYMPTOMS.items() for word in words.split()}
# The first digits of the codes of rules that are about a state before all else.
FAMILIES = {"none": "1", "zero": "2", "nan": "3", "inf": "3", "vanishing": "4", "exploding": "4",
            "wrong": "57", "error": "6"}  # fmt: skip
EMPTY = (
    "a an and are as at be by do does for from get gets gradient gradients has have how i in is it "
    "its me my not of on or tensorflow tf that the there this to was what when where which why with"
)
FIELDS = {"name": 5.0, "title": 4.0, "lesson": 1.5, "failing": 0.5, "ignore": 0.5}
LIKE, FAMILY = 1.0, 4.0  # for a state that a rule knows, and for one that it is mostly about
FAR = 0.15  # of the best hit's score: what has less is none
CLEAR = 2.0  # a hit that is so many times as good as the next one


class Hit(NamedTuple):
    """A rule, and how well it fits."""

    rule: Rule
    score: float


def search(text: str) -> list[Hit]:
    """The rules that fit some words, the best first; those of one score by their codes."""
    words = _words(text)
    told = [word for word in dict.fromkeys(words) if word not in EMPTY.split()] or words
    hits = [Hit(rule, sum(_score(rule, word) for word in told)) for rule in CATALOGUE]
    best = max(hit.score for hit in hits)
    found = [hit for hit in hits if hit.score > FAR * best]
    return sorted(found, key=lambda hit: (-hit.score, hit.rule.code))


def clear(hits: list[Hit]) -> bool:
    """Is the first hit the only one that can be meant?"""
    return bool(hits) and (len(hits) == 1 or hits[0].score >= CLEAR * hits[1].score)


def _score(rule: Rule, word: str) -> float:
    state, stem = STATES.get(word), _stem(word)
    of_state = 0.0
    if state is not None and (state in rule.states or (state == "wrong" and "ok" in rule.states)):
        of_state = FAMILY if rule.code[2] in FAMILIES[state] else LIKE
    rare = math.log(1 + len(CATALOGUE) / (1 + _spread()[stem]))
    # A symptom is named in every lesson about it: what counts is which rules are about it.
    fields = FIELDS if state is None else {} if word == state else {"name": 1.0, "title": 1.0}
    # Twice in a text is more than once; more often says no more.
    times = {field: min(_counts(rule.code, field)[stem], 2) for field in fields}
    return of_state + rare * sum(
        weight * (1 + times[field]) / 3 for field, weight in fields.items() if times[field]
    )


@cache
def _counts(code: str, field: str) -> Counter[str]:
    rule = next(rule for rule in CATALOGUE if rule.code == code)
    text = f"{rule.name} {rule.cause}" if field == "name" else getattr(rule, field)
    return Counter(_stem(word) for word in _words(text))


@cache
def _spread() -> Counter[str]:
    """In how many rules a word stands."""
    return Counter(
        word
        for rule in CATALOGUE
        for word in set().union(*(_counts(rule.code, field) for field in FIELDS))
    )


def _words(text: str) -> list[str]:
    """`tf.reduce_mean` is its parts; a number with a point is one word."""
    return re.findall(r"\d+\.\d+|[a-z0-9]+", text.lower())


def _stem(word: str) -> str:
    """Enough for what is one word in several forms: masks, masked, masking."""
    for end in ("ising", "izing", "ing", "ed", "es", "s"):
        if word.endswith(end) and len(word) - len(end) >= 3:
            return word[: -len(end)]
    return word
