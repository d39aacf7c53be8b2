"""Of families of cases that a table makes by the thousand, one case of each kind.

A kind is a function of TensorFlow's, what is asked of it, and what came: the exception's type, or
the sort of dtype of the results and of the gradients, and whether they are empty. Which case stands
for its kind is drawn by its id: so it stays the same, and all dtypes and shapes have their turn.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Mapping
from typing import Any

from tests.tensorflow.harness import Case

FAMILIES = ("argument_dtypes", "argument_shapes", "bad_arguments")
_SORT = re.compile(r"[a-z]+")  # float32 and float64 are one sort


def thinned(cases: Iterable[Case], stored: Mapping[str, Any]) -> list[Case]:
    """Those of the cases that show a kind of answer which none before them shows."""
    kept, known = set(), set()
    several = list(cases)
    for case in sorted(several, key=lambda case: zlib.crc32(case.id.encode())):
        kinds = {
            (case.call.__name__, function(case), one) for one in _outcomes(stored.get(case.id))
        }
        if not kinds <= known:
            known |= kinds
            kept.add(case.id)
    return [case for case in several if case.id in kept]


def function(case: Case) -> str:
    """The name of the function that a case of a table asks."""
    row = case.params["op"]
    return (row[0] if isinstance(row, tuple) else row).name


def _outcomes(answer: Any) -> list[Any]:
    """What came of a call, or of each of several, of which only the failing ones are told apart."""
    if isinstance(answer, dict) and "dict" in answer:
        several = [_outline(one) for _, one in answer["dict"]]
        return [one if isinstance(one, str) else "an answer" for one in several]
    return [_outline(answer)]


def _outline(answer: Any) -> Any:
    """An answer without its numbers."""
    if isinstance(answer, list):
        return tuple(map(_outline, answer))
    if not isinstance(answer, dict):
        return type(answer).__name__
    if "raises" in answer:
        return answer["raises"]
    if "shape" in answer:
        kind, dtype = next(iter(answer.items()))
        return kind, _SORT.findall(dtype)[0], 0 in answer["shape"]
    return tuple((key, _outline(value)) for key, value in answer.items())
