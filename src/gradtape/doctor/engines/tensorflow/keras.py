"""What of Keras is listened to: layers, their weights, and `predict`, which leaves the tape."""

from __future__ import annotations

import functools
import inspect
import sys
import weakref
from threading import get_ident
from typing import Any

from .batches import SIZE
from .engine import PREDICT, Engine
from .frames import stack, user


def hook(engine: Engine) -> None:
    """Listen to Keras, if TensorFlow is what it computes with."""
    import keras

    if keras.config.backend() != "tensorflow":
        return
    for what, part in (("layers", _layers), ("variables", _variables), ("predict", _predict),
                       ("fit", _fit)):  # fmt: skip
        try:
            part(engine)
        except (ImportError, AttributeError) as fault:
            engine.missing(f"{what} of Keras {keras.__version__}", fault)


def _layers(engine: Engine) -> None:
    from keras.src.layers.layer import Layer

    engine.layer_call = inspect.unwrap(Layer.__call__).__code__
    engine.add_weight = inspect.unwrap(Layer.add_weight).__code__
    make = Layer.__init__

    @functools.wraps(make)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        make(self, *args, **kwargs)
        if not engine.deaf and type(self).__module__.startswith("keras."):
            place = user(sys._getframe(1))
            engine.layers[id(self)] = weakref.ref(self), place.f_code, place.f_lasti

    engine.put(Layer, "__init__", __init__)


def _variables(engine: Engine) -> None:
    """A variable of Keras holds one of TensorFlow: users know the outer one."""
    from keras.src.backend.tensorflow.core import Variable

    initialize = Variable._initialize

    @functools.wraps(initialize)
    def _initialize(self: Any, value: Any) -> None:
        initialize(self, value)
        engine.owners[id(self._value)] = weakref.ref(self)

    engine.put(Variable, "_initialize", _initialize)


def _predict(engine: Engine) -> None:
    from keras.src.backend.tensorflow.trainer import TensorFlowTrainer

    for name in ("predict", "predict_on_batch"):
        engine.put(TensorFlowTrainer, name, _predicting(engine, getattr(TensorFlowTrainer, name)))


def _fit(engine: Engine) -> None:
    """What `fit` is given is remembered: the batches themselves are made inside of a function."""
    from keras.src.backend.tensorflow.trainer import TensorFlowTrainer

    original = TensorFlowTrainer.fit

    @functools.wraps(original)
    def fit(self: Any, x: Any = None, y: Any = None, *args: Any, **kwargs: Any) -> Any:
        given = [x, y, kwargs.get("sample_weight")]
        engine.data.append(([g for g in given if g is not None], kwargs.get("batch_size") or SIZE))
        try:
            return original(self, x, y, *args, **kwargs)
        finally:
            engine.data.pop()

    engine.put(TensorFlowTrainer, "fit", fit)


def _predicting(engine: Engine, original: Any) -> Any:
    @functools.wraps(original)
    def predict(self: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(self, x, *args, **kwargs)
        frame = sys._getframe(1)
        frames = stack(frame)
        if not engine.deaf and frames:
            (code, offset) = frames[0]
            engine.log.append(
                (PREDICT, self, original.__name__, x, result, frames, code, offset, get_ident())
            )
        return result

    return predict
