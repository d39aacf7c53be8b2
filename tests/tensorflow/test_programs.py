"""gradtape answers stored random programs as TensorFlow did; tests/tensorflow/fuzz makes more."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

import gradtape as tf
from tests.tensorflow.fuzz import (
    apart,
    compare,
    coverage,
    interpret,
    known,
    order,
    render,
    store,
    wild,
    worker,
)
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


@pytest.mark.parametrize("distribution", wild.DISTRIBUTIONS)
def test_wild_programs_are_python_and_come_again(distribution: str) -> None:
    for index in range(30):
        program = wild.generate(3, index, distribution)
        assert program == wild.generate(3, index, distribution)
        compile(render.script(program), "program", "exec")


class Checking:
    """A library with one function, which checks its two arguments in the order that it is told."""

    def __init__(self, *order: str) -> None:
        self.order = order

    def check(self, a: Any, b: Any) -> int:
        for name in self.order:
            if name == "a" and a != 1:
                raise TypeError("a must be 1")
            if name == "b" and b != 1:
                raise ValueError("b must be 1")
        return 1

    def answers(self, programs: Any) -> list[Any]:
        return [interpret.answer(program, self) for program in programs]

    def __getattr__(self, name: str) -> Any:
        return getattr(tf, name)


def _checked(a: str, b: str) -> Any:
    given = {"a": {"code": a}, "b": {"code": b}}
    step = {"to": "v0", "op": "tf.check({a}, b={b})", "of": [], "with": given}
    scenario = {"kind": "gradient", "watch": [], "queries": []}
    step |= {"shape": [], "dtype": "?"}
    return {"id": "checked", "inputs": [], "steps": [step], "scenario": scenario}


def test_two_faults_in_another_order_are_told_from_one_that_is_reported_otherwise() -> None:
    theirs, ours = Checking("a", "b"), Checking("b", "a")
    both, one = _checked("9", "9"), _checked("9", "1")
    worker: Any = theirs
    errors = [interpret.answer(both, library) for library in (theirs, ours)]
    assert [error["raises"] for error in errors] == ["TypeError", "ValueError"]
    assert order.only(both, *errors, ours, worker)
    expected = interpret.answer(one, theirs)
    assert not order.only(one, expected, {**expected, "raises": "IndexError"}, ours, worker)


def test_an_accident_of_tensorflows_excuses_no_answer_and_no_stumble() -> None:
    program = _checked("1", "1")
    accident = {"raises": "IndexError", "bases": [], "message": "list index out of range"}
    check = {"raises": "ValueError", "bases": [], "message": "x must have axes"}
    assert known.name(program, (), accident, check) == "accidents"
    assert known.name(program, (), accident, {"tuple": []}) is None
    assert known.name(program, (), accident, accident) is None
    assert known.name(program, (), check, {**check, "raises": "TypeError"}) is None


def test_shrinking_keeps_what_differs_and_little_else() -> None:
    from tests.tensorflow.fuzz.shrink import shrink

    program = next(p for p in (generate(0, i) for i in range(99)) if _uses(p, "tf.sin"))

    def differing(candidates: list[Any]) -> int | None:
        return next((i for i, p in enumerate(candidates) if _uses(p, "tf.sin")), None)

    assert len(shrink(program, differing)["steps"]) <= 2


def test_every_family_and_op_is_drawn_or_has_a_reason() -> None:
    with coverage.counted_families() as drawn, coverage.counted_ops() as applied:
        for at in range(0, 1000, 50):
            coverage.run([generate(0, i) for i in range(at, at + 50)])
            missing = {name for name, count in applied.items() if not count}
            if missing <= set(coverage.ABSENT) and all(drawn.values()):
                break
    assert all(drawn.values()), drawn
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


def test_texts_that_differ_are_a_difference_and_no_numbers() -> None:
    program = _checked("1", "1")
    texts = [{"tensor": "string", "shape": [1], "value": [word]} for word in ("", "a")]
    assert known.numbers(texts[0]).size == 0
    assert known.name(program, (0, 0), *texts) is None
