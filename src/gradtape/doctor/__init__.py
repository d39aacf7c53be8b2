"""The doctor: says for every gradient that is missing or wrong why, where, and what to change.

`gradtape doctor script.py` looks at a whole program, `watch` at a part of one, and
`tape.explain(target, sources)` at one question.
"""

from .entry.watch import watch
from .report import Report

__all__ = ["Report", "watch"]
