"""What is heard of the training of a Keras model: its layers in order, its loss, what it is given.

The numbers are looked at when the program hands them over, a few times for each place; nothing of
the program's is drawn, iterated or held.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import reduce
from types import CodeType, FrameType
from typing import Any, NamedTuple

import numpy as np

from ..source.place import Place, at
from ..trace.training import ROWS, Head, Numbers, Part, Training, by_hand, joined, numbers
from . import ears
from .frames import METRIC, foreign, user
from .optimizers import keys

LOSSES = (
    "mean_squared_error", "mean_absolute_error", "binary_crossentropy", "categorical_crossentropy",
    "sparse_categorical_crossentropy", "huber", "log_cosh", "mean_squared_logarithmic_error",
    "mean_absolute_percentage_error", "binary_focal_crossentropy", "categorical_focal_crossentropy",
    "hinge", "squared_hinge", "categorical_hinge", "kl_divergence", "poisson", "cosine_similarity",
)  # fmt: skip
LOOKS = 3  # calls of a place whose numbers are looked at
DEEP = 200  # layers that feed each other
HELD = 4096  # results of layers that are known by their identity
SLOW = 1e-6  # a learning rate below which the weights are looked at
ONLOOKERS = (  # callbacks
    "keras.src.callbacks.history.History", "keras.src.callbacks.progbar_logger.ProgbarLogger",
    "gradtape.doctor.Callback",
)  # fmt: skip
SETTINGS = ("units", "filters", "rate", "axis", "return_sequences", "momentum", "input_dim",
            "dropout", "recurrent_dropout", "negative_slope", "max_value", "threshold")  # fmt: skip
# Functions that a user calls in the place of a layer, and losses that are no objects of Keras's.
FUNCTIONS = {
    "nn.softmax": "softmax", "nn.sigmoid": "sigmoid", "nn.tanh": "tanh", "nn.relu": "relu",
    "nn.softplus": "softplus", "nn.softsign": "softsign",
}  # fmt: skip
WITH_LOGITS = {
    "nn.sparse_softmax_cross_entropy_with_logits": "sparse_categorical_crossentropy",
    "nn.softmax_cross_entropy_with_logits": "categorical_crossentropy",
    "nn.sigmoid_cross_entropy_with_logits": "binary_crossentropy",
}
ALIASES = {"softmax_v2": "softmax", "relu_layer": "relu", "log_softmax_v2": "log_softmax"}
# Layers that are an activation.
ACTIVATIONS = {
    "Softmax": "softmax", "ReLU": "relu", "LeakyReLU": "leaky_relu", "PReLU": "prelu", "ELU": "elu",
}  # fmt: skip


# A training that is under way, with the model and the labels, each with the name of its output
# where it has one.
Open = tuple[Training, Any, list[tuple[str, Numbers | None]]]


class Call(NamedTuple):
    """A call of a layer, and the one that made what it was given."""

    layer: Any  # a weak reference
    before: Call | None
    depth: int
    given: Any  # the shape of the input
    shape: Any


class Applied(NamedTuple):
    """An activation that the user called as a function."""

    activation: str
    axis: int
    code: CodeType
    offset: int


class Listener:
    """Hears of layers, losses, `compile`, `fit` and `train_on_batch`."""

    def __init__(self, engine: Any) -> None:
        self.engine = engine
        self.calls: dict[int, tuple[Any, Call]] = {}  # by the id of the result
        self.losses: dict[int, tuple[Any, Place]] = {}  # where they were made
        self.compiled: dict[int, tuple[Any, Place]] = {}  # models
        self.open: list[Open] = []
        self.inside = 0  # calls of losses that are under way
        self.seen: dict[Any, int] = {}  # looks at a place
        self.trainings: dict[Any, Training] = {}

    # --- layers -----------------------------------------------------------------------------------
    def called(self, told: Any, result: Any) -> Any:
        layer = told[0]
        if not self.engine.deaf and hasattr(layer, "add_weight"):
            with suppress(Exception):  # results of any kind
                self._note(layer, told[1][0] if told[1] else None, result)
        return result

    def applied(self, activation: str) -> Callable[[Any, Any], Any]:
        """Hears of an activation that the user calls as a function."""

        def after(told: Any, result: Any) -> Any:
            if not self.engine.deaf:
                frame = _own_call(sys._getframe(2))
                if frame is not None:
                    axis = told[1] if activation == "softmax" else -1
                    own = Applied(
                        activation, -1 if axis is None else axis, frame.f_code, frame.f_lasti
                    )
                    with suppress(Exception):  # arguments of any kind
                        self._note(own, told[0], result)
            return result

        return after

    def _note(self, layer: Any, given: Any, result: Any) -> None:
        known = self.calls.get(id(result))
        if known is not None and known[0]() is result:
            return  # a model gives what its last layer gave
        before = self.calls.get(id(given))
        call = before[1] if before is not None and before[0]() is given else None
        if call is not None and call.depth > DEEP:
            call = None
        if len(self.calls) > HELD:
            self.calls.clear()
        shape = getattr(given, "shape", None)
        depth = 0 if call is None else call.depth + 1
        held = (lambda: layer) if isinstance(layer, Applied) else weakref.ref(layer)
        self.calls[id(result)] = (
            weakref.ref(result), Call(held, call, depth, shape, result.shape),
        )  # fmt: skip

    def _chain(self, output: Any) -> list[Part]:
        """The layers that an output came through, the first one first."""
        known = self.calls.get(id(output))
        if known is None or known[0]() is not output:
            return []
        call: Call | None = known[1]
        found = []
        while call is not None:
            layer = call.layer()
            if layer is None:
                break
            found.append(self._part(layer, call))
            call = call.before
        return found[::-1]

    def _part(self, layer: Any, call: Call) -> Part:
        if isinstance(layer, Applied):
            place = self.engine.at(layer.code, layer.offset)
            return by_hand(
                place, layer.activation, layer.axis, _shape(call.shape), _shape(call.given)
            )
        kind = type(layer).__name__ if type(layer).__module__.startswith("keras.") else "?"
        settings = {name: getattr(layer, name, None) for name in SETTINGS}
        config = {n: v for n, v in settings.items() if isinstance(v, (bool, int, float, str))}
        known = self.engine.layers.get(id(layer))
        made = at(*known[1:]) if known is not None and known[0]() is layer else None
        off = self.engine.steps is not None and self.engine.steps.is_off(layer)
        return Part(
            kind, str(layer.name), _activation(layer, kind), config, made, _shape(call.shape),
            _shape(call.given), frozenset(keys(layer.trainable_variables)), off,
        )  # fmt: skip

    # --- losses -----------------------------------------------------------------------------------
    def loss_made(self, told: Any, result: Any) -> Any:
        if not self.engine.deaf:
            place = self._place(sys._getframe(2))
            if place is not None:
                self.losses[id(told[0])] = weakref.ref(told[0]), place
        return result

    def loss_called(self, loss: Any, y_true: Any, y_pred: Any, *rest: Any) -> None:
        self.inside += 1
        if self.inside == 1 and not _measures(sys._getframe(2)):
            with suppress(Exception):
                name, options = _described(loss)
                weighted = any(part is not None for part in rest)
                known = self.losses.get(id(loss))
                made = known[1] if known is not None and known[0]() is loss else None
                self._head(name, options, y_true, y_pred, made, weighted, sys._getframe(2))

    def loss_left(self, told: Any, result: Any = None) -> Any:
        self.inside -= 1
        return result

    def function_called(self, name: str, parameters: tuple[str, ...]) -> Callable[..., None]:
        def before(*values: Any) -> None:
            frame = sys._getframe(2)
            if not self.inside and not _measures(frame):
                with suppress(Exception):
                    told = dict(zip(parameters, values, strict=True))
                    self._head(name, told, told["y_true"], told["y_pred"], None, False, frame)

        return before

    def with_logits(self, name: str, parameters: tuple[str, ...]) -> Callable[..., None]:
        """Hears of a loss of TensorFlow's own that the user calls."""

        def before(*values: Any) -> None:
            frame = sys._getframe(2)
            asked = not self.inside and not self.engine.deaf and not _measures(frame)
            if asked and _own_call(frame) is not None:
                with suppress(Exception):
                    told = dict(zip(parameters, values, strict=True))
                    options = {"from_logits": True}
                    self._head(name, options, told["labels"], told["logits"], None, False, frame)

        return before

    def _head(
        self, name: str, options: dict[str, Any], y_true: Any, y_pred: Any, made: Place | None,
        weighted: bool, frame: FrameType,
    ) -> None:  # fmt: skip
        if self.engine.deaf:
            return
        if self.open:
            training, labels = self.open[-1][0], None
        else:
            found = self._loop(frame)
            if found is None:
                return
            training = found
        self._alike(training, name, y_true)
        key = training, name
        if self.seen.get(key, 0) >= LOOKS + len(training.heads):
            return
        self.seen[key] = self.seen.get(key, 0) + 1
        parts = self._chain(y_pred)
        last = parts[-1].name if parts else ""
        head = next((h for h in training.heads if h.loss == name and _name(h) == last), None)
        plain = self.engine.plain
        known = self.open[-1][2] if self.open else []
        given = any(part is not None and name in ("", last) for name, part in known)
        labels = None if given or weighted else self._seen(y_true)
        outputs = numbers(plain(y_pred))
        if head is not None:
            head.labels = _both(head.labels, labels)
            head.outputs = _both(head.outputs, outputs)
            return
        place = self._place(frame)
        if training.method != "loop" and (made is None or made == training.place):
            made = training.compiled  # the loss was named there, and is made by `fit`
        head = Head(
            name, bool(options.get("from_logits")), parts, _shape(y_pred.shape), made, labels,
            outputs, _shape(y_true.shape), place, options.get("ignore_class"),
        )  # fmt: skip
        if labels is not None and labels.low == labels.high and not labels.nan:
            head.same = labels.low, labels.shape[0] or 0, 1
        training.heads.append(head)

    def _alike(self, training: Training, name: str, y_true: Any) -> None:
        """As long as all batches of a loop have had one and the same label, the next one is looked
        at as well."""
        heads = training.heads
        if self.open or len(heads) != 1 or heads[0].loss != name or heads[0].same is None:
            return
        array = self._array(y_true)
        value, rows, batches = heads[0].same
        alike = array is not None and np.size(array) and bool((np.asarray(array) == value).all())
        heads[0].same = (value, rows + len(array), batches + 1) if alike else None

    def _seen(self, y_true: Any) -> Numbers | None:
        """The labels of one batch, which are not all of them."""
        array = self._array(y_true)
        array = self.engine.recorded(y_true) if array is None else array
        found = numbers(array, columns=_wide(array))
        if found is not None:
            found.complete = False
        return found

    def _loop(self, frame: FrameType) -> Training | None:
        """The training that a loss of the user's own call belongs to: one for each place."""
        at_hand: FrameType | None = frame
        while at_hand is not None and foreign(at_hand):
            if (at_hand.f_globals.get("__name__") or "").startswith("keras."):
                return None  # `evaluate`, or something else of Keras's own
            at_hand = at_hand.f_back
        place = None if at_hand is None else self.engine.at(at_hand.f_code, at_hand.f_lasti)
        if place is None:
            return None
        return self.trainings.setdefault(place, Training("loop", place))

    def _place(self, frame: FrameType) -> Place | None:
        found = user(frame)
        return None if foreign(found) else self.engine.at(found.f_code, found.f_lasti)

    # --- compile and fit --------------------------------------------------------------------------
    def compile_called(self, *values: Any) -> None:
        place = self._place(sys._getframe(2))
        if not self.engine.deaf and place is not None:
            self.compiled[id(values[0])] = weakref.ref(values[0]), place

    def trains(self, method: str, told: dict[str, Any], frame: FrameType) -> Open:
        """A training of Keras's begins, with these arguments."""
        place = self._place(frame)
        training = Training(method, place or at(frame.f_code, frame.f_lasti))
        labels: list[tuple[str, Numbers | None]] = []
        if place is not None:
            training = self.trainings.setdefault(place, training)
            with suppress(Exception):  # data of any kind
                labels = self._given(training, told)
        opened = training, told["self"], labels
        self.open.append(opened)
        return opened

    def _given(self, training: Training, told: dict[str, Any]) -> list[tuple[str, Numbers | None]]:
        """Look at the data; gives what is known of the labels, by their order or their names."""
        model = told["self"]
        known = self.compiled.get(id(model))
        if known is not None and known[0]() is model:
            training.compiled = known[1]
        self.seen[training] = self.seen.get(training, 0) + 1
        if self.seen[training] > LOOKS or self.engine.deaf:
            return []
        x, y, rows = told.get("x"), told.get("y"), None
        if y is None and (sample := self.engine.sample(x)) is not None:
            x, y, rows = sample
        inputs = [numbers(self._array(part), columns=True) for part in _leaves(x)]
        training.inputs = [part for part in inputs if part is not None]
        batch = None
        if training.method == "fit":
            batch = rows or told.get("batch_size") or 32
        elif training.inputs:
            batch = training.inputs[0].shape[0]
        # The last batch of an epoch may be smaller than the others.
        training.batch = max(batch or 0, training.batch or 0) or None
        optimizer = getattr(model, "optimizer", None)
        if optimizer is not None:
            training.optimizer = type(optimizer).__name__
            training.rate = self._rate(optimizer, told.get("callbacks"))
        if told.get("sample_weight") is not None:
            return []
        named = isinstance(y, dict) and len(y) > 1  # which may be in any order
        names = [str(name) for name in y or ()] if named else [""] * len(list(_leaves(y)))
        return [
            (name, numbers(self._array(part), columns=_wide(part)))
            for name, part in zip(names, _leaves(y), strict=True)
        ]

    def _rate(self, optimizer: Any, callbacks: Any) -> float | None:
        # One that scales the loss has a rate of 0 itself, and holds the one that takes the steps.
        optimizer = getattr(optimizer, "inner_optimizer", optimizer)
        rate = getattr(optimizer, "_learning_rate", None)
        array = None if _others(callbacks) else self.engine.plain(getattr(rate, "_value", None))
        return None if array is None or np.size(array) != 1 else float(array)

    def _array(self, part: Any) -> Any:
        if isinstance(part, np.ndarray):
            return part
        if type(part).__module__.partition(".")[0] == "pandas":
            return np.asarray(part)
        return self.engine.plain(part)

    def trained(self, opened: Open | None, result: Any = None) -> Any:
        """`fit` has ended, well or not: what its labels were is known to its heads."""
        left = [other for other in self.open if other is not opened]
        if opened is None or len(left) == len(self.open):
            return result  # its callback has said so before
        self.open[:] = left
        training, model, labels = opened
        if self.engine.steps is not None:
            self.engine.steps.measure()
        if len(labels) == len(training.heads):
            by_name = {_name(head): head for head in training.heads}
            for head, (name, known) in zip(training.heads, labels, strict=True):
                own = by_name.get(name) if name else head
                if own is not None:
                    own.labels = _both(own.labels, known)
        with suppress(Exception):
            graph = getattr(model, "_functional", None) or model
            ops = [op for op in graph.operations if type(op).__name__ != "InputLayer"]
            training.stack = [str(op.name) for op in ops]
        with suppress(Exception):
            if training.rate is not None and training.rate < SLOW and not training.sizes:
                arrays = [self.engine.plain(v._value) for v in model.trainable_variables]
                training.sizes = [
                    float(np.abs(a).mean()) for a in arrays if a is not None and a.ndim > 1
                ]
        return result


def hear(engine: Any) -> None:
    """Listen to the training of Keras's models."""
    from keras.src.backend.tensorflow.trainer import TensorFlowTrainer
    from keras.src.losses import losses
    from keras.src.losses.loss import Loss
    from keras.src.ops.operation import Operation
    from keras.src.trainers.trainer import Trainer

    listener = engine.listener = Listener(engine)
    engine.listen(Operation.__call__, after=listener.called)
    engine.listen(Loss.__init__, after=listener.loss_made)
    engine.listen(
        Loss.__call__, before=listener.loss_called, after=listener.loss_left,
        failed=listener.loss_left,
    )  # fmt: skip
    for name in LOSSES:
        function = getattr(losses, name, None)
        if function is not None:
            engine.listen(
                function, before=listener.function_called(name, ears.parameters(function))
            )
    _functions(engine, listener)
    engine.listen(Trainer.compile, before=listener.compile_called)
    parameters = ears.parameters(TensorFlowTrainer.train_on_batch)

    def batch(*values: Any) -> Open:
        told = dict(zip(parameters, values, strict=True))
        return listener.trains("train_on_batch", told, sys._getframe(2))

    engine.listen(
        TensorFlowTrainer.train_on_batch, before=batch, after=listener.trained,
        failed=listener.trained,
    )  # fmt: skip


def _functions(engine: Any, listener: Listener) -> None:
    """Listen to the functions that users call in the place of layers and losses."""
    from keras.src.backend.tensorflow import nn

    def named(path: str) -> Any:
        return reduce(getattr, path.split("."), nn.tf)

    for path, activation in FUNCTIONS.items():
        with suppress(ears.NoEar, AttributeError):
            engine.listen(named(path), after=listener.applied(activation))
    for path, loss in WITH_LOGITS.items():
        with suppress(ears.NoEar, AttributeError):
            function = named(path)
            before = listener.with_logits(loss, ears.parameters(function))
            engine.listen(function, before=before)


def _measures(frame: FrameType) -> bool:
    """Is a metric computed, which is no loss that is trained with?"""
    at_hand: FrameType | None = frame
    while at_hand is not None:
        if foreign(at_hand) == METRIC:
            return True
        at_hand = at_hand.f_back
    return False


def _own_call(frame: FrameType) -> FrameType | None:
    """The user's frame that called a function, if it was not Keras that did."""
    at_hand: FrameType | None = frame
    while at_hand is not None and foreign(at_hand):
        if (at_hand.f_globals.get("__name__") or "").startswith("keras."):
            return None
        at_hand = at_hand.f_back
    return at_hand


def _others(callbacks: Any) -> list[Any]:
    """Those that may change the learning rate."""
    known = getattr(callbacks, "callbacks", callbacks) or []
    known = list(known) if isinstance(known, (list, tuple)) else [known]
    return [c for c in known if f"{type(c).__module__}.{type(c).__qualname__}" not in ONLOOKERS]


def _shape(shape: Any) -> tuple[int | None, ...]:
    try:
        return tuple(None if n is None else int(n) for n in shape)
    except (TypeError, ValueError):  # nothing, or a rank that is not known
        return ()


def _name(head: Head) -> str:
    return head.last.name if head.last is not None else ""


def _both(one: Numbers | None, other: Numbers | None) -> Numbers | None:
    known = [part for part in (one, other) if part is not None]
    return joined(known) if known else None


def _leaves(thing: Any) -> Iterator[Any]:
    if isinstance(thing, dict):
        thing = list(thing.values())
    if isinstance(thing, (list, tuple)) and thing and not np.isscalar(thing[0]):
        for part in thing:
            yield from _leaves(part)
    elif thing is not None:
        yield thing


def _described(loss: Any) -> tuple[str, dict[str, Any]]:
    """The function of a loss, where it is one of Keras's, and the options that it is given."""
    function = getattr(loss, "fn", None)
    if function is None or not (getattr(function, "__module__", None) or "").startswith("keras."):
        return "", {}
    return str(function.__name__), dict(getattr(loss, "_fn_kwargs", {}))


def _activation(layer: Any, kind: str) -> str:
    if kind in ACTIVATIONS:
        odd = kind == "ReLU" and (layer.max_value is not None or layer.negative_slope
                                  or layer.threshold)  # fmt: skip
        return "?" if odd else ACTIVATIONS[kind]
    function = getattr(layer, "activation", None)
    if function is None:
        return "linear"
    name, module = (getattr(function, part, None) or "" for part in ("__name__", "__module__"))
    library = module.partition(".")[0] in ("keras", "tensorflow", "gradtape")
    return ALIASES.get(name, name) if library and name.isidentifier() else "?"


def _wide(part: Any) -> bool:
    """Has it few enough rows to be looked at column by column?"""
    return len(getattr(part, "shape", ())) == 2 and (part.shape[0] or 0) <= ROWS
