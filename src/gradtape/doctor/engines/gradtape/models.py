"""What gradtape's adapter hears of Keras: layers, their weights, metrics, and predictions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....autodiff.tape import acting
from ....compile.traced import Recorded, untraced
from ....core.place import is_ours, stand_ins
from ....framework.tensor import Tensor
from ....framework.variable import Variable
from ..arrivals import Arrival
from ..frames import METRICS
from ..keras import Hearer, hook

PREDICT = 15  # the first field of a raw event
# Steps of a dataset that hand on the rows that they are given.
PASSES = ("Batch", "Shuffle", "Prefetch", "Cache", "Repeat", "WithOptions", "Rebatch")


class Models(Hearer):
    """The part of an engine that knows of Keras; `engines.keras` says what is listened to."""

    PREDICT = PREDICT

    def hear_models(self) -> None:
        """Listen to Keras as soon as it is there."""
        arrival = Arrival("keras", lambda: hook(self))
        arrival.await_it()
        self._undo.append(arrival.forget)

    def missing(self, what: str, fault: BaseException) -> None:
        self.notes.append(
            f"The doctor cannot listen to {what} ({fault}): what passes there is not seen."
        )

    # --- what it is given -----------------------------------------------------------------------
    def plain(self, value: Any) -> Any:
        if isinstance(value, Variable):
            return np.asarray(value._outside())
        return np.asarray(value._value) if value.__class__ is Tensor else None

    def recorded(self, value: Any) -> Any:
        array = untraced(value._value) if value.__class__ is Recorded else None
        return array if isinstance(array, np.ndarray) else None

    def sample(self, dataset: Any) -> Any:
        from ....data.sources import Slices

        node, rows = getattr(dataset, "_node", None), None
        while node is not None and not isinstance(node, Slices):
            kind = type(node).__name__
            rows = node._size if kind == "Batch" else rows
            node = node.before if kind in PASSES else None
        parts = node.spec() if isinstance(node, Slices) else None
        if node is None or not isinstance(parts, tuple):
            return None
        if len(parts) != 2 or len(node._leaves) != 2:
            return None
        return *map(self.plain, node._leaves), rows

    # --- whose it is ------------------------------------------------------------------------------
    def located(self, frame: Any) -> tuple[Any, Any]:
        """The innermost frame of the user's, as `caller`, and the layer that was called on the way
        from there."""
        layer, call = None, self.layer_call
        while is_ours(frame.f_globals.get("__package__")) and (back := frame.f_back):
            code = frame.f_code
            if id(code) in stand_ins:
                spot = frame.f_locals["spot"]
                if layer is None:
                    return spot, _of_loop(frame, spot)
                return spot, self.lasting_layer(layer)
            if layer is None and code is call:
                layer = frame.f_locals.get("self")
            frame = back
        return frame, self.lasting_layer(layer)

    def measures(self, frame: Any) -> bool:
        """Does a metric of Keras store something?"""
        if self.layer_call is None:
            return False
        while is_ours(frame.f_globals.get("__package__")) and (back := frame.f_back):
            if (frame.f_globals.get("__name__") or "").startswith(METRICS):
                return True
            frame = back
        return False


def _of_loop(frame: Any, spot: Any) -> Any:
    """The layer of the loop whose steps are played below this frame, as the log holds it, for an op
    at a spot. What the user wrote, as a cell's `call`, is called by the layer and no part of it."""
    while is_ours(frame.f_globals.get("__package__")) and (back := frame.f_back):
        if "layer_of_loop" in frame.f_code.co_varnames:
            own = frame.f_locals["spot"].f_code is spot.f_code
            return frame.f_locals["layer_of_loop"] if own else None
        frame = back
    return None


def held(thing: Any) -> Any:
    """gradtape's variable that one of Keras's stands for; everything else itself."""
    return thing.value if acting(thing) and not isinstance(thing, Variable) else thing
