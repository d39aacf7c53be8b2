"""GT208 degenerate-spectrum: eigenvectors or singular vectors that belong to equal values."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....traits import Family
from ...facts import changes
from ...facts.case import Case
from ...facts.zeros import nothing
from ...trace import Event, Value
from ...trace.finding import Finding
from ..base import Rule


class DegenerateSpectrum(Rule):
    code, name = "GT208", "degenerate-spectrum"
    states = frozenset({"zero", "nan", "inf", "exploding", "ok"})
    title = "eigenvectors or singular vectors of equal values have no derivative"
    lesson = """\
The derivative of an eigenvector divides by the distance of its eigenvalue to the others. Where two
are equal, any rotation of their vectors is as good, so there is no derivative: the result is 0,
huge or NaN, by rounding. The values themselves, and whatever does not depend on the choice of
vectors, still have one. Add a little to the diagonal that makes the values differ, or use the
values only."""
    failing = """\
a = tf.Variable([[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 5.0]])
with tf.GradientTape() as tape:
    values, vectors = tf.linalg.eigh(a)
    loss = tf.reduce_sum(vectors[:, 0] * tf.constant([1.0, 2.0, 3.0]))
grad = tape.gradient(loss, a)
"""
    cured = """\
a = tf.Variable([[2.0, 0.0, 0.0], [0.0, 3.0, 0.0], [0.0, 0.0, 5.0]])
with tf.GradientTape() as tape:
    values, vectors = tf.linalg.eigh(a)
    loss = tf.reduce_sum(vectors[:, 0] * tf.constant([1.0, 2.0, 3.0]))
grad = tape.gradient(loss, a)
"""
    ignore = "When the loss is the same for every choice of the vectors."

    def examine(self, case: Case) -> Finding | None:
        makers = case.question.makers
        for event in case.question.once(
            self, lambda: [e for e in makers if e.is_a(Family.SPECTRA)][::-1]
        ):
            if event not in case.question.passed or not case.leads_to(*event.inputs):
                continue
            values = _values(event)
            used = [
                o
                for o in event.outputs
                if o is not values and not nothing(case.walk.cotangents.get(o))
            ]
            pair = None if values is None or not used else _equal(values)
            if pair is None or not self._matters(case, event):
                continue
            return case.finding(
                self, event.place,
                f"`{event.place.text}` has equal values ({pair[0]:.6g} and {pair[1]:.6g}), and the "
                "derivative of their vectors divides by the difference.",
                "make the values differ (add a small diagonal of different numbers), or use the "
                "values only",
                event=event, change=_apart(event),
                state="wrong" if case.answer.state == "ok" else case.answer.state,
                sure=case.answer.state != "ok",
            )  # fmt: skip
        return None

    def _matters(self, case: Case, event: Event) -> bool:
        """Is the fault to be seen here: in the state of the answer, or in what arrived?"""
        if case.answer.state in ("nan", "inf"):
            fault = case.fault
            return fault is not None and fault.event is event
        if case.answer.state == "exploding":
            sent = max((_top(p) for p in case.walk.passed[event] if p is not None), default=0.0)
            came = max((_top(case.walk.cotangents.get(o)) for o in event.outputs), default=0.0)
            return sent > 1e3 * came
        return _turned(event, case)


def _apart(event: Event) -> changes.Change:
    """The matrix with a small diagonal of different numbers."""
    matrix = event.inputs[0]
    array = np.asarray(matrix.array)
    rows = np.arange(1, min(array.shape[-2:]) + 1)
    size = max(float(np.abs(array).max()), 1e-3) if array.size else 1.0
    more = np.zeros(array.shape[-2:])
    more[rows - 1, rows - 1] = 0.01 * size * rows
    return changes.set_value({matrix: array + more}, "a small diagonal of different numbers added")


def _values(event: Event) -> Value | None:
    """The output that holds the eigenvalues or singular values: one axis less than the matrix."""
    rank = len(event.inputs[0].shape)
    return next((o for o in event.outputs if len(o.shape) == rank - 1), None)


def _equal(values: Value) -> tuple[float, float] | None:
    """Two neighbouring values that are the same up to rounding."""
    array = np.asarray(values.array)
    tiny = 100 * float(np.finfo(array.real.dtype).eps)
    for row in array.reshape(-1, array.shape[-1]):
        ordered = np.sort(row.real) if array.dtype.kind != "c" else row
        gaps, size = np.abs(np.diff(ordered)), float(np.abs(row).max())
        if gaps.size and gaps.min() <= tiny * size:
            k = int(gaps.argmin())
            return float(ordered[k].real), float(ordered[k + 1].real)
    return None


def _turned(event: Event, case: Case) -> bool:
    """Does the target hang on the choice of the vectors of equal values? Turn a pair and see."""
    values = _values(event)
    for vectors in event.outputs:
        g: Any = case.walk.cotangents.get(vectors)
        if values is None or vectors is values or nothing(g) or np.ndim(g) < 2:
            continue
        v, derivatives = np.asarray(vectors.array), np.asarray(g)
        rows = np.asarray(values.array)
        tiny = 100 * float(np.finfo(rows.real.dtype).eps) * float(np.abs(rows).max())
        for i in range(rows.shape[-1]):
            for j in range(i + 1, rows.shape[-1]):
                if not (np.abs(rows[..., i] - rows[..., j]) <= tiny).any():
                    continue
                if max(i, j) >= v.shape[-1]:
                    continue
                change = np.sum(derivatives[..., i] * v[..., j] - derivatives[..., j] * v[..., i])
                if abs(change) > 1e-4 * float(np.abs(derivatives).max()):
                    return True
    return False


def _top(array: Any) -> float:
    return 0.0 if array is None or not np.size(array) else float(np.abs(np.asarray(array)).max())


RULE = DegenerateSpectrum()
