"""gradtape answers stored random programs as TensorFlow did; tests/tensorflow/fuzz makes more."""

from __future__ import annotations

import logging
from typing import Any

import pytest

import gradtape as tf
from tests.tensorflow.fuzz import compare, interpret, render, store
from tests.tensorflow.fuzz.generate import generate

STORED = store.read()


@pytest.mark.parametrize("id", STORED)
def test_program(id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging.getLogger("gradtape"), "disabled", True)
    program, expected = STORED[id]
    difference = compare.mismatch(program, expected, interpret.answer(program, tf))
    if difference:
        pytest.fail(f"{difference}\n\n{render.script(program)}", pytrace=False)


def test_a_seed_gives_the_same_program_again() -> None:
    assert generate(3, 14) == generate(3, 14)
    assert generate(3, 14) != generate(3, 15)


def test_shrinking_keeps_what_differs_and_little_else() -> None:
    from tests.tensorflow.fuzz.shrink import shrink

    program = next(p for p in (generate(0, i) for i in range(99)) if _uses(p, "tf.sin"))

    def differing(candidates: list[Any]) -> int | None:
        return next((i for i, p in enumerate(candidates) if _uses(p, "tf.sin")), None)

    assert len(shrink(program, differing)["steps"]) <= 2


def _uses(program: Any, name: str) -> bool:
    return any(name in step["op"] for step in program["steps"])
