"""gradtape answers stored random programs as TensorFlow did; tests/tensorflow/fuzz makes more."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

import gradtape as tf
from tests.tensorflow.fuzz import apart, compare, coverage, interpret, known, render, store, worker
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


def test_every_family_and_op_is_drawn_or_has_a_reason() -> None:
    with coverage.counted_families() as drawn:
        programs = [generate(0, i) for i in range(1000)]
    assert all(drawn.values()), drawn
    with coverage.counted_ops() as applied:
        coverage.run(programs)
    missing = {name for name, count in applied.items() if not count}
    assert missing <= set(coverage.ABSENT), "draw them in fuzz/families.py, or say why not"


def test_documented_differences_have_a_name_and_a_sentence() -> None:
    assert len(set(known.NAMES)) == len(known.NAMES)
    for difference in known.DIFFERS:
        assert difference.sentence[0].isupper() or difference.sentence[0] == "`"
        assert difference.sentence.endswith(".")


def test_a_documented_difference_does_not_hide_another() -> None:
    program = generate(0, 0)
    error = {"raises": "NotFoundError", "bases": [], "message": "Could not find device for node"}
    wrong = {"raises": "ValueError", "bases": [], "message": ""}
    assert known.name(program, (), error, {"tuple": []}) == "no kernel"
    assert known.name(program, (), wrong, {"tuple": []}) is None
    assert known.name(program, (), {"tuple": []}, error) is None
    assert known.name(program, (1, 0), _number(1.0), _number(2.0)) is None


def test_a_difference_of_numbers_explains_no_error() -> None:
    wrong = {"raises": "ValueError", "bases": [], "message": ""}
    for op in ("tf.nn.relu({0})", "tf.nn.depthwise_conv2d({0}, {1})", "tf.sort({0})"):
        program = generate(0, 0)
        program["steps"].append({"to": "v99", "op": op, "of": [], "shape": [], "dtype": "float32"})
        assert known.name(program, (), wrong, {"tuple": []}) is None
        assert known.name(program, (), {"tuple": []}, wrong) is None


class Faulty:
    """gradtape with a cosine that is wrong."""

    def __getattr__(self, name: str) -> Any:
        return getattr(tf, name)

    @staticmethod
    def cos(x: Any) -> Any:
        return tf.cos(x) * 1.01


class Right:
    """Answers as the sound gradtape does, where TensorFlow is not at hand."""

    def answers(self, programs: Any) -> list[Any]:
        return [interpret.answer(program, tf) for program in programs]


def test_behind_a_documented_error_a_wrong_number_is_seen() -> None:
    drawn = (generate(0, i) for i in range(999))
    program = next(p for p in drawn if any(s["op"] == "tf.cos({0})" for s in p["steps"]))
    worker: Any = Right()
    assert apart.hidden(program, tf, worker) is None
    part, kind, _ = apart.hidden(program, Faulty(), worker) or ({}, "", "")
    assert kind == "value"
    assert _uses(part, "tf.cos")


def test_a_python_without_tensorflow_is_told_how_to_come_by_it(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nexit 1\n")
    python.chmod(0o755)
    with pytest.raises(SystemExit, match="pip install 'tensorflow-cpu"):
        worker.check(str(python))
    with pytest.raises(SystemExit, match="cannot be run"):
        worker.check(str(tmp_path / "none"))


def _number(value: float) -> Any:
    return {"tensor": "float32", "shape": [], "value": value}


def _uses(program: Any, name: str) -> bool:
    return any(name in step["op"] for step in program["steps"])
