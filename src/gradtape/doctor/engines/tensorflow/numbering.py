"""TensorFlow's own numbering goes on as if the doctor had computed nothing.

Tensors, graphs and functions are numbered by one counter, and the numbers are a part of names: of
`__inference_step_231` in a SavedModel. What the doctor uses up is taken off, and what it makes
itself is numbered from far above. Tensors keep the counter's own numbers: tapes know them by these,
and tensors of eager code are numbered where nothing can be taken off.
"""

from __future__ import annotations

import sys
from threading import Lock
from types import CodeType
from typing import Any

ABOVE = 1 << 40


class Numbering:
    """How many numbers the doctor has used up."""

    def __init__(self, draw: Any, tensors: CodeType) -> None:
        self.tensors = tensors  # what numbers the tensors of graphs
        self.draw = draw  # the counter itself: every look at it uses up one more
        self.used = 1  # by the look of the next line
        self.last = draw() - 1  # that was given out
        self.begun: int | None = None  # where the doctor began to compute; None when it does not
        self.lock = Lock()

    def own(self, begins: bool) -> None:
        """The doctor begins to compute, or ends."""
        if begins:
            self.begun = self.draw()
        elif self.begun is not None:
            self.used += self.draw() - self.begun + 1
            self.begun = None

    def next(self) -> int:
        """The number that the program gets, or the doctor."""
        drawn: int = self.draw()
        if sys._getframe(2).f_code is self.tensors:  # below it stands TensorFlow's `uid`
            return drawn
        if self.begun is not None:
            return drawn + ABOVE
        with self.lock:
            # Other threads may have drawn meanwhile: no number comes twice, whatever was counted.
            self.last = max(drawn - self.used, self.last + 1)
            return self.last


def hook(engine: Any) -> None:
    """Listen to the counter."""
    from tensorflow.python import pywrap_tfe
    from tensorflow.python.framework import ops

    draw = pywrap_tfe.TFE_Py_UID  # a function of C's, which no ear can be put into
    engine.numbering = Numbering(draw, ops.SymbolicTensor.__new__.__code__)
    pywrap_tfe.TFE_Py_UID = engine.numbering.next
    engine.at_end(lambda: setattr(pywrap_tfe, "TFE_Py_UID", draw))


def unnumbered(engine: Any, count: int) -> None:
    """So many tensors were made in the program's own call that it did not ask for."""
    if engine.numbering is not None:
        engine.numbering.used += count
