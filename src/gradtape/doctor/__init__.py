"""The doctor: says for every gradient that is missing or wrong why, where, and what to change.

`gradtape doctor script.py` looks at a whole program, `watch` at a part of one, `Callback` at the
training of a Keras model, and `tape.explain(target, sources)` at one question.
"""

from typing import TYPE_CHECKING
from typing import Any as _Any

from .entry.watch import watch
from .report import Report

if TYPE_CHECKING:
    from .entry.callback import FaultFound

    Callback: _Any

__all__ = ["Report", "watch"]


def __getattr__(name: str) -> _Any:
    if name in ("Callback", "FaultFound"):  # Keras is imported for it
        from .entry import callback

        return callback.callback() if name == "Callback" else callback.FaultFound
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), "Callback", "FaultFound"])
