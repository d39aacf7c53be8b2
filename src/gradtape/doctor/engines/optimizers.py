"""What is heard of the optimizers and normalisations of Keras: where they were made, and how they
are called. What the weights were before the first step is kept as a few numbers of each."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Iterable, Iterator
from contextlib import suppress
from types import FrameType
from typing import Any

import numpy as np

from ..source.place import Place, at
from ..trace.training import Normalisation, Optimisation
from .frames import TRAINERS, foreign

SAMPLE = 64  # numbers of a variable that are compared
MOST = 512  # variables of an optimizer that are looked at
ENDS = ("train_step", "test_step", "predict_step", "one_step_on_data")
TRACES = "tensorflow.python.eager.polymorphic_function"
LOOKS = 64  # calls of a normalisation that are looked at


class Steps:
    """Hears of optimizers, and of batch normalisation."""

    def __init__(self, engine: Any) -> None:
        self.engine = engine
        self.made: dict[int, tuple[Any, Place]] = {}
        self.optimizers: dict[int, tuple[Any, Optimisation, list[tuple[Any, np.ndarray]]]] = {}
        self.normalised: dict[int, tuple[Any, Normalisation]] = {}

    # --- optimizers -------------------------------------------------------------------------------
    def created(self, told: Any, result: Any) -> Any:
        optimizer, place = told[0], nearest(sys._getframe(2))
        if not self.engine.deaf and place is not None:
            self.made[id(optimizer)] = weakref.ref(optimizer), place
        return result

    def applied(self, optimizer: Any, grads: Any, variables: Any = None, *rest: Any) -> None:
        known = self.optimizers.get(id(optimizer))
        # A variable that a function makes has no numbers while that is traced for the first time.
        if self.engine.deaf or (known is not None and known[0]() is optimizer and known[2]):
            return
        with suppress(Exception):  # optimizers of any kind
            own = self.made.get(id(optimizer))
            made = own[1] if own is not None and own[0]() is optimizer else None
            found = Optimisation(type(optimizer).__name__, made, nearest(sys._getframe(2)))
            trained = list(variables or optimizer._trainable_variables)[:MOST]
            found.variables = set(keys(trained))
            start = [(weakref.ref(v), self._sampled(v)) for v in trained]
            sound = [(reference, array) for reference, array in start if array is not None]
            self.optimizers[id(optimizer)] = weakref.ref(optimizer), found, sound

    def _sampled(self, variable: Any) -> Any:
        array = self.engine.plain(getattr(variable, "_value", variable))
        if array is None or array.dtype.kind != "f" or not array.size:
            return None
        return np.array(array.ravel()[:: max(1, array.size // SAMPLE)], np.float64)

    @property
    def known(self) -> list[Optimisation]:
        """The optimizers that took steps."""
        return [known for _, known, _ in self.optimizers.values()]

    def measure(self) -> None:
        """See how far the weights have come, and what the normalisations remember."""
        for reference, known, start in self.optimizers.values():
            optimizer = reference()
            if optimizer is not None:
                with suppress(Exception):
                    self._measure(known, optimizer, start)
        for reference, normalisation in self.normalised.values():
            layer = reference()
            if layer is not None and normalisation.off and not normalisation.on:
                with suppress(Exception):
                    mean = self.engine.plain(layer.moving_mean._value)
                    variance = self.engine.plain(layer.moving_variance._value)
                    normalisation.fresh = bool((mean == 0).all() and (variance == 1).all())

    def _measure(self, known: Optimisation, optimizer: Any, start: list) -> None:
        steps = self.engine.plain(optimizer.iterations._value)
        known.steps = 0 if steps is None else int(steps)
        inner = getattr(optimizer, "inner_optimizer", optimizer)  # of one that scales the loss
        array = self.engine.plain(getattr(inner._learning_rate, "_value", None))
        known.rate = None if np.size(array) != 1 or array is None else float(array)
        known.moves = []
        for reference, before in start:
            variable = reference()
            now = None if variable is None else self._sampled(variable)
            size = float(np.abs(before).mean())
            if now is not None and now.shape == before.shape and size > 0:
                known.moves.append((size, float(np.abs(now - before).max())))

    # --- normalisation ----------------------------------------------------------------------------
    def normalises(self, layer: Any, inputs: Any, training: Any = None, *rest: Any) -> None:
        if self.engine.deaf:
            return
        with suppress(Exception):
            known = self.normalised.get(id(layer))
            if known is None or known[0]() is not layer:
                known = weakref.ref(layer), Normalisation(str(layer.name), self._layer(layer))
                self.normalised[id(layer)] = known
            self._called(known[1], layer, inputs, training, sys._getframe(2))

    def _called(
        self, known: Normalisation, layer: Any, inputs: Any, training: Any, frame: FrameType
    ) -> None:
        shape = tuple(inputs.shape)
        if inputs.__class__.__name__ == "KerasTensor":
            return  # a model is put together, nothing is computed
        on = training is True or training == 1
        before = known.off
        if on and layer.trainable:
            known.on += 1
            known.alone += len(shape) == 2 and shape[0] == 1
            if known.alone and known.place is None:
                known.place = called_at(frame)
        elif training is None or training is False or training == 0 or not layer.trainable:
            known.off += 1
            if known.off <= LOOKS and not known.within:
                known.frozen = bool(on and not layer.trainable)
                known.within, known.where = _in_fit(frame), called_at(frame)
        else:
            known.on += 1  # a tensor, of which nothing is known
        known.last = known.off == before
        gamma = layer.gamma if layer.gamma is not None else layer.beta
        known.weight = None if gamma is None else id(gamma)

    def is_off(self, layer: Any) -> bool:
        """Was a normalisation called last with what it remembers?"""
        known = self.normalised.get(id(layer))
        return known is not None and known[0]() is layer and not known[1].last

    @property
    def normalisations(self) -> list[Normalisation]:
        """The layers that normalise batches."""
        return [known for _, known in self.normalised.values()]

    def _layer(self, layer: Any) -> Place | None:
        known = self.engine.layers.get(id(layer))
        return at(*known[1:]) if known is not None and known[0]() is layer else None


def hear(engine: Any) -> None:
    """Listen to the steps that optimizers of Keras take, and to what normalises batches."""
    from keras.src.layers.normalization.batch_normalization import BatchNormalization
    from keras.src.optimizers.base_optimizer import BaseOptimizer

    steps = engine.steps = Steps(engine)
    engine.listen(BaseOptimizer.__init__, after=steps.created)
    engine.listen(BaseOptimizer.apply, before=steps.applied)
    engine.listen(BatchNormalization.call, before=steps.normalises)


def keys(variables: Iterable[Any]) -> Iterator[int]:
    """The ids of variables of Keras's, and of what they hold."""
    for variable in variables:
        yield from (id(variable), id(getattr(variable, "_value", variable)))


def nearest(frame: FrameType | None) -> Place | None:
    """The user's innermost place."""
    while frame is not None and foreign(frame):
        frame = frame.f_back
    return None if frame is None else at(frame.f_code, frame.f_lasti)


def called_at(frame: FrameType | None) -> list[Place]:
    """Where the user calls layers, from the innermost to the one that is called by the training:
    a frame of the user's above one of a library's."""
    found: list[Place] = []
    library = True
    while frame is not None:
        other = bool(foreign(frame))
        if other and _trains(frame):
            break
        if (frame.f_globals.get("__name__") or "").startswith(TRACES):
            break  # what calls a function that is traced calls no layer
        if library and not other:
            found.append(at(frame.f_code, frame.f_lasti))
        if not other and frame.f_code.co_name == "<module>":
            break
        library, frame = other, frame.f_back
    return found


def _in_fit(frame: FrameType | None) -> bool:
    """Is it a step of a training of Keras's, and not an evaluation?"""
    while frame is not None:
        name = frame.f_code.co_name
        if name in ENDS:
            return name == "train_step"
        frame = frame.f_back
    return False


def _trains(frame: FrameType) -> bool:
    """Is it Keras's trainer? What calls that is no call of a layer."""
    return (frame.f_globals.get("__name__") or "") == TRAINERS
