"""Rules about what gradtape's own engine cannot meet: on traces made by hand.

The failing and cured programs of these rules run where that engine is.
"""

from __future__ import annotations

import linecache
from types import CodeType
from typing import Any

import numpy as np
import pytest

from gradtape.doctor.entry.session import examine
from gradtape.doctor.facts.case import Case, ErrorCase
from gradtape.doctor.rules import CATALOGUE
from gradtape.doctor.source.place import Place, at
from gradtape.doctor.trace import Answer, Event, Query, Tape, Trace, Value, Variable
from gradtape.doctor.trace.finding import Finding
from gradtape.doctor.trace.history import History

# The names are never defined: only the places of the expressions are wanted.
SOURCE = """\
h = actor(state)
q = critic.predict_on_batch(h)
loss = mean(q)
tape.gradient(loss, w)
"""


def _places(source: str) -> dict[str, Place]:
    """The calls of a program by their text."""
    name = f"<other engine {hash(source)}>"
    linecache.cache[name] = len(source), None, source.splitlines(keepends=True), name
    code: CodeType = compile(source, name, "exec")
    found = [at(code, offset) for offset in range(0, len(code.co_code), 2)]
    return {place.text: place for place in found}


def _traced(way: str, error: Exception | None = None) -> tuple[Trace, Query]:
    """w > matmul > (the way) > mean > loss, asked for the gradient of w."""
    where = _places(SOURCE)
    trace = Trace("another")
    variable = Variable(0, True, "w", where["actor(state)"])
    w, h, q, loss = (
        Value("variable" if k == 0 else "tensor", np.float32(k + 1.5)) for k in range(4)
    )
    w.variable = variable
    trace.values, trace.variables = [w, h, q, loss], [variable]
    tape = Tape(0, False, True, where["tape.gradient(loss, w)"], spans=[[0, 9.0]])
    trace.tapes = {0: tape}
    steps: list[tuple[str, str, Value, Value, str]] = [
        ("MatMul", "op", w, h, "actor(state)"),
        (way, way, h, q, "critic.predict_on_batch(h)"),
        ("Mean", "op", q, loss, "mean(q)"),
    ]
    for time, (kind, how, given, made, text) in enumerate(steps):
        event = Event(kind, kind.lower(), [given], [made], where[text], time, way=how)
        event.tapes = frozenset({0})
        event.pull = (lambda gs: [gs[0]]) if how == "op" else None
        given.users.append(event)
        made.maker = event
        trace.events.append(event)
    state = "none" if error is None else "error"
    answer = Answer(variable, "w", None, state=state)
    query = Query(
        tape,
        "gradient",
        [loss],
        "loss",
        [answer],
        where["tape.gradient(loss, w)"],
        9,
        1,
        error=error,
    )
    trace.queries.append(query)
    return trace, query


@pytest.mark.parametrize(
    ("way", "code"),
    [("predict", "GT110"), ("dataset", "GT109"), ("metric", "GT117"), ("frozen", "GT606")],
)
def test_a_way_that_no_tape_follows(way: str, code: str) -> None:
    (finding,) = examine(*_traced(way), History())
    assert (finding.code, finding.source, finding.target) == (code, "w", "loss")
    assert finding.place is not None
    assert finding.place.line == 2
    assert finding.message
    assert finding.fix


def test_predict_is_called_by_its_name() -> None:
    (finding,) = examine(*_traced("predict"), History())
    assert "`critic.predict_on_batch` returns a NumPy array" in finding.message
    assert finding.fix == "call the model itself, `critic(...)`"


def _error(error: Exception) -> Finding | None:
    trace, query = _traced("op")
    case = ErrorCase(trace, History(), error, query.place)
    found = [f for rule in CATALOGUE if (f := rule.examine_error(case)) is not None]
    return found[0] if found else None


class InaccessibleTensorError(Exception):
    """As TensorFlow calls it."""


def test_a_tensor_that_left_its_graph() -> None:
    for error in (
        InaccessibleTensorError("out of scope"),
        TypeError("<tf.Tensor 'mul:0'> is out of scope and cannot be used here (FuncGraph)"),
    ):
        finding = _error(error)
        assert finding is not None
        assert finding.code == "GT607"
    assert _error(TypeError("unsupported operand type(s)")) is None


def _keras(kind: str) -> Any:
    return type(kind, (), {"__module__": "keras.src.backend.variables"})()


def test_zeros_of_a_keras_variable() -> None:
    error = AttributeError("'Variable' object has no attribute 'handle'")
    trace, query = _traced("predict", error)
    query.zeros = True
    query.answers[0].source.owner = _keras("Variable")
    case = Case(trace, query, query.answers[0], History())
    rule = next(rule for rule in CATALOGUE if rule.code == "GT605")
    finding = rule.examine(case)
    assert finding is not None
    assert "zeros" in finding.message
    query.zeros = False
    assert rule.examine(case) is None
