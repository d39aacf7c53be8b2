"""What the events of a call that is computed again hold: of what is large, what is costly to have.

A graph lets its tensors go as it runs, and the log of what it did must not keep them all. Results
of products and convolutions are kept. Those of element-wise ops have a stand-in, and are computed
once more when they are asked for: from what is kept, in a few ops.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..gradtape.fading import LARGE, Faded, Fader
from .ops import CONSTANTS
from .values import measure, size

CHAIN = 6  # ops between what was let go and what it is computed from
# What takes much longer than to read its operands.
COSTLY = (
    "MatMul", "BatchMatMul", "Einsum", "Conv", "Depthwise", "FusedBatchNorm", "MaxPool", "AvgPool",
    "Cholesky", "MatrixInverse", "MatrixSolve", "Svd", "Qr", "SelfAdjointEig", "Eig", "FFT", "RFFT",
    "Gather", "Resize",
)  # fmt: skip
# What would give something else.
DRAWS = ("Random", "Iterator", "PyFunc", "EagerPyFunc", "Multinomial", "Normal", "ReadVariable")


class Thinner:
    """Lets results go, and knows them again where they are operands."""

    def __init__(self) -> None:
        self._fade = Fader(measure)
        self._chains: dict[Faded, int] = {}

    def standing(self, tensor: Any) -> Any:
        """What stands in the log for a tensor: itself, or what was put there for it."""
        return self._fade.known(tensor) or tensor

    def thinned(self, kind: str, given: Sequence[Any], results: Sequence[Any]) -> list[Any]:
        """The results of an op as the log holds them."""
        constant = kind in CONSTANTS or kind == "Fill"  # which the trace knows without an op
        if constant or any(word in kind for word in (*COSTLY, *DRAWS)):
            return list(results)
        if not any(size(t) >= LARGE for t in results):
            return list(results)
        chain = 1 + max((self._chains.get(t, 0) for t in given if t.__class__ is Faded), default=0)
        if chain > CHAIN:
            return list(results)
        made = [self._fade(t) if size(t) >= LARGE else t for t in results]
        self._chains.update((t, chain) for t in made if t.__class__ is Faded)
        return made
