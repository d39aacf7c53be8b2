"""Reads the log of the TensorFlow adapter into a neutral trace."""

from __future__ import annotations

import ast
from collections.abc import Callable
from types import CodeType
from typing import Any

import numpy as np

from ...facts.detours import Entry, Exit
from ...facts.graph import ancestors, makers
from ...source.place import Written
from ...trace import Asked, Event, Value
from ..gradtape.fading import Faded
from ..keras import KeptLayer
from . import engine as raw
from . import ops, values
from .autograph import original
from .expanding import expand
from .graphs import Call, Spot
from .holding import Holder, at, handle_of, has_history, is_tensor
from .listening import EXITS
from .values import FadedTensor, TensorValue, gradient_array

STORES = {
    "AssignVariableOp": "assign", "AssignAddVariableOp": "assign_add",
    "AssignSubVariableOp": "assign_sub",
}  # fmt: skip
SILENT = frozenset({
    "VarHandleOp", "VarIsInitializedOp", "DestroyResourceOp", "NoOp", "DeleteIterator", "Assert",
    "DisableCopyOnRead", "AnonymousIteratorV3", "AnonymousIteratorV2",
})  # fmt: skip


class Reader(Holder):
    """One reading of the log, event by event."""

    EXITS = EXITS

    def __init__(self, engine: raw.Engine) -> None:
        super().__init__(engine)
        self.readers = {
            raw.OP: self._op, raw.MADE: self._made, raw.CONVERT: self._convert,
            raw.ESCAPE: self._escape, raw.START: self._start, raw.STOP: self._stop,
            raw.RESET: self._reset,
            raw.WATCH: self._watch, raw.CUSTOM: self._custom, raw.SCRIPT: self._script,
            raw.PREDICT: self._predict, raw.QUERY: self._query,
        }  # fmt: skip

    # --- ops --------------------------------------------------------------------------------------
    def _op(
        self, time: float, kind: Any, inputs: Any, attrs: Any, outputs: Any, arguments: Any,
        layer: Any, measures: bool, outer: Any, handed: Any, code: CodeType, offset: int,
        thread: int,
    ) -> None:  # fmt: skip
        kind = kind.decode() if isinstance(kind, bytes) else kind
        if isinstance(arguments, Call):
            spot = Spot(code, offset, outer, layer, measures, False)
            self._call(time, kind, inputs, outputs, arguments, spot, thread)
            return
        place = at(code, offset)
        if kind in SILENT:
            return
        inputs, outputs = [_alive(t) for t in inputs], [_alive(t) for t in outputs]
        if kind == "ReadVariableOp":
            self._read(time, inputs[0], outputs[0], place, thread)
            return
        frames = ((code, offset), *(outer or ()))
        given = ops.given(kind, arguments, len(inputs))
        if kind in STORES:
            taken = self._operand(time, inputs[1], given[1], id(given[1]) in handed, frames, 1)
            self._store(time, inputs[0], STORES[kind], [taken], place, thread, measures)
            return
        if kind in ops.CONSTANTS:
            for tensor in outputs:
                self._tensor(tensor, place)
            return
        every = [
            self._operand(time, t, g, id(g) in handed, frames, k)
            for k, (t, g) in enumerate(zip(inputs, given, strict=True))
        ]
        for value in every:
            self._watched(value, time, place, thread)
        if kind.startswith(("ResourceApply", "ResourceScatter", "ResourceSparseApply")):
            self._store(time, inputs[0], "assign", every[1:], place, thread, measures)
            return
        wanted = ops.data(kind, len(inputs))
        chosen = [
            k for k in range(len(every)) if k in wanted or has_history(every[k])
        ]  # fmt: skip
        if kind == "Fill" and not any(has_history(v) for v in every):
            self._tensor(outputs[0], place)
            return
        made = list(map(self._tensor, outputs))
        if not made:  # it changes the state of something that it was given
            made = [v for v, t in zip(every, inputs, strict=True) if not values.numeric(t)][-1:]
        event = Event(
            kind, ops.name(kind), [every[k] for k in chosen], made, place, time,
            way=_way(kind), attrs=_attributes(kind, inputs, attrs), outer=list(outer or ()),
            layer=self._layer(layer),
        )  # fmt: skip
        if event.way == "op" and not any(map(values.symbol, (*inputs, *outputs))):
            event.pull, event.replay = _doors(kind, inputs, attrs, outputs, chosen, every, made)
        self._add(event, thread)

    def _call(
        self, time: float, name: str, inputs: Any, outputs: Any, call: Call, spot: Spot, thread: int
    ) -> None:
        """A call of a function: what happened inside."""
        for tensor in inputs:
            self._thaw(time, tensor, thread)
        events = expanded(self.engine, name, inputs, call, spot, thread)[: call.limit]
        for k, event in enumerate(events):
            self.readers[event[0]](time + (k + 1) / (len(events) + 2), *event[1:])
        for tensor, inner in zip(outputs, call.results, strict=False):
            if inner is None:
                continue
            value = self._value(inner, time)
            if values.symbol(inner):
                value.thing = tensor  # it could not be computed again, but here it is
            if call.limit is None:
                self._alias(tensor, value)
        if outputs and not call.results and call.limit is None:  # a graph that was not heard of
            made = [self._keep(TensorValue(t), t) for t in outputs]
            given = [self._operand(time, t, None, False, (), k) for k, t in enumerate(inputs)]
            self._add(
                Event("PartitionedCall", name, given, made, at(spot.code, spot.offset), time),
                thread,
            )

    def _thaw(self, time: float, tensor: Any, thread: int) -> None:
        """A tensor that the function keeps: what the user has in its place by now."""
        frozen = self.engine.graphs.frozen.get(id(tensor))
        now = None if frozen is None or frozen.tensor is not tensor else frozen.now()
        known = None if now is None or now is tensor else self.by_object.get(id(now))
        if known is not None:
            place = Written(frozen.code, frozen.node)
            made = self._keep(TensorValue(tensor), tensor)
            self._add(
                Event("Const", ast.unparse(frozen.node), [known], [made], place, time, "frozen"),
                thread,
            )

    def _custom(
        self, time: float, function: Any, args: Any, kwargs: Any, result: Any, inside: Any,
        code: CodeType, offset: int, thread: int,
    ) -> None:  # fmt: skip
        import tensorflow as tf

        inner, grad = inside
        given = [
            a for a in tf.nest.flatten((args, kwargs)) if is_tensor(a) or handle_of(a) is not None
        ]
        outputs = [self._keep(TensorValue(t), t) for t in tf.nest.flatten(result)]
        event = Event(
            "CustomGradient", getattr(function, "__name__", "custom_gradient"),
            [self._value(a, time) for a in given], outputs, at(code, offset), time,
            pull=ops.custom_puller(grad, tf.nest.flatten(result), len(given)),
            attrs={
                "function": function, "grad": grad,
                "inside": [self._value(t, time) for t in tf.nest.flatten(inner)],
            },
        )  # fmt: skip
        self._add(event, thread)

    def _script(
        self, time: float, kind: str, function: Any, inputs: Any, result: Any, inside: Any,
        code: CodeType, offset: int, thread: int,
    ) -> None:  # fmt: skip
        import tensorflow as tf

        tensors = [t for t in tf.nest.flatten(result) if is_tensor(t)]
        known = self.by_object.get(id(tensors[0])) if tensors else None
        if kind == "EagerPyFunc" and known is not None and known.maker is not None:
            own = known.maker
            own.attrs["function"] = function
            own.pull = self._through(inside[0][0], inside[0][1], time) if inside else None
            own.replay = None
            return
        outputs = [self._keep(TensorValue(t), t) for t in tensors]
        event = Event(
            kind, ops.name(kind), [self._value(t, time) for t in inputs], outputs,
            at(code, offset), time, way="pyfunc", attrs={"function": function},
        )  # fmt: skip
        self._add(event, thread)

    def _through(self, args: Any, outputs: Any, time: float) -> Callable:
        """The pull of a function that ran as one op, by the ops that ran in it."""
        import tensorflow as tf

        starts = [self._value(t, time) for t in tf.nest.flatten(args)]
        ends = [self._value(t, time) for t in tf.nest.flatten(outputs)]
        order = makers(v for v in ancestors(ends) if v not in starts)[::-1]

        def pull(cotangents: Any) -> list:
            found = {v: g for v, g in zip(ends, cotangents, strict=False) if g is not None}
            for event in order:
                gs = [found.get(v) for v in event.outputs]
                if event.pull is None or all(g is None for g in gs):
                    continue
                for value, part in zip(event.inputs, event.pull(gs), strict=False):
                    if part is not None:
                        found[value] = found[value] + part if value in found else part
            return [found[v] if v in found else np.zeros_like(v.array) for v in starts]

        return pull

    # --- leaving and coming back ------------------------------------------------------------------
    def _convert(
        self, time: float, given: Any, tensor: Any, stack: Any, handed: bool, *where: Any
    ) -> None:
        known = self.by_object.get(id(given)) if isinstance(given, np.ndarray) else None
        if known is not None and stack:  # an array that is known: of predict, or a source
            self._alias(tensor, known)
            return
        value = self._keep(TensorValue(tensor, place=at(*stack[0]) if stack else None), tensor)
        self.held.append(given)
        handle = handle_of(given)
        if handle is not None and stack:
            source = self._now(handle, given)
            self._add(
                Event("Const", "tf.constant", [source], [value], at(*stack[0]), time, "copy"),
                where[-1],
            )
        elif handed and stack:
            self.entries.append(Entry(value, given, stack, time))

    def _predict(
        self, time: float, kept: KeptLayer, name: str, x: Any, result: Any, frames: Any, *where: Any
    ) -> None:
        import tensorflow as tf

        code, offset, thread = where
        flat = tf.nest.flatten(x)
        model = kept.layer()
        weights = [] if model is None else model.weights
        given = [v for v in [*flat, *weights] if is_tensor(v) or handle_of(v) is not None]
        arrays = [a for a in tf.nest.flatten(result) if isinstance(a, np.ndarray)]
        outputs = [self._keep(Value("array", a, thing=a), a) for a in arrays]
        event = Event(
            name, f"{kept.name}.{name}", [self._value(v, time) for v in given], outputs,
            at(code, offset), time, way="predict",
            pull=None if model is None else ops.model_puller(model, x, given),
        )  # fmt: skip
        self._add(event, thread)
        self.exits += [Exit(o, name, o.array, frames, time) for o in outputs]


def _doors(
    kind: str, inputs: list, attrs: Any, outputs: list, chosen: list[int], every: list[Value],
    made: list[Value],
) -> tuple[Callable, Callable]:  # fmt: skip
    """How an op pulls and plays again. What was let go is had when it is asked for."""
    if all(t.__class__ is not Faded for t in (*inputs, *outputs)):
        return (
            ops.puller(kind, inputs, attrs, outputs, chosen),
            ops.replayer(kind, inputs, attrs, outputs, chosen),
        )

    def held(things: list, known: list[Value]) -> list:
        return [v.tensor if t.__class__ is Faded else t for t, v in zip(things, known, strict=True)]  # type: ignore[attr-defined]

    def computed(k: int) -> Callable:
        def compute() -> Any:
            with ops.unrecorded():
                return ops.run(kind, held(inputs, every), attrs, len(outputs))[k]

        return compute

    for k, value in enumerate(made):
        if isinstance(value, FadedTensor):
            value.compute = computed(k)

    def pull(cotangents: Any) -> list:
        made_of = held(inputs, every), attrs, held(outputs, made)
        return ops.puller(kind, *made_of, chosen)(cotangents)

    def replay(arrays: Any) -> tuple[list, Any]:
        made_of = held(inputs, every), attrs, held(outputs, made)
        return ops.replayer(kind, *made_of, chosen)(arrays)

    return pull, replay


def _alive(tensor: Any) -> Any:
    """What was let go, as long as the program holds it."""
    if tensor.__class__ is not Faded:
        return tensor
    thing = tensor.thing
    return tensor if thing is None else thing


def expanded(
    engine: raw.Engine, name: str, inputs: Any, call: Call, spot: Spot, thread: int
) -> list[tuple]:
    """The events inside of a call."""
    if call.events is None:
        call.events = []
        expand(engine, name, inputs, call, spot, thread)
    return call.events


def asked(event: tuple, frame: Any) -> Asked:
    """What the doctor looks at after every query, as arrays."""
    import tensorflow as tf

    _, _, method, target, sources, _, _, result, error, _, names, code, offset, _ = event
    flat = tf.nest.flatten(sources)
    given = [None] * len(flat) if result is None else tf.nest.flatten(result)
    return Asked(
        method, original(code, offset), target, sources, frame, error,
        [gradient_array(g) for g in given], [None] * len(flat),
        [gradient_array(t) if hasattr(t, "_numpy") else None for t in tf.nest.flatten(target)],
        names=names,
    )  # fmt: skip


def _attributes(kind: str, inputs: Any, attrs: Any) -> dict[str, Any]:
    found = ops.attributes(attrs)
    axes = values.array(inputs[1]) if kind == "Transpose" else None
    if axes is not None:
        found["axes"] = tuple(axes.tolist())
    return found


def _way(kind: str) -> str:
    if kind in ("PyFunc", "PyFuncStateless"):
        return "pyfunc"
    passes = "Dataset" in kind or kind.startswith(("Iterator", "MakeIterator", "Queue"))
    return "dataset" if passes else "op"
