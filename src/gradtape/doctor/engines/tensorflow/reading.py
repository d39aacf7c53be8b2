"""Reads the log of the TensorFlow adapter into a neutral trace."""

from __future__ import annotations

from contextlib import suppress
from types import CodeType, FrameType
from typing import Any

import numpy as np

from ...detours import Entry, Exit, link
from ...place import Place, at
from ...trace import Answer, Asked, Event, Layer, Query, Tape, Trace, Value, Variable, Watch
from . import engine as raw
from . import ops, values
from .listening import EXITS
from .values import TensorValue, gradient_array

STORES = {
    "AssignVariableOp": "assign", "AssignAddVariableOp": "assign_add",
    "AssignSubVariableOp": "assign_sub",
}  # fmt: skip
SILENT = frozenset({
    "VarHandleOp", "VarIsInitializedOp", "DestroyResourceOp", "NoOp", "DeleteIterator", "Assert",
    "DisableCopyOnRead", "AnonymousIteratorV3", "AnonymousIteratorV2",
})  # fmt: skip


class Reader:
    """One reading: values by the objects that the log holds."""

    def __init__(self, engine: raw.Engine) -> None:
        self.engine = engine
        self.trace = Trace(engine.name)
        self.by_object: dict[int, Value] = {}
        self.variables: dict[int, Variable] = {}  # by the id of the handle
        self.current: dict[int, Value] = {}  # the value of each variable now, by its handle's id
        self.pending: dict[int, tuple] = {}  # what a variable was given before it was there
        self.exits: list[Exit] = []
        self.entries: list[Entry] = []
        self.active: dict[int, list[int]] = {}  # tapes that are recording, by thread
        self.steps: dict[Place, int] = {}
        self.held: list[Any] = []

    def read(self) -> Trace:
        readers: dict[int, Any] = {
            raw.OP: self._op, raw.MADE: self._made, raw.CONVERT: self._convert,
            raw.ESCAPE: self._escape, raw.START: self._start, raw.STOP: self._stop,
            raw.WATCH: self._watch, raw.CUSTOM: self._custom, raw.SCRIPT: self._script,
            raw.PREDICT: self._predict, raw.QUERY: self._query,
        }  # fmt: skip
        for time, event in enumerate(self.engine.log):
            readers[event[0]](time, *event[1:])
        self.trace.exits = self.exits
        for found in link(self.exits, self.entries):
            if found.outputs[0].maker is None:
                self._add(found)
        self.trace.events.sort(key=lambda event: event.time)
        return self.trace

    # --- values -----------------------------------------------------------------------------------
    def _keep(self, value: Value, *things: Any) -> Value:
        self.trace.values.append(value)
        for thing in things:
            self._alias(thing, value)
        return value

    def _alias(self, thing: Any, value: Value) -> None:
        if thing is not None:
            self.by_object[id(thing)] = value
            self.held.append(thing)

    def _value(self, thing: Any, time: int) -> Value:
        """The value of whatever was given as an operand, a source or a target."""
        handle = _handle(thing)
        if handle is not None:
            return self._now(handle, thing)
        known = self.by_object.get(id(thing))
        if known is not None:
            return known
        if hasattr(thing, "dtype") and hasattr(thing, "_numpy"):
            return self._keep(TensorValue(thing), thing)
        inner = getattr(thing, "flat_values", getattr(thing, "values", None))
        if hasattr(inner, "_numpy"):  # a ragged tensor, or slices
            return self._value(inner, time)
        return self._plain(thing)

    def _plain(self, thing: Any) -> Value:
        """A Python number or an array."""
        array = None
        with suppress(TypeError, ValueError):
            array = np.asarray(thing)
        if array is not None and array.dtype.kind == "O":
            array = None
        kind = "array" if isinstance(thing, (np.ndarray, np.generic)) else "number"
        value = Value(kind, array, thing=thing if kind == "array" else None)
        return self._keep(value, thing if kind == "array" else None)

    def _operand(
        self, time: int, tensor: Any, given: Any, handed: bool, frames: Any, k: int
    ) -> Value:
        """An operand of an op: where it was not seen before, what the op was given tells."""
        known = self.by_object.get(id(tensor))
        if known is not None:
            return known
        if not values.numeric(tensor):
            variable = self._known_variable(tensor)
            if variable is not None:
                return self._now(tensor, variable)
        handle = _handle(given)
        if handle is not None:  # read on the way into the op
            value = self._now(handle, given)
            if value.thing is None:
                value.thing = tensor
            self._alias(tensor, value)
            return value
        value = self._keep(TensorValue(tensor), tensor)
        if (
            handed
            and given is not tensor
            and isinstance(given, (float, int, np.ndarray, np.generic, list, tuple, complex))
        ):
            if isinstance(given, np.ndarray) and id(given) in self.by_object:
                return self._same(tensor, self.by_object[id(given)])
            self.entries.append(Entry(value, given, frames, time, k))
        return value

    def _same(self, tensor: Any, value: Value) -> Value:
        self._alias(tensor, value)
        return value

    def _add(self, event: Event, thread: int | None = None) -> None:
        event.tapes = frozenset(self.active.get(thread, ()) if thread is not None else ())
        self.trace.events.append(event)
        for value in event.inputs:
            value.users.append(event)
        for value in event.outputs:
            value.maker = event

    # --- ops --------------------------------------------------------------------------------------
    def _op(
        self, time: int, kind: Any, inputs: Any, attrs: Any, outputs: Any, arguments: Any,
        layer: Any, measures: bool, outer: Any, handed: Any, code: CodeType, offset: int,
        thread: int,
    ) -> None:  # fmt: skip
        kind = kind.decode() if isinstance(kind, bytes) else kind
        place = at(code, offset)
        if kind in SILENT:
            return
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
                self._keep(TensorValue(tensor, place=place), tensor)
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
            k for k in range(len(every)) if k in wanted or _has_history(every[k])
        ]  # fmt: skip
        if kind == "Fill" and not any(_has_history(v) for v in every):
            self._keep(TensorValue(outputs[0], place=place), outputs[0])
            return
        made = [self._keep(TensorValue(t), t) for t in outputs]
        if not made:  # it changes the state of something that it was given
            made = [v for v, t in zip(every, inputs, strict=True) if not values.numeric(t)][-1:]
        event = Event(
            kind, ops.name(kind), [every[k] for k in chosen], made, place, time,
            way=_way(kind), attrs=_attributes(kind, inputs, attrs), outer=list(outer or ()),
            layer=self._layer(layer),
        )  # fmt: skip
        if event.way == "op":
            event.pull = ops.puller(kind, inputs, attrs, outputs, chosen)
            event.replay = ops.replayer(kind, inputs, attrs, outputs, chosen)
        self._add(event, thread)

    def _layer(self, layer: Any) -> Layer | None:
        if layer is None:
            return None
        known = self.engine.layers.get(id(layer))
        made = at(known[1], known[2]) if known is not None and known[0]() is layer else None
        return Layer(layer.name, made)

    def _custom(
        self, time: int, function: Any, args: Any, kwargs: Any, result: Any, inside: Any,
        code: CodeType, offset: int, thread: int,
    ) -> None:  # fmt: skip
        import tensorflow as tf

        if not isinstance(inside, tuple) or len(inside) != 2:
            return
        inner, grad = inside
        given = [
            a for a in tf.nest.flatten((args, kwargs)) if _is_tensor(a) or _handle(a) is not None
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
        self, time: int, kind: str, function: Any, inputs: Any, result: Any, code: CodeType,
        offset: int, thread: int,
    ) -> None:  # fmt: skip
        import tensorflow as tf

        tensors = [t for t in tf.nest.flatten(result) if _is_tensor(t)]
        known = self.by_object.get(id(tensors[0])) if tensors else None
        if kind == "EagerPyFunc" and known is not None and known.maker is not None:
            own = known.maker
            own.attrs["function"] = function
            own.pull = ops.script_puller(function, [v.thing for v in own.inputs])
            own.replay = None
            return
        outputs = [self._keep(TensorValue(t), t) for t in tensors]
        event = Event(
            kind, ops.name(kind), [self._value(t, time) for t in inputs], outputs,
            at(code, offset), time, way="pyfunc", attrs={"function": function},
        )  # fmt: skip
        self._add(event, thread)

    # --- variables --------------------------------------------------------------------------------
    def _known_variable(self, handle: Any) -> Any:
        known = self.engine.variables.get(id(handle))
        return None if known is None else known()

    def _variable(self, handle: Any, it: Any) -> Variable:
        known = self.variables.get(id(handle))
        if known is None:
            owner = self.engine.owner(it)
            name = getattr(owner, "path", None) or getattr(owner, "name", None)
            trainable = bool(getattr(owner, "trainable", True))
            known = Variable(len(self.variables), trainable, name, None, owner=owner)
            self.variables[id(handle)] = known
            self.trace.variables.append(known)
            self.held += [handle, it]
        return known

    def _now(self, handle: Any, it: Any) -> Value:
        """The value of a variable at this time of the log."""
        known = self.current.get(id(handle))
        if known is None:
            known = self._fresh(handle, self._variable(handle, it))
        return known

    def _fresh(self, handle: Any, variable: Variable) -> Value:
        value = TensorValue(None, "variable", variable)
        self.current[id(handle)] = self._keep(value)
        value.fetch = lambda: self._fetch(handle, value)
        return value

    def _fetch(self, handle: Any, value: Value) -> Any:
        """Of the last value of a variable, what it holds now; others are gone."""
        it = self._known_variable(handle)
        if self.current.get(id(handle)) is not value or it is None:
            return None
        with ops.unrecorded():
            return it.read_value()

    def _read(self, time: int, handle: Any, seen: Any, place: Place, thread: int) -> None:
        it = self._known_variable(handle)
        value = self._now(handle, it)
        if value.thing is None:
            value.thing = seen
        self._alias(seen, value)
        self._watched(value, time, place, thread)

    def _watched(self, value: Value, time: int, place: Place, thread: int) -> None:
        """A variable that is read is watched by the tapes that do so by themselves."""
        if value.variable is None or not value.variable.trainable:
            return
        for number in self.active.get(thread, ()):
            tape = self.trace.tapes[number]
            if tape.auto_watch and not any(w.value is value for w in tape.watches):
                tape.watches.append(Watch(value, time, place, automatic=True))

    def _made(
        self, time: int, it: Any, layer: Any, code: CodeType, offset: int, thread: int
    ) -> None:
        handle = _handle(it)
        if handle is None:
            return
        place = at(code, offset)
        variable = self._variable(handle, it)
        known = self._layer(layer)
        variable.made = known.made if known is not None and known.made is not None else place
        variable.time = time
        first = self.pending.pop(id(handle), None)
        if first is not None and id(handle) not in self.current:
            value = self._fresh(handle, variable)
            self._add(
                Event(
                    "tf.Variable", "tf.Variable", [first[1]], [value], place, first[0], way="rewrap"
                ),
                thread,
            )

    def _store(
        self, time: int, handle: Any, how: str, inputs: list[Value], place: Place, thread: int,
        measures: bool,
    ) -> None:  # fmt: skip
        it = self._known_variable(handle)
        if id(handle) not in self.variables and how == "assign" and inputs:
            self.pending[id(handle)] = time, inputs[0]
            if not self._made_before(it):
                return
        variable = self._variable(handle, it)
        before = self.current.get(id(handle))
        inputs = inputs[:]
        if how in ("assign_add", "assign_sub") and before is not None:
            inputs.append(before)
        value = self._fresh(handle, variable)
        if how == "assign" and len(inputs) == 1:
            value.thing = inputs[0].thing
        way = "metric" if measures else "assign"
        self._add(Event(how, how, inputs, [value], place, time, way=way), thread)

    def _made_before(self, it: Any) -> bool:
        """Was the variable there before the log began?"""
        return it is not None and not any(
            event[0] == raw.MADE and event[1] is it for event in self.engine.log
        )

    # --- leaving and coming back ------------------------------------------------------------------
    def _escape(self, time: int, it: Any, name: str, result: Any, stack: Any, *where: Any) -> None:
        if stack:
            self.exits.append(Exit(self._value(it, time), EXITS[name], result, stack, time))
            self.held.append(result)

    def _convert(
        self, time: int, given: Any, tensor: Any, stack: Any, handed: bool, *where: Any
    ) -> None:
        known = self.by_object.get(id(given)) if isinstance(given, np.ndarray) else None
        if known is not None and stack:  # an array that is known: of predict, or a source
            self._alias(tensor, known)
            return
        value = self._keep(TensorValue(tensor, place=at(*stack[0]) if stack else None), tensor)
        self.held.append(given)
        handle = _handle(given)
        if handle is not None and stack:
            source = self._now(handle, given)
            self._add(
                Event("Const", "tf.constant", [source], [value], at(*stack[0]), time, "copy"),
                where[-1],
            )
        elif handed and stack:
            self.entries.append(Entry(value, given, stack, time))

    def _predict(
        self, time: int, model: Any, name: str, x: Any, result: Any, frames: Any, *where: Any
    ) -> None:
        import tensorflow as tf

        code, offset, thread = where
        given = [
            v
            for v in [*tf.nest.flatten(x), *model.weights]
            if _is_tensor(v) or _handle(v) is not None
        ]
        arrays = [a for a in tf.nest.flatten(result) if isinstance(a, np.ndarray)]
        outputs = [self._keep(Value("array", a, thing=a), a) for a in arrays]
        event = Event(
            name, f"{model.name}.{name}", [self._value(v, time) for v in given], outputs,
            at(code, offset), time, way="predict",
        )  # fmt: skip
        self._add(event, thread)
        self.exits += [Exit(o, name, o.array, frames, time) for o in outputs]

    # --- tapes ------------------------------------------------------------------------------------
    def _start(self, time: int, number: int, it: Any, code: Any, offset: int, thread: int) -> None:
        tape = self.trace.tapes.get(number)
        if tape is None:
            tape = Tape(number, it._persistent, it._watch_accessed_variables, at(code, offset))
            self.trace.tapes[number] = tape
        tape.spans.append([time, float("inf")])
        self.active.setdefault(thread, []).append(number)

    def _stop(self, time: int, number: int, code: Any, offset: int, thread: int) -> None:
        tape = self.trace.tapes.get(number)
        if tape is not None and tape.spans:
            tape.spans[-1][1] = time
        if number in self.active.get(thread, ()):
            self.active[thread].remove(number)

    def _watch(self, time: int, number: int, it: Any, code: Any, offset: int, thread: int) -> None:
        import tensorflow as tf

        tape = self.trace.tapes.get(number)
        for part in tf.nest.flatten(it):
            if tape is not None and (_is_tensor(part) or _handle(part) is not None):
                value = self._value(part, time)
                watched: Any = value.variable if value.variable is not None else value
                tape.watches.append(Watch(watched, time, at(code, offset)))

    def _query(
        self, time: int, number: int, method: str, target: Any, sources: Any, *rest: Any
    ) -> None:
        import tensorflow as tf

        args, kwargs, result, error, code, offset, thread = rest
        place = at(code, offset)
        tape = self.trace.tapes.get(number)
        if tape is None:  # entered never, or long ago
            tape = self.trace.tapes[number] = Tape(number, False, True, place)
        tape.queries += 1
        self.steps[place] = self.steps.get(place, 0) + 1
        flat = tf.nest.flatten(sources)
        given = [None] * len(flat) if result is None else tf.nest.flatten(result)
        answers = [
            Answer(self._source(s, time), "", gradient_array(g), sparse=hasattr(g, "indices"))
            for s, g in zip(flat, given, strict=False)
        ]
        targets = [self._target(t, time, ((code, offset),)) for t in tf.nest.flatten(target)]
        query = Query(
            tape, method, targets, "", answers, place, time, self.steps[place], error=error,
            zeros=_asks_zeros(args, kwargs), seeds=_seeds(method, targets, args, kwargs),
        )  # fmt: skip
        self.trace.queries.append(query)
        self._gradient_event(query, given, thread)

    def _target(self, target: Any, time: int, frames: Any) -> Value:
        value = self._value(target, time)
        if value.kind == "number" and value.array is not None:
            self.entries.append(Entry(value, target, frames, time))
        return value

    def _source(self, source: Any, time: int) -> Any:
        value = self._value(source, time)
        if isinstance(source, np.ndarray):
            self._array_source(source, value, time)
        return value.variable if _handle(source) is not None else value

    def _array_source(self, source: Any, value: Value, time: int) -> None:
        """A NumPy array as a source: where it became a constant, the path leads on."""
        for entry in self.entries:
            if entry.given is source and entry.value is not value and entry.value.maker is None:
                self._add(
                    Event("Const", "constant", [value], [entry.value], at(*entry.stack[0]),
                          entry.time, way="array")
                )  # fmt: skip

    def _gradient_event(self, query: Query, given: list, thread: int) -> None:
        """The answers, as made by the query, where no recorded op made them."""
        tensors = [getattr(g, "values", g) if hasattr(g, "indices") else g for g in given]
        outputs = [self._value(g, query.time) for g in tensors if _is_tensor(g)]
        outputs = [o for o in outputs if o.maker is None]
        if outputs:
            inputs = [
                a.source if isinstance(a.source, Value) else self._of(a.source)
                for a in query.answers
                if isinstance(a.source, (Value, Variable))
            ]
            self._add(
                Event(query.method, f"tape.{query.method}", [*inputs, *query.targets], outputs,
                      query.place, query.time, way="gradient"), thread,
            )  # fmt: skip

    def _of(self, variable: Variable) -> Value:
        return self._now(_handle(variable.owner), variable.owner)


def asked(event: tuple, frame: FrameType) -> Asked:
    """What the doctor looks at after every query, as arrays."""
    import tensorflow as tf

    _, _, method, target, sources, _, _, result, error, code, offset, _ = event
    flat = tf.nest.flatten(sources)
    given = [None] * len(flat) if result is None else tf.nest.flatten(result)
    return Asked(
        method, (code, offset), target, sources, frame, error,
        [gradient_array(g) for g in given], [None] * len(flat),
        [gradient_array(t) if hasattr(t, "_numpy") else None for t in tf.nest.flatten(target)],
    )  # fmt: skip


def _handle(thing: Any) -> Any:
    """The handle of a variable, TensorFlow's or Keras's; None of everything else."""
    if thing is None or hasattr(thing, "_numpy") or not hasattr(thing, "handle"):
        return None
    handle = thing.handle
    return handle if getattr(getattr(handle, "dtype", None), "name", "") == "resource" else None


def _is_tensor(thing: Any) -> bool:
    return hasattr(thing, "_numpy")


def _has_history(value: Value) -> bool:
    return value.maker is not None or value.variable is not None


def _attributes(kind: str, inputs: Any, attrs: Any) -> dict[str, Any]:
    found = ops.attributes(attrs)
    if kind == "Transpose":
        found["axes"] = tuple(values.array(inputs[1]).tolist())
    return found


def _way(kind: str) -> str:
    passes = "Dataset" in kind or kind.startswith(("Iterator", "MakeIterator", "Queue"))
    return "dataset" if passes else "op"


def _asks_zeros(args: Any, kwargs: Any) -> bool:
    """Was `unconnected_gradients="zero"` given, as word or as member of the enumeration?"""
    given = [kwargs.get("unconnected_gradients"), *args]
    return any(str(getattr(g, "value", g)) == "zero" for g in given if not _is_tensor(g))


def _seeds(method: str, targets: list[Value], args: Any, kwargs: Any) -> list | None:
    """The arrays given as `output_gradients`, None when there are none."""
    import tensorflow as tf

    given = kwargs.get("output_gradients", args[0] if args and method == "gradient" else None)
    if given is None:
        return None
    return [
        None if g is None else np.asarray(g, dtype=t.dtype)
        for g, t in zip(tf.nest.flatten(given), targets, strict=False)
    ]
