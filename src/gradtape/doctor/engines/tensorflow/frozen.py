"""Listens to graphs that take in tensors of Python's."""

from __future__ import annotations

import sys
from typing import Any

from ..frames import user
from ..frozen import found
from .autograph import original
from .engine import Engine
from .values import symbol


def hook(engine: Engine) -> None:
    """Listen to graphs taking in tensors."""
    from tensorflow.python.framework.func_graph import FuncGraph

    def before(self: Any, tensor: Any, *_: Any) -> None:
        if engine.deaf or engine.asking:
            return
        strange = symbol(tensor)
        # Nearly all are the graph's own, 21,000 of a Transformer: their frames do not matter.
        if strange and (_around(self, tensor.graph) or _derived(self)):
            return
        try:
            place = user(sys._getframe(2))
            if strange:
                engine.graphs.strange[repr(tensor)] = place.f_code, place.f_lasti
            elif hasattr(tensor, "_numpy"):
                own = found(tensor, place, *original(place.f_code, place.f_lasti))
                if own is not None:
                    engine.graphs.frozen.setdefault(id(tensor), own)
        except Exception as fault:
            engine.failed(fault)

    engine.listen(FuncGraph.capture, before=before)


def _derived(graph: Any) -> bool:
    """Is it one that TensorFlow makes of another, to take its gradient?"""
    return str(getattr(graph, "name", "")).startswith(("__forward_", "__backward_"))


def _around(graph: Any, other: Any) -> bool:
    """Is a graph, or one around it, another?"""
    while graph is not None and graph is not other:
        graph = getattr(graph, "outer_graph", None)
    return graph is not None
