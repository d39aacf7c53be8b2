"""What of Keras is listened to: layers, their weights, and `predict`, which leaves the tape."""

from __future__ import annotations

import inspect
import sys
import weakref
from collections.abc import Callable
from threading import get_ident
from types import CodeType, FrameType
from typing import Any

from ...framework.lifetimes import Beside
from ..source.place import Place, at
from ..trace.training import Training
from . import ears
from .ears import NoEar
from .frames import TRAINERS, local, stack, user

BATCH = 32  # rows, when `fit` is not told how many


class KeptLayer:
    """Stands in the log for a layer or a model of Keras, so that it dies as without the doctor."""

    __slots__ = ("layer", "name", "where")

    def __init__(self, layer: Any, where: tuple[CodeType, int] | None) -> None:
        self.layer, self.name, self.where = weakref.ref(layer), layer.name, where


class Hearer:
    """The part of an engine that knows of Keras, and gives ears to functions."""

    PREDICT: int  # the first field of its raw event

    def __init__(self) -> None:
        self.log: list[tuple] = []
        self.notes: list[str] = []  # what cannot be listened to
        self.owners: dict[int, Any] = {}  # the variables of Keras, by the id of what they hold
        self.layers: dict[int, tuple] = {}  # where layers were made, by their id: a weak reference
        self.data: list[Any] = []  # what `fit` was given
        self.kept: Beside[Any, KeptLayer] = Beside()  # what the log holds of layers
        self.layer_call: CodeType | None = None  # Keras's code that calls a layer, and that
        self.add_weight: CodeType | None = None  # makes a variable for one
        self.listener: Any = None  # to trainings, see `training`
        self.steps: Any = None  # of optimizers, see `optimizers`
        self._undo: list[Callable[[], Any]] = []

    @property
    def trainings(self) -> list[Training]:
        """What is known of the models that were trained."""
        return [] if self.listener is None else list(self.listener.trainings.values())

    def plain(self, value: Any) -> Any:
        """The numbers of one of the engine's tensors or variables, as an array; None of others."""
        raise NotImplementedError

    def at(self, code: CodeType, offset: int) -> Place:
        """The place of an instruction, as the user wrote it."""
        return at(code, offset)

    def recorded(self, value: Any) -> Any:
        """The numbers of a tensor of a function that is just recorded, where it has some."""
        return None

    def sample(self, dataset: Any) -> Any:
        """Inputs, labels and the rows of a batch of a dataset that can be looked at without being
        iterated; None of others."""
        return None

    def listen(self, function: Any, **hooks: Any) -> None:
        """Give a function an ear until the end."""
        self._undo.append(ears.put(function, ears.Hooks(**hooks)))

    def begins(self, fit: dict[str, Any], frame: FrameType) -> Callable[[], None]:
        """`fit` is called with these arguments, from this frame; what this gives ends it."""
        given = [fit.get(name) for name in ("x", "y", "sample_weight")]
        data = [g for g in given if g is not None], fit.get("batch_size") or BATCH
        self.data.append(data)
        opened = None if self.listener is None else self.listener.trains("fit", fit, frame)

        def ends() -> None:
            self.data[:] = [other for other in self.data if other is not data]
            if self.listener is not None:
                self.listener.trained(opened)

        return ends

    def joins(self, model: Any, frame: FrameType | None) -> Callable[[], None]:
        """The same for a `fit` of a model that runs already, in or around this frame."""
        opened = self.listener.open[-1:] if self.listener is not None else []
        if opened and opened[0][1] is model:  # it was heard
            return lambda: self.listener and self.listener.trained(opened[0])
        while frame is not None:
            known = (frame.f_globals.get("__name__"), frame.f_code.co_name) == (TRAINERS, "fit")
            names, _, _, values = inspect.getargvalues(frame) if known else ([], None, None, {})
            if values.get("self") is model and frame.f_back is not None:
                return self.begins({name: values.get(name) for name in names}, frame.f_back)
            frame = frame.f_back
        return lambda: None

    def predicted(
        self, model: Any, name: str, x: Any, result: Any, frames: Any, *where: Any
    ) -> None:
        """A model was asked to predict; its results are arrays."""
        self.log.append((self.PREDICT, self.lasting_layer(model), name, x, result, frames, *where))

    def owner(self, variable: Any) -> Any:
        """The variable as the user knows it: Keras has its own, which hold the engine's."""
        known = self.owners.get(id(variable))
        found = None if known is None else known()
        return variable if found is None else found

    def layer_of_weight(self, frame: FrameType) -> Any:
        """The layer that a variable is just made for."""
        found = None if self.add_weight is None else local(frame, self.add_weight, "self")
        return self.lasting_layer(found)

    def lasting_layer(self, layer: Any) -> KeptLayer | None:
        """What the log may hold of a layer; of none, None."""
        if layer is None:
            return None
        known = self.kept.get(layer)
        if known is None:
            made = self.layers.get(id(layer))
            there = made is not None and made[0]() is layer
            known = KeptLayer(layer, made[1:] if made is not None and there else None)
            self.kept.put(layer, known)
        return known


def hook(engine: Any) -> None:
    """Listen to Keras, if it is on its TensorFlow backend."""
    import keras

    if keras.config.backend() != "tensorflow":
        return
    for what, part in (("layers", _layers), ("variables", _variables), ("predict", _predict),
                       ("fit", _fit), ("training", _training),
                       ("optimizers", _optimizers)):  # fmt: skip
        try:
            part(engine)
        except (ImportError, AttributeError, NoEar) as fault:
            engine.missing(f"{what} of Keras {keras.__version__}", fault)


def _layers(engine: Any) -> None:
    from keras.src.layers.layer import Layer

    engine.layer_call = inspect.unwrap(Layer.__call__).__code__
    engine.add_weight = inspect.unwrap(Layer.add_weight).__code__

    def made(told: Any, result: Any) -> Any:
        layer = told[0]
        if not engine.deaf and type(layer).__module__.startswith("keras."):
            place = user(sys._getframe(2))
            engine.layers[id(layer)] = weakref.ref(layer), place.f_code, place.f_lasti
        return result

    engine.listen(Layer.__init__, after=made)


def _variables(engine: Any) -> None:
    """A variable of Keras holds one of TensorFlow: users know the outer one."""
    from keras.src.backend.tensorflow.core import Variable

    def initialized(told: Any, result: Any) -> Any:
        engine.owners[id(told[0]._value)] = weakref.ref(told[0])
        return result

    engine.listen(Variable._initialize, after=initialized)


def _predict(engine: Any) -> None:
    from keras.src.backend.tensorflow.trainer import TensorFlowTrainer

    for name in ("predict", "predict_on_batch"):
        engine.listen(getattr(TensorFlowTrainer, name), after=_predicted(engine, name))


def _fit(engine: Any) -> None:
    """What `fit` is given is remembered: the batches themselves are made inside of a function."""
    from keras.src.backend.tensorflow.trainer import TensorFlowTrainer

    names = ears.parameters(TensorFlowTrainer.fit)

    def before(*values: Any) -> Callable[[], None]:
        fit = dict(zip(names, values, strict=True))
        ends: Callable[[], None] = engine.begins(fit, sys._getframe(2))
        return ends

    def after(ends: Callable[[], None], result: Any = None) -> Any:
        ends()
        return result

    engine.listen(TensorFlowTrainer.fit, before=before, after=after, failed=after)


def _training(engine: Any) -> None:
    from .training import hear

    hear(engine)


def _optimizers(engine: Any) -> None:
    from .optimizers import hear

    hear(engine)


def names_of(sources: list[Any]) -> tuple[str, list[str]]:
    """Of a tape that Keras opened: the user has no names for what it is asked."""
    words = [getattr(s, "path", None) or getattr(s, "name", None) for s in sources]
    return "loss", [word or f"source #{k + 1}" for k, word in enumerate(words)]


def _predicted(engine: Any, name: str) -> Any:
    def after(told: Any, result: Any) -> Any:
        frames = stack(sys._getframe(2))
        if not engine.deaf and frames:
            (code, offset) = frames[0]
            engine.predicted(told[0], name, told[1], result, frames, code, offset, get_ident())
        return result

    return after
