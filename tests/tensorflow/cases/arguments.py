"""Every keyword argument of every function: value, gradient and second order in float64."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.tensorflow.cases._tables import ROWS, Of, Row, X, ask
from tests.tensorflow.harness import cases


def _label(given: dict[str, Any]) -> str:
    return ";".join(f"{key}={_short(value)}" for key, value in given.items()) or "nothing"


def _short(value: Any) -> str:
    if isinstance(value, X):
        return f"X{list(value.shape)}"
    if isinstance(value, Of):
        return "made"
    if isinstance(value, list):
        return f"[{','.join(_short(item) for item in value)}]"
    kind = type(value).__name__ if isinstance(value, np.ndarray | np.generic) else ""
    return kind + str(value).replace(" ", "")


def _calls() -> dict[str, tuple[Row, dict[str, Any]]]:
    return {
        f"{row.name},{_label(given)}": (row, given)
        for row in ROWS.values()
        for given in [{}, *row.variants]
    }


@cases(excuses=True, call=_calls())
def arguments(tf, call):
    row, given = call
    return ask(tf, row, {**row.args, **given}, row.dtype or "float64", row.order)
