"""Large programs say the same eagerly, on NumPy and as machine code of any number of threads; a few
of those that `python -m tests.tensorflow.fuzz --distribution large` draws."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("llvmlite")
import gradtape as tf
from tests.tensorflow.fuzz import large, wide

SAMPLE = [13, 19, 49, 58]


@pytest.mark.parametrize("index", SAMPLE)
def test_large_programs(index: int) -> None:
    program = large.draw(0, index)
    kind, words = large.judge(program, tf)
    if kind not in large.FINE:
        pytest.fail(f"{kind}: {words}\n\n{wide.script(program)}", pytrace=False)


def test_large_programs_are_large_and_come_again() -> None:
    programs = [large.draw(3, index) for index in range(60)]
    assert programs == [large.draw(3, index) for index in range(60)]
    lengths = [len(program["steps"]) for program in programs]
    assert (min(lengths), max(lengths)) >= (6, 20)
    assert max(lengths) <= 28
    assert any(program["updates"] for program in programs)
    assert {program["dtype"] for program in programs} == {"float32", "float64"}
    for program in programs:
        compile(wide.script(program), "program", "exec")


class Faulty:
    """gradtape of which one function gives another loss from its fourth call on."""

    def __init__(self, side: str, factor: float) -> None:
        self.side, self.factor, self.functions = [*large.SIDES].index(side), factor, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(tf, name)

    def function(self, body: Any) -> Any:
        function, number, calls = tf.function(body), self.functions, 0
        self.functions += 1

        def changed(*args: Any) -> Any:
            nonlocal calls
            calls += 1
            loss, *others = function(*args)
            return [loss * self.factor if calls > 3 and number == self.side else loss, *others]

        return changed


@pytest.mark.parametrize(
    ("side", "factor", "kind"),
    [
        ("NumPy", 1.002, "value"), ("one thread", 1.002, "bits"), ("3 threads", 1.000001, "bits"),
        ("automatic", 1.002, "value"),
    ],
)  # fmt: skip
def test_faults_of_large_programs_are_seen(side: str, factor: float, kind: str) -> None:
    found, words = large.judge(large.draw(0, SAMPLE[0]), Faulty(side, factor))
    assert found == kind
    assert words.startswith("call 3, ")
    assert "loss differs in 1 of 1 numbers" in words
