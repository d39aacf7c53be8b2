"""A diagnosis is a hypothesis that was tried: what the trials confirm, refute and leave open."""

from __future__ import annotations

import random
from functools import cache

import pytest

from gradtape.doctor.facts import counterfactual
from gradtape.doctor.rules import CATALOGUE
from gradtape.doctor.rules.base import Rule
from gradtape.doctor.trace.finding import CONFIRMED, LIKELY, Finding

from .programs import PREAMBLE, diagnose, seed, sketch
from .sections import facts
from .test_rules import CASES, Case

# Keras warns of some of these faults itself, which does not end a program.
pytestmark = pytest.mark.filterwarnings("ignore:::keras")
BACKWARDS = CATALOGUE[::-1]


def _shuffled(number: int) -> tuple[Rule, ...]:
    rules = list(CATALOGUE)
    random.Random(number).shuffle(rules)
    return tuple(rules)


ORDERS = {"backwards": BACKWARDS, "shuffled": _shuffled(1), "shuffled again": _shuffled(2)}


def _findings(program: str, rules: tuple[Rule, ...] = CATALOGUE) -> list[Finding]:
    seed()
    return list(diagnose(PREAMBLE + program, rules=rules).findings.values())


@cache
def _first(program: str) -> str:
    return facts(sketch(_findings(program)[0]))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_every_finding_is_confirmed_or_says_why_it_cannot_be(case: Case) -> None:
    for finding in _findings(case.section.failing):
        verdict = finding.verdict
        assert verdict.kind in (CONFIRMED, LIKELY)  # what is refuted is not shown
        assert verdict.words if verdict.kind == CONFIRMED else verdict.why
        assert finding.sure == (verdict.kind == CONFIRMED)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_the_order_of_the_catalogue_does_not_matter(case: Case) -> None:
    for rules in ORDERS.values():
        found = _findings(case.section.failing, rules)
        assert facts(sketch(found[0])) == _first(case.section.failing)


def test_rules_give_way_to_rules_that_there_are_and_never_in_a_circle() -> None:
    ways = {rule.name: rule.gives_way_to for rule in CATALOGUE}
    assert set().union(*ways.values()) <= ways.keys()

    def ends(name: str, on_the_way: tuple[str, ...] = ()) -> bool:
        return name not in on_the_way and all(ends(n, (*on_the_way, name)) for n in ways[name])

    assert all(map(ends, ways))


def test_of_several_ways_the_one_whose_change_helps_is_named() -> None:
    """`t * log(p)` is 0 by design where t is 0; it is the clip that keeps the other term from
    learning."""
    (finding,) = _findings("""\
w = tf.Variable([[30.0], [20.0]])
x, t = tf.constant([[1.0, 1.0], [2.0, 0.5]]), tf.constant([[0.0], [0.0]])
with tf.GradientTape() as tape:
    logits = tf.clip_by_value(x @ w, -5.0, 5.0)
    p = tf.sigmoid(logits)
    loss = -tf.reduce_mean(t * tf.math.log(p) + (1.0 - t) * tf.math.log(1.0 - p))
grad = tape.gradient(loss, w)
""")
    assert (finding.name, finding.place and finding.place.line) == ("clipped-value", 6)
    assert finding.verdict.kind == CONFIRMED


def test_two_breaks_of_one_gradient_are_two_findings() -> None:
    first, second = _findings("""\
w = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    h = (w * 3.0).numpy()
    g = tf.stop_gradient(tf.constant(h) * 2.0)
    loss = tf.reduce_sum(g * g)
grad = tape.gradient(loss, w)
""")
    assert (first.name, second.name) == ("left-the-tape", "stop-gradient")
    for finding in (first, second):
        assert finding.would_be is not None
        assert finding.would_be.array.tolist() == [72.0, 144.0]
        assert finding.verdict.words == "with lines 5 and 6 changed"


def test_a_fault_that_has_company_is_confirmed_together_with_it() -> None:
    (finding,) = _findings("""\
w = tf.Variable([20.0, -120.0])
with tf.GradientTape() as tape:
    p = tf.sigmoid(w)
    loss = -tf.reduce_mean(tf.math.log(p) + tf.math.log(1.0 - p))
grad = tape.gradient(loss, w)
""")
    assert finding.name == "log-of-zero"
    assert finding.verdict.kind == CONFIRMED
    assert finding.verdict.more == 1


@pytest.mark.parametrize(
    ("bad", "gradient", "gone"),
    [
        ("none", None, False), ("none", [1.0], True), ("none", [float("nan")], False),
        ("nan", [0.0], True), ("inf", [float("inf")], False), ("zero", [0.0, 0.0], False),
        ("zero", [0.0, 1e-9], True), ("exploding", [1e5], False), ("exploding", [1.0], True),
        ("vanishing", [1e-9], False), ("vanishing", [0.0], False), ("vanishing", [0.1], True),
    ],
)  # fmt: skip
def test_when_a_bad_state_is_gone(bad: str, gradient: list | None, gone: bool) -> None:
    assert counterfactual.gone(bad, gradient) is gone
