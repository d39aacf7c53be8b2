"""What gradtape's adapter hears of Keras: layers, their weights, metrics, and predictions."""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

from ....autodiff.tape import acting
from ....core.place import is_ours, stand_ins
from ....framework.variable import Variable
from .. import ears
from ..arrivals import Arrival
from ..frames import METRICS, local
from ..keras import hook

PREDICT = 15  # the first field of a raw event


class Models:
    """The part of an engine that knows of Keras; `engines.keras` says what is listened to."""

    def __init__(self) -> None:
        self.log: list[tuple] = []
        self.notes: list[str] = []  # what cannot be listened to
        self.owners: dict[int, Any] = {}  # the variables of Keras, by the id of what they hold
        self.layers: dict[int, tuple] = {}  # where layers were made, by their id: a weak reference
        self.data: list[Any] = []  # what `fit` was given
        self.layer_call: CodeType | None = None  # Keras's code that calls a layer, and that
        self.add_weight: CodeType | None = None  # makes a variable for one
        self._undo: list[Callable[[], Any]] = []

    def hear_models(self) -> None:
        """Listen to Keras as soon as it is there."""
        arrival = Arrival("keras", lambda: hook(self))
        arrival.await_it()
        self._undo.append(arrival.forget)

    def listen(self, function: Any, **hooks: Any) -> None:
        """Give a function an ear until the end."""
        self._undo.append(ears.put(function, ears.Hooks(**hooks)))

    def missing(self, what: str, fault: BaseException) -> None:
        self.notes.append(
            f"The doctor cannot listen to {what} ({fault}): what passes there is not seen."
        )

    def predicted(
        self, model: Any, name: str, x: Any, result: Any, frames: Any, *where: Any
    ) -> None:
        """A model was asked to predict; its results are arrays."""
        self.log.append((PREDICT, model, name, x, result, frames, *where))

    # --- whose it is ------------------------------------------------------------------------------
    def owner(self, variable: Any) -> Any:
        """The variable as the user knows it: Keras has its own, which hold gradtape's."""
        known = self.owners.get(id(variable))
        found = None if known is None else known()
        return variable if found is None else found

    def layer_of_weight(self, frame: FrameType) -> Any:
        """The layer that a variable is just made for."""
        return None if self.add_weight is None else local(frame, self.add_weight, "self")

    def located(self, frame: Any) -> tuple[Any, Any]:
        """The innermost frame of the user's, as `caller`, and the layer that was called on the way
        from there."""
        layer, call = None, self.layer_call
        while is_ours(frame.f_globals.get("__package__")) and (back := frame.f_back):
            code = frame.f_code
            if id(code) in stand_ins:
                spot = frame.f_locals["spot"]
                return spot, layer
            if layer is None and code is call:
                layer = frame.f_locals.get("self")
            frame = back
        return frame, layer

    def measures(self, frame: Any) -> bool:
        """Does a metric of Keras store something?"""
        if self.layer_call is None:
            return False
        while is_ours(frame.f_globals.get("__package__")) and (back := frame.f_back):
            if (frame.f_globals.get("__name__") or "").startswith(METRICS):
                return True
            frame = back
        return False


def held(thing: Any) -> Any:
    """gradtape's variable that one of Keras's stands for; everything else itself."""
    return thing.value if acting(thing) and not isinstance(thing, Variable) else thing
