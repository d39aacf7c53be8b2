"""Gradients that a later operation cancels, on the real TensorFlow: the same as on gradtape."""

from __future__ import annotations

import pytest

from ..test_cancelled import PROGRAMS, reasons
from .running import diagnosed, needs_tensorflow, on_tensorflow  # noqa: F401

pytestmark = [*needs_tensorflow, pytest.mark.usefixtures("on_tensorflow")]


@pytest.mark.parametrize(("program", "wanted"), PROGRAMS)
def test_the_table_names_the_operation_that_removes_a_source(
    program: str, wanted: list[str]
) -> None:
    session = diagnosed(program)
    assert reasons(session) == wanted
    assert not session.findings or not wanted
