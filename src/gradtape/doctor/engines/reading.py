"""Reads the log of gradtape's adapter into a neutral trace."""

from __future__ import annotations

from contextlib import redirect_stdout
from io import StringIO
from typing import Any

import numpy as np

from ... import convert, nest
from ...core.apply import tensor as untracked
from ...core.record import Value as Engine_value
from ...ops.rows import Slices
from ...sweep import sweep
from ...variable import Variable as Engine_variable
from ..detours import Entry, Exit, link
from ..place import Place, at
from ..trace import Answer, Event, Query, Tape, Trace, Value, Variable, Watch
from . import gradtape as raw

_OPAQUE_NAMES = {
    "StopGradient": "stop_gradient", "Multinomial": "categorical", "PyFunc": "numpy_function",
    "EagerPyFunc": "py_function", "RandomShuffle": "shuffle", "InTopKV2": "in_top_k",
    "StatelessMultinomial": "stateless_categorical", "StatelessShuffle": "stateless_shuffle",
    "StatelessRandomPoisson": "stateless_poisson", "StatelessRandomBinomial": "stateless_binomial",
    "NotEqual": "count_nonzero", "Equal": "zero_fraction", "LessEqual": "is_non_decreasing",
    "Less": "is_strictly_increasing", "DenseBincount": "bincount", "Greater": "matrix_rank",
    "ScatterNd": "confusion_matrix",
}  # fmt: skip
OUT = -1  # the number of an op's own result in a sweep of one record


class Reader:
    """One reading: values by the objects that the log holds."""

    def __init__(self, engine: raw.Engine) -> None:
        self.engine = engine
        self.trace = Trace(engine.name)
        self.by_object: dict[int, Value] = {}
        self.by_array: dict[int, Value] = {}
        self.variables: dict[int, Variable] = {}
        self.current: dict[int, Value] = {}  # the last read of each variable, by its id
        self.exits: list[Exit] = []
        self.entries: list[Entry] = []
        self.active: dict[int, list[int]] = {}  # tapes that are recording, by thread
        self.inside: list[tuple] = []
        self.steps: dict[Place, int] = {}
        self.held: list[Any] = []
        self.stacks: dict[int, tuple] = {}  # where an array was converted, by its id

    def read(self) -> Trace:
        readers: dict[int, Any] = {
            raw.OP: self._op, raw.READ: self._read, raw.MADE: self._made,
            raw.ASSIGN: self._assign, raw.CONVERT: self._convert, raw.ESCAPE: self._escape,
            raw.START: self._start, raw.STOP: self._stop, raw.WATCH: self._watch,
            raw.OPAQUE: self._opaque, raw.INSIDE: self._inside, raw.CUSTOM: self._custom,
            raw.QUERY: self._query, raw.INDEX: self._index,
        }  # fmt: skip
        for time, logged in enumerate(self.engine.log):
            readers[logged[0]](time, *logged[1:])
        self.trace.exits = self.exits
        for event in link(self.exits, self.entries):
            if event.outputs[0].maker is None:
                self._add(event)
        self.trace.events.sort(key=lambda event: event.time)
        return self.trace

    # --- values -----------------------------------------------------------------------------------
    def _value(
        self, thing: Any, time: float, stack: Any = None, operand: int | None = None
    ) -> Value:
        """The value of an operand, whatever it is."""
        if isinstance(thing, Engine_variable):
            return self.current.get(id(thing)) or self._reading(time, thing, thing._seen)
        known = self.by_object.get(id(thing))
        if known is not None:
            return known
        if isinstance(thing, Engine_value):
            return self._tensor(thing, time)
        return self._given(thing, time, stack, operand)

    def _tensor(self, thing: Any, time: float) -> Value:
        """A tensor that no event made: a constant, or an old one by another name."""
        twin = self.by_array.get(id(thing._value))
        if twin is not None:
            self.by_object[id(thing)] = twin
            self.held.append(thing)
            return twin
        return self._new("tensor", thing._value, thing)

    def _given(self, thing: Any, time: float, stack: Any, operand: int | None) -> Value:
        """A Python number, an array, a list of them, as an operand."""
        if isinstance(thing, (list, tuple)) and convert.holds_tensor(thing):
            return self._new("number", None, thing)
        try:
            array = np.asarray(thing)
        except (TypeError, ValueError):
            array = None
        kind = "array" if isinstance(thing, (np.ndarray, np.generic)) else "number"
        value = self._new(kind, array, thing if kind == "array" else None)
        if stack:
            known = self.stacks.get(id(thing))
            longer = known is not None and known[1][0] == stack[0] and len(known[1]) > len(stack)
            self.entries.append(
                Entry(value, thing, known[1] if longer and known else stack, time, operand)
            )
        return value

    def _new(self, kind: str, array: Any, thing: Any, variable: Variable | None = None) -> Value:
        value = Value(kind, array, variable=variable, thing=thing)
        self.trace.values.append(value)
        if thing is not None:
            self.by_object[id(thing)] = value
            self.held.append(thing)
        if array is not None and isinstance(thing, Engine_value):
            self.by_array.setdefault(id(array), value)
        return value

    def _results(self, result: Any) -> list[Value]:
        tensors = result if isinstance(result, (tuple, list)) else [result]
        made = []
        for t in tensors:
            known = self.by_object.get(id(t))
            made.append(known if known is not None else self._new("tensor", t._value, t))
        return made

    def _add(self, event: Event, thread: int | None = None) -> None:
        event.tapes = frozenset(self.active.get(thread, ()) if thread is not None else ())
        self.trace.events.append(event)
        for value in event.inputs:
            value.users.append(event)
        for value in event.outputs:
            value.maker = event

    # --- ops --------------------------------------------------------------------------------------
    def _op(
        self, time: float, op: Any, operands: Any, params: Any, result: Any, *where: Any
    ) -> None:
        outer, code, offset, thread = where
        frames = ((code, offset), *(outer or ()))
        inputs = [self._value(a, time, frames, k) for k, a in enumerate(operands)]
        outputs = self._results(result)
        # TensorFlow's op has the logits first.
        attrs = {**params, "logits": 1} if op.name == "cross_entropy" else params
        event = Event(
            op.label, op.name, inputs, outputs, at(code, offset), time, attrs=attrs,
            pull=_puller(op, operands, params, result), outer=outer or [],
            replay=_replayer(op, operands, params),
        )  # fmt: skip
        self._add(event, thread)

    def _opaque(
        self, time: float, kind: str, args: Any, kwargs: Any, result: Any, *where: Any
    ) -> None:
        code, offset, thread = where
        given = [a for a in nest.flatten((args, kwargs)) if convert.is_tensor_like(a)]
        tensors = [r for r in nest.flatten(result) if isinstance(r, Engine_value)]
        made = [self.by_object.get(id(r)) for r in tensors]
        outputs = [self._new("tensor", r._value, r) for r in tensors]  # not the twins of inputs
        if kind != "StopGradient":  # its array is its input's own
            self.by_array.update({id(r._value): o for r, o in zip(tensors, outputs, strict=True)})
        inputs = [self._value(a, time) for a in given]
        pull = None
        if kind == "EagerPyFunc":  # inside, it is a function with a gradient of its own
            own = next((m.maker for m in made if m is not None and m.maker is not None), None)
            inputs, pull = (inputs, None) if own is None else (own.inputs, own.pull)
        way = "pyfunc" if kind == "PyFunc" else "op"
        name = _OPAQUE_NAMES.get(kind, kind)
        attrs = {}
        if kind in ("PyFunc", "EagerPyFunc"):
            attrs["function"] = args[0] if args else kwargs.get("func")
        event = Event(
            kind, name, inputs, outputs, at(code, offset), time, way=way, attrs=attrs, pull=pull
        )
        self._add(event, thread)

    def _index(self, time: float, given: Any, result: Any, *where: Any) -> None:
        """Positions that were read as plain numbers: operands of what chose by them."""
        for made in nest.flatten(result):
            event = self._value(made, time).maker
            if event is None:
                continue
            more = [self._value(g, time) for g in given]
            more = [v for v in more if v not in event.inputs]
            own, replay = len(event.inputs), event.replay
            event.inputs.extend(more)
            if replay is not None:
                event.replay = lambda arrays, own=own, replay=replay: replay(arrays[:own])
            for value in more:
                value.users.append(event)

    def _inside(self, time: float, op: Any, grad: Any, operands: Any, *where: Any) -> None:
        self.inside.append((op, grad, operands))

    def _custom(self, time: float, function: Any, args: Any, result: Any, *where: Any) -> None:
        code, offset, thread = where
        outputs = [
            self._new("tensor", r._value, r)
            for r in nest.flatten(result)
            if isinstance(r, Engine_value)
        ]
        if not self.inside:  # nobody follows an input: what ran inside is what there is
            return
        op, grad, operands = self.inside.pop()
        inputs = [self._value(a, time) for a in operands]
        inside = [self._value(r, time) for r in op.inside]

        def pull(cotangents: Any) -> list:
            with redirect_stdout(StringIO()):  # what the user's function prints was printed once
                return [_dense(h) for h in op.rules[0](list(cotangents))]

        event = Event(
            "CustomGradient", getattr(function, "__name__", "custom_gradient"), inputs, outputs,
            at(code, offset), time, pull=pull,
            attrs={"function": function, "grad": grad, "inside": inside},
        )  # fmt: skip
        self._add(event, thread)

    # --- variables --------------------------------------------------------------------------------
    def _variable(self, it: Any, place: Place | None = None) -> Variable:
        known = self.variables.get(id(it))
        if known is None:
            known = Variable(len(self.variables), it.trainable, it.name, place, owner=it)
            self.variables[id(it)] = known
            self.trace.variables.append(known)
            self.held.append(it)
        return known

    def _reading(self, time: float, it: Any, seen: Any) -> Value:
        before = self.current.get(id(it))
        value = self._new("variable", seen._value, seen, self._variable(it))
        self.current[id(it)] = value
        self.by_array[id(seen._value)] = value
        if before is not None and before.maker is not None and before.array is value.array:
            value.maker = before.maker  # the same value, read under other tapes
            value.maker.outputs.append(value)
        return value

    def _read(self, time: float, it: Any, seen: Any, code: Any, offset: int, thread: int) -> None:
        value = self._reading(time, it, seen)
        if it.trainable:
            for number in self.active.get(thread, ()):
                tape = self.trace.tapes[number]
                if tape.auto_watch:
                    tape.watches.append(Watch(value, time, at(code, offset), automatic=True))

    def _made(self, time: float, it: Any, given: Any, array: Any, *where: Any) -> None:
        code, offset, thread = where
        place = at(code, offset)
        variable = self._variable(it, place)
        variable.made, variable.time = place, time
        self._stored(time, it, given, array, "rewrap", "tf.Variable", place, thread)

    def _assign(self, time: float, it: Any, how: str, given: Any, array: Any, *where: Any) -> None:
        code, offset, thread = where
        self._stored(time, it, given, array, "assign", how, at(code, offset), thread)

    def _stored(
        self, time: float, it: Any, given: Any, array: Any, way: str, name: str, place: Place,
        thread: int,
    ) -> None:  # fmt: skip
        inputs = [self._value(given, time, ((place.code, place.offset),))]
        before = self.current.get(id(it))
        if name in ("assign_add", "assign_sub") and before is not None:
            inputs.append(before)
        value = self._new("variable", array, None, self._variable(it))
        self.current[id(it)] = value
        self.by_array[id(array)] = value
        self.held.append(array)
        self._add(Event(name, name, inputs, [value], place, time, way=way), thread)

    # --- leaving and coming back ------------------------------------------------------------------
    def _escape(
        self, time: float, it: Any, name: str, result: Any, stack: Any, *where: Any
    ) -> None:
        if stack:
            exit = Exit(self._value(it, time), raw.EXITS[name], result, stack, time)
            self.exits.append(exit)
            self.held.append(result)

    def _convert(self, time: float, given: Any, array: Any, stack: Any, *where: Any) -> None:
        if not stack:
            return
        value = self._new("tensor", array, None)
        value.place = at(*stack[0])
        self.by_array[id(array)] = value
        self.held.append(array)
        self.stacks[id(given)] = given, stack
        if isinstance(given, Engine_variable):
            source = self._value(given, time)
            copy = Event("Const", "tf.constant", [source], [value], at(*stack[0]), time, "copy")
            self._add(copy, where[-1])
        else:
            self.entries.append(Entry(value, given, stack, time))

    # --- tapes ------------------------------------------------------------------------------------
    def _start(
        self, time: float, number: int, it: Any, code: Any, offset: int, thread: int
    ) -> None:
        tape = self.trace.tapes.get(number)
        if tape is None:
            tape = Tape(number, it._persistent, it._watch_accessed_variables, at(code, offset))
            self.trace.tapes[number] = tape
        tape.spans.append([time, float("inf")])
        self.active.setdefault(thread, []).append(number)

    def _stop(self, time: float, number: int, code: Any, offset: int, thread: int) -> None:
        tape = self.trace.tapes.get(number)
        if tape is not None and tape.spans:
            tape.spans[-1][1] = time
        if number in self.active.get(thread, ()):
            self.active[thread].remove(number)

    def _watch(
        self, time: float, number: int, it: Any, code: Any, offset: int, thread: int
    ) -> None:
        tape = self.trace.tapes.get(number)
        for part in nest.flatten(it):
            if tape is not None and convert.is_tensor_like(part):
                value = self._value(part, time)
                watched: Any = value.variable if value.variable is not None else value
                tape.watches.append(Watch(watched, time, at(code, offset)))

    def _query(
        self, time: float, number: int, method: str, target: Any, sources: Any, *rest: Any
    ) -> None:
        args, kwargs, result, error, code, offset, thread = rest
        place = at(code, offset)
        tape = self.trace.tapes.get(number)
        if tape is None:  # entered never, or long ago
            tape = self.trace.tapes[number] = Tape(number, False, True, place)
        tape.queries += 1
        self.steps[place] = self.steps.get(place, 0) + 1
        flat = nest.flatten(sources)
        given = [None] * len(flat) if result is None else nest.flatten(result)
        answers = [
            Answer(self._source(s, time), "", raw.gradient_array(g), sparse=hasattr(g, "indices"))
            for s, g in zip(flat, given, strict=False)
        ]
        targets = [self._value(t, time, ((code, offset),)) for t in nest.flatten(target)]
        query = Query(
            tape, method, targets, "", answers, place, time, self.steps[place], error=error,
            zeros=_asks_zeros(args, kwargs), seeds=_seeds(method, targets, args, kwargs),
        )  # fmt: skip
        self.trace.queries.append(query)
        self._gradient_event(query, given, thread)

    def _source(self, source: Any, time: float) -> Any:
        value = self._value(source, time)
        if isinstance(source, np.ndarray):
            self._array_source(source, value, time)
        return value.variable if isinstance(source, Engine_variable) else value

    def _array_source(self, source: Any, value: Value, time: float) -> None:
        """A NumPy array as a source: where it became a constant, the path leads on."""
        for entry in self.entries:
            if entry.given is source and entry.value is not value and entry.value.maker is None:
                self._add(
                    Event("Const", "constant", [value], [entry.value], at(*entry.stack[0]),
                          entry.time, way="array")
                )  # fmt: skip

    def _gradient_event(self, query: Query, given: list, thread: int) -> None:
        """The answers, as made by the query, where no recorded op made them."""
        tensors = [g for g in given if isinstance(g, Engine_value)]
        outputs = [self._value(g, query.time) for g in tensors]
        outputs = [o for o in outputs if o.maker is None]
        if outputs:
            inputs = [
                a.source if isinstance(a.source, Value) else self.current[id(a.source.owner)]
                for a in query.answers
                if a.array is not None
                and (isinstance(a.source, Value) or id(a.source.owner) in self.current)
            ]
            self._add(
                Event(query.method, f"tape.{query.method}", [*inputs, *query.targets], outputs,
                      query.place, query.time, way="gradient"), thread,
            )  # fmt: skip


def _asks_zeros(args: Any, kwargs: Any) -> bool:
    """Was `unconnected_gradients="zero"` given, as word or as member of the enumeration?"""
    given = [kwargs.get("unconnected_gradients"), *args]
    return any(str(getattr(g, "value", g)) == "zero" for g in given if not hasattr(g, "_value"))


def _seeds(method: str, targets: list[Value], args: Any, kwargs: Any) -> list | None:
    """The arrays given as `output_gradients`, None when there are none."""
    given = kwargs.get("output_gradients", args[0] if args and method == "gradient" else None)
    if given is None:
        return None
    flat = nest.flatten(given)
    return [
        None if g is None else np.asarray(convert.to_tensor(g)._value, dtype=t.dtype)
        for g, t in zip(flat, targets, strict=False)
    ]


# --- one op, forwards again -----------------------------------------------------------------------
def _replayer(op: Any, operands: Any, params: dict) -> Any:
    """The op on other arrays, real numbers in double precision."""

    def replay(arrays: Any) -> tuple[list, Any]:
        taken = [t._value for t in _tensors(op, operands)]
        tensors = tuple(
            untracked(np.asarray(a, np.float64 if t.dtype.kind in "fV" else t.dtype)[()])
            for a, t in zip(arrays, taken, strict=True)
        )
        given = dict(params)
        if op.label == "Cast" and np.dtype(params["dtype"]).kind in "fV":
            given["dtype"] = np.dtype(np.float64)
        result = op.forward(*[t._value for t in tensors], **given)
        several = isinstance(result, tuple)
        outputs = tuple(untracked(np.asarray(y)[()]) for y in (result if several else (result,)))
        pull = _puller(op, tensors, given, outputs if several else outputs[0])
        return [t._value for t in outputs], pull

    return replay


# --- one op, backwards ----------------------------------------------------------------------------
def _puller(op: Any, operands: Any, params: dict, result: Any) -> Any:
    def pull(cotangents: Any) -> list:
        tensors = _tensors(op, operands)
        results = result if isinstance(result, tuple) else (result,)
        wanted = [
            i for i, t in enumerate(tensors)
            if t is not None and t._value.dtype.kind in "fcV"
        ]  # fmt: skip
        tracked = tuple(i in wanted for i in range(len(tensors)))
        ids = [i if on else None for i, on in enumerate(tracked)]
        names, keep = op.plan(tracked)
        kept = keep(tensors, params, result)
        made = [OUT - k for k in range(len(results))]
        grads = {i: g for i, g in zip(made, cotangents, strict=True) if g is not None}
        if not grads:
            return [None] * len(tensors)
        record: tuple = (op, OUT, ids, names, kept, None, 0)
        if isinstance(result, tuple):
            record = (op, None, *record[2:], made)
        found = sweep([record], grads, set(wanted), recorded=False)
        return [_dense(found.get(i)) for i in range(len(tensors))]

    return pull


def _dense(h: Any) -> Any:
    if h is None:
        return None
    return h.dense() if h.__class__ is Slices else np.asarray(h)


def _tensors(op: Any, operands: Any) -> tuple:
    """The operands as the op took them."""
    operands = tuple(a._seen if isinstance(a, Engine_variable) else a for a in operands)
    if len(operands) == 2 and op.broadcasts:
        pair = convert.pair(op, *operands)
        return pair if pair is NotImplemented else tuple(untracked(t._value) for t in pair)
    return tuple(convert.to_tensor(a) for a in operands)
