"""An engine of another framework: what docs/design.md asks of one is enough for a diagnosis."""

from __future__ import annotations

import pytest

from gradtape.doctor.engines import protocol
from tests.doctor.programs import diagnose

POLE = """\
import numpy as np
from tests.doctor import toy
np.seterr(all="ignore")
w = toy.Number([0.0, 1.0])
scaled = toy.mul(w, toy.Number([2.0, 2.0]))
loss = toy.log(scaled)
grad = toy.gradient(loss, w)
"""
STAIRCASE = """\
from tests.doctor import toy
w = toy.Number([1.5])
steps = toy.floor(w)
loss = toy.mul(steps, steps)
grad = toy.gradient(loss, w)
"""
HEALTHY = """\
from tests.doctor import toy
w = toy.Number([1.5])
loss = toy.log(toy.mul(w, w))
grad = toy.gradient(loss, w)
"""


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(protocol.MODULES, "toy", "tests.doctor.toy_engine")


def test_a_pole() -> None:
    session = diagnose(POLE, "toy")
    (finding,) = session.findings.values()
    assert (finding.code, finding.place.line, finding.state) == ("GT304", 6, "inf")
    assert session.history.states == {"inf": 1}


def test_an_op_without_a_derivative() -> None:
    (finding,) = diagnose(STAIRCASE, "toy").findings.values()
    assert (finding.code, finding.place.line, finding.state) == ("GT128", 3, "none")


def test_a_healthy_program() -> None:
    session = diagnose(HEALTHY, "toy")
    assert list(session.findings) == []
    assert session.history.states == {"ok": 1}
