"""Reads the log of gradtape's adapter into a neutral trace."""

from __future__ import annotations

import ast
from functools import partial
from typing import Any

import numpy as np

from .... import nest
from ....autodiff.sweep import sweep
from ....autodiff.tape import GradientTape
from ....control import python
from ....core.apply import tensor as untracked
from ....core.record import Value as Engine_value
from ....framework import convert
from ....framework.tensor import Tensor
from ....framework.variable import Variable as Engine_variable
from ....ops.rows import Slices
from ...facts.detours import Entry, Exit
from ...source.place import Place, Written, at
from ...trace import Event, Value, Variable, Watch
from .. import gradtape as raw
from ..joining import Joiner
from ..keras import KeptLayer
from ..quiet import quiet
from .answers import Answers
from .datasets import PASSED, STORED, Datasets
from .fading import Again, Faded, FadedValue
from .models import PREDICT, held
from .stand_ins import KeptVariable, twin_of

OUT = -1  # the number of an op's own result in a sweep of one record


class OpEvent(Event):
    """An op: it pulls and plays again with what the log holds of it, and so takes less memory."""

    __slots__ = ("_other_pull", "_other_replay", "raw")

    def __init__(
        self, raw: tuple, inputs: list[Value], outputs: list[Value], place: Place, time: float,
        attrs: dict, outer: Any, layer: Any,
    ) -> None:  # fmt: skip
        self.kind, self.name, self.inputs, self.outputs = (
            raw[0].kind,
            raw[0].name,
            inputs,
            outputs,
        )
        self.place, self.time, self.way, self.attrs, self.back = place, time, "op", attrs, None
        self.sure, self.outer, self.layer, self.tapes = True, outer, layer, frozenset()
        self.raw = raw  # the op, its operands, parameters and result
        self._other_pull = self._other_replay = None

    @property
    def pull(self) -> Any:
        return self._other_pull or partial(_pull, *self.raw)

    @pull.setter
    def pull(self, pull: Any) -> None:
        self._other_pull = pull

    @property
    def replay(self) -> Any:
        return self._other_replay or partial(_replay, *self.raw[:3])

    @replay.setter
    def replay(self, replay: Any) -> None:
        self._other_replay = replay


class Reader(Joiner, Datasets):
    """One reading: values by the objects that the log holds."""

    EXITS = raw.EXITS

    def __init__(self, engine: raw.Engine) -> None:
        super().__init__(engine)
        Datasets.__init__(self)
        self.by_array: dict[int, Value] = {}
        self.again = Again()
        self.places: dict[tuple[int, int], Place] = {}  # a quicker `at`: code has a slow hash
        self.inside: list[tuple] = []
        self.numbers: dict[float, Any] = {}  # Python numbers as arrays
        self.left = any(event[0] == raw.ESCAPE for event in engine.log)
        self.stacks: dict[int, tuple] = {}  # where an array was converted, by its id
        self.readers = {
            raw.OP: self._op, raw.READ: self._read, raw.MADE: self._made,
            raw.ASSIGN: self._assign, raw.CONVERT: self._convert, raw.ESCAPE: self._escape,
            raw.START: self._start, raw.STOP: self._stop, raw.RESET: self._reset,
            raw.WATCH: self._watch,
            raw.INSIDE: self._inside, raw.CUSTOM: self._custom,
            raw.QUERY: self._query, raw.FROZEN: self._frozen, PREDICT: self._predict,
            STORED: self._into_dataset, PASSED: self._out_of_dataset,
        }  # fmt: skip

    # --- gradtape's tensors -----------------------------------------------------------------------
    def _flat(self, structure: Any) -> list:
        return nest.flatten(structure)

    def _is_followed(self, thing: Any) -> bool:
        return thing.__class__ is KeptVariable or convert.is_tensor_like(held(thing))

    def _is_variable(self, thing: Any) -> bool:
        return thing.__class__ is KeptVariable or isinstance(held(thing), Engine_variable)

    def _target(self, target: Any, time: float, frames: Any) -> Value:
        return self._value(target, time, frames)

    def _latest(self, variable: Variable) -> Value | None:
        owner = held(variable.owner)
        kept = owner if owner.__class__ is KeptVariable else self.engine.stand_ins.variable(owner)
        return self.current.get(id(kept))

    def _answered(self, gradient: Any) -> Any:
        return gradient if isinstance(gradient, Engine_value) else None

    def _array(self, thing: Any, dtype: Any = None) -> Any:
        if thing.__class__ is KeptVariable:
            thing = self._value(thing, 0.0).array
        if dtype is None:
            return raw.gradient_array(thing)
        return np.asarray(convert.to_tensor(thing)._value, dtype=dtype)

    def _at(self, code: Any, offset: int) -> Place:
        known = self.places.get((id(code), offset))
        if known is None:
            known = self.places[id(code), offset] = at(code, offset)  # the log holds the code
        return known

    # --- values -----------------------------------------------------------------------------------
    def _value(
        self, thing: Any, time: float, stack: Any = None, operand: int | None = None
    ) -> Value:
        """The value of an operand, whatever it is."""
        thing = held(thing)
        if isinstance(thing, Engine_variable):
            thing = self.engine.stand_ins.variable(thing)
        if thing.__class__ is KeptVariable:
            return self.current.get(id(thing)) or self._unread(time, thing)
        if thing.__class__ is Faded:
            return self._faded(thing)
        if thing.__class__ is Tensor:
            thing = twin_of(thing)
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

    def _faded(self, faded: Faded) -> Value:
        """A tensor that was let go: it itself, where somebody held it."""
        thing = faded.thing
        known = self.by_object.get(id(faded if thing is None else thing))
        if known is not None:
            return known
        if thing is not None:
            return self._new("tensor", thing._value, thing)
        value = self.by_object[id(faded)] = FadedValue(faded, self.again)
        self.trace.values.append(value)
        self.held.append(faded)
        return value

    def _given(self, thing: Any, time: float, stack: Any, operand: int | None) -> Value:
        """A Python number, an array, a list of them, as an operand."""
        if isinstance(thing, (list, tuple)) and convert.holds_tensor(thing):
            return self._new("number", None, thing)
        try:
            array = self.numbers.get(thing) if thing.__class__ is float else None
            if array is None:
                array = np.asarray(thing)
                if thing.__class__ is float and thing:  # of zeros there are two that are equal
                    self.numbers[thing] = array
        except (TypeError, ValueError):
            array = None
        kind = "array" if isinstance(thing, (np.ndarray, np.generic)) else "number"
        value = self._new(kind, array, thing if kind == "array" else None)
        if stack and (self.left or kind == "array"):  # else there is nothing that may come back
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
        for result in tensors:
            t = twin_of(result) if result.__class__ is Tensor else result
            known = self._faded(t) if t.__class__ is Faded else self.by_object.get(id(t))
            made.append(known if known is not None else self._new("tensor", t._value, t))
        return made

    # --- ops --------------------------------------------------------------------------------------
    def _op(
        self, time: float, op: Any, operands: Any, params: Any, result: Any, flat: Any, layer: Any,
        code: Any, offset: int, thread: int,
    ) -> None:  # fmt: skip
        outer = tuple(zip(flat[::2], flat[1::2], strict=True)) if flat else ()
        inputs, known, faded = [], self.by_object.get, result.__class__ is Faded
        for k, a in enumerate(operands):
            value = known(id(a))
            if value is None:
                value = self._value(a, time, ((code, offset), *outer), k)
                faded = faded or a.__class__ is Faded
            inputs.append(value)
            if self._is_variable(a):
                operands = (*operands[:k], untracked(value.array), *operands[k + 1 :])
        outputs = self._results(result)
        # TensorFlow's op has the logits first.
        attrs = {**params, "logits": 1} if op.name == "cross_entropy" else params
        place = self._at(code, offset)
        if op.label in ("PyFunc", "EagerPyFunc"):  # Python is not run again
            way = "pyfunc" if op.label == "PyFunc" else "op"
            event = Event(op.label, op.name, inputs, outputs, place, time, way, attrs)
            event.pull = None if way == "pyfunc" else partial(_pull, op, operands, params, result)
        elif faded or any(a.__class__ is Faded for a in operands):
            pull, replay = _later(op, operands, params, result, inputs[:], outputs[:])
            event = Event(
                op.kind, op.name, inputs, outputs, place, time, attrs=attrs, pull=pull,
                outer=outer, replay=replay, layer=self._layer(layer),
            )  # fmt: skip
        else:
            raw = (op, operands, params, result)
            event = OpEvent(raw, inputs, outputs, place, time, attrs, outer, self._layer(layer))
        self._add(event, thread)

    def _inside(self, time: float, op: Any, grad: Any, operands: Any, *where: Any) -> None:
        self.inside.append((op, grad, operands))

    def _custom(self, time: float, function: Any, args: Any, result: Any, *where: Any) -> None:
        code, offset, thread = where
        outputs = [
            self._new("tensor", r._value, self.engine.stand_ins.keep(r))
            for r in nest.flatten(result)
            if isinstance(r, Engine_value)
        ]
        if not self.inside:  # nobody follows an input: what ran inside is what there is
            return
        op, grad, operands = self.inside.pop()
        inputs = [self._value(a, time) for a in operands]
        inside = [self._value(r, time) for r in op.inside]

        def pull(cotangents: Any) -> list:
            with quiet():  # what the user's function prints was printed once
                return [_dense(h) for h in _answered(op.rules[0], list(cotangents))]

        if getattr(function._f, "__module__", None) == python.__name__:
            event = Event(
                "EagerPyFunc", "py_function", inputs, outputs, self._at(code, offset), time,
                pull=pull, attrs={"function": function.__wrapped__},
            )  # fmt: skip
            self._add(event, thread)
            return
        event = Event(
            "CustomGradient", getattr(function, "__name__", "custom_gradient"), inputs, outputs,
            self._at(code, offset), time, pull=pull,
            attrs={"function": function, "grad": grad, "inside": inside},
        )  # fmt: skip
        self._add(event, thread)

    def _frozen(self, time: float, frozen: Any, now: Any, thread: int) -> None:
        """A tensor that a function keeps, where the user has another by now."""
        if now is None or now is frozen.tensor:
            return
        keep = self.engine.stand_ins.keep
        known = self.by_object.get(id(keep(now)))
        if known is not None:
            made = self._new("tensor", frozen.tensor._value, keep(frozen.tensor))
            name, place = ast.unparse(frozen.node), Written(frozen.code, frozen.node)
            self._add(Event("Const", name, [known], [made], place, time, "frozen"), thread)

    # --- variables --------------------------------------------------------------------------------
    def _unread(self, time: float, it: KeptVariable) -> Value:
        """The value of a variable that no event tells of."""
        if it.variable is not None:
            return self._reading(time, it, twin_of(it.variable._seen))
        return self._new("variable", None, None, self._variable(it))

    def _variable(self, it: KeptVariable, place: Place | None = None) -> Variable:
        known = self.variables.get(id(it))
        if known is None:
            owner = it if it.variable is None else self.engine.owner(it.variable)
            name = getattr(owner, "path", None) or owner.name
            known = Variable(len(self.variables), owner.trainable, name, place, owner=owner)
            self.variables[id(it)] = known
            self.trace.variables.append(known)
            self.held.append(it)
        return known

    def _reading(self, time: float, it: KeptVariable, seen: Any) -> Value:
        before = self.current.get(id(it))
        value = self._held_then(seen, self._variable(it))
        self.current[id(it)] = value
        if before is not None and before.maker is not None and _same(before, value):
            value.maker = before.maker  # the same value, read under other tapes
            value.maker.outputs.append(value)
        return value

    def _held_then(self, thing: Any, variable: Variable, compute: Any = None) -> Value:
        """What a variable held: a tensor that was read of it, an array, or what stands for it."""
        faded, held = thing, thing
        if thing.__class__ is Faded:
            held = faded.array if faded.thing is None else faded.thing
            if held is None:
                lost = self.by_object[id(faded)] = FadedValue(faded, self.again, variable)
                lost.compute = compute
                self.trace.values.append(lost)
                self.held.append(faded)
                return lost
        of_tensor = isinstance(held, Engine_value)
        array = held._value if of_tensor else held
        value = self._new("variable", array, held if of_tensor else None, variable)
        self.by_array[id(array)] = value
        if thing is not held:
            self.by_object[id(faded)] = value
        self.held += [array, thing]
        return value

    def _read(self, time: float, it: Any, seen: Any, code: Any, offset: int, thread: int) -> None:
        value = self._reading(time, it, seen)
        if it.trainable:
            for number in self.active.get(thread, ()):
                tape = self.trace.tapes[number]
                if tape.auto_watch:
                    tape.watch(Watch(value, time, self._at(code, offset), automatic=True))

    def _made(self, time: float, it: Any, given: Any, array: Any, *where: Any) -> None:
        layer, code, offset, thread = where
        place = self._at(code, offset)
        variable, known = self._variable(it, place), self._layer(layer)
        variable.made = known.made if known is not None and known.made is not None else place
        variable.time = time
        self._stored(time, it, given, array, "rewrap", "tf.Variable", place, thread)

    def _assign(self, time: float, it: Any, how: str, given: Any, array: Any, *where: Any) -> None:
        measures, code, offset, thread = where
        way = "metric" if measures else "assign"
        self._stored(time, it, given, array, way, how, self._at(code, offset), thread)

    def _stored(
        self, time: float, it: Any, given: Any, array: Any, way: str, name: str, place: Place,
        thread: int,
    ) -> None:  # fmt: skip
        inputs = [self._value(given, time, ((place.code, place.offset),))]
        before = self.current.get(id(it))
        if name in ("assign_add", "assign_sub") and before is not None:
            inputs.append(before)
        taken = inputs[0]
        compute = None if len(inputs) > 1 else lambda: taken.array  # what was assigned
        value = self._held_then(array, self._variable(it), compute)
        self.current[id(it)] = value
        self._add(Event(name, name, inputs, [value], place, time, way=way), thread)

    # --- leaving and coming back ------------------------------------------------------------------
    def _convert(self, time: float, given: Any, array: Any, stack: Any, *where: Any) -> None:
        if not stack:
            return
        known = self.by_object.get(id(given)) if isinstance(given, np.ndarray) else None
        if known is not None:  # an array that is known: of predict, or a source
            self.by_array[id(array)] = known
            self.held.append(array)
            return
        value = self._new("tensor", array, None)
        value.place = at(*stack[0])
        self.by_array[id(array)] = value
        self.held.append(array)
        self.stacks[id(given)] = given, stack
        if self._is_variable(given):
            source = self._value(given, time)
            copy = Event("Const", "tf.constant", [source], [value], at(*stack[0]), time, "copy")
            self._add(copy, where[-1])
        else:
            self.entries.append(Entry(value, given, stack, time))

    def _predict(
        self, time: float, kept: KeptLayer, name: str, x: Any, result: Any, frames: Any, *where: Any
    ) -> None:
        code, offset, thread = where
        model = kept.layer()
        weights = [] if model is None else model.weights
        given = [t for t in map(held, [*nest.flatten(x), *weights]) if self._is_followed(t)]
        arrays = [a for a in nest.flatten(result) if isinstance(a, np.ndarray)]
        outputs = [self._new("array", a, a) for a in arrays]
        event = Event(
            name, f"{kept.name}.{name}", [self._value(v, time) for v in given], outputs,
            self._at(code, offset), time, way="predict",
            pull=None if model is None else partial(_pull_model, self.engine, model, x, given),
        )  # fmt: skip
        self._add(event, thread)
        self.exits += [Exit(o, name, o.array, frames, time) for o in outputs]


# --- a model that was asked to predict ------------------------------------------------------------
def _pull_model(engine: raw.Engine, model: Any, x: Any, given: list, cotangents: Any) -> list:
    """The cotangents through it: it is called, on a tape, of which nobody hears."""
    with engine.functions.unheard(), quiet(), GradientTape() as tape:
        tape.watch([v for v in given if not isinstance(v, Engine_variable)])
        results = [convert.to_tensor(r) for r in nest.flatten(model(x, training=False))]
    seeds = [None if g is None else untracked(np.asarray(g)) for g in cotangents]
    return [_dense(_number(g)) for g in tape.gradient(results, given, seeds)]


def _number(gradient: Any) -> Any:
    return raw.gradient_array(convert.to_tensor(gradient)) if gradient is not None else None


# --- an op whose tensors were let go --------------------------------------------------------------
def _later(
    op: Any, operands: Any, params: dict, result: Any, inputs: list[Value], outputs: list[Value]
) -> tuple[Any, Any]:
    """How it pulls and plays again: with the numbers that its operands had, when they are asked
    for. What it made is computed once more by its forward function."""

    def given() -> tuple:
        return tuple(map(_held, operands, inputs))

    def compute() -> Any:
        return np.asarray(op.forward(*[t._value for t in _tensors(op, given())], **params))

    for made in outputs:
        if isinstance(made, FadedValue):
            made.compute = compute

    def pull(cotangents: Any) -> list:
        made = _held(result, outputs[0]) if len(outputs) == 1 else result
        return _pull(op, given(), params, made, cotangents)

    return pull, lambda arrays, whole=False: _replay(op, given(), params, arrays, whole)


def _same(one: Value, other: Value) -> bool:
    """Are these the same array, or were they?"""
    if isinstance(one, FadedValue) and isinstance(other, FadedValue):
        return one.faded.of_same_array(other.faded)
    arrays = [v.faded.array if isinstance(v, FadedValue) else v.array for v in (one, other)]
    return arrays[0] is not None and arrays[0] is arrays[1]


def _held(thing: Any, value: Value) -> Any:
    if thing.__class__ is not Faded:
        return thing
    array = value.array
    if array is None:
        raise LookupError("its numbers were too large to be kept")
    return untracked(array)


# --- one op, forwards again -----------------------------------------------------------------------
def _replay(
    op: Any, operands: Any, params: dict, arrays: Any, whole: bool = False
) -> tuple[list, Any]:
    """The op on other arrays, real numbers in double precision, and so whole ones on request."""
    taken = [t._value for t in _tensors(op, operands)]
    kinds = "fViu" if whole else "fV"
    tensors = tuple(
        untracked(np.asarray(a, np.float64 if t.dtype.kind in kinds else t.dtype)[()])
        for a, t in zip(arrays, taken, strict=True)
    )
    given = dict(params)
    if op.label == "Cast" and np.dtype(params["dtype"]).kind in "fV":
        given["dtype"] = np.dtype(np.float64)
    result = op.forward(*[t._value for t in tensors], **given)
    several = isinstance(result, tuple)
    outputs = tuple(untracked(np.asarray(y)[()]) for y in (result if several else (result,)))
    pull = partial(_pull, op, tensors, given, outputs if several else outputs[0])
    return [t._value for t in outputs], pull


# --- one op, backwards ----------------------------------------------------------------------------
def _pull(op: Any, operands: Any, params: dict, result: Any, cotangents: Any) -> list:
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
    one, several = (None, made) if isinstance(result, tuple) else (OUT, None)
    record = (op, one, None, 0, ids, names, kept, several)
    found = sweep([record], grads, set(wanted), recorded=False)
    return [_dense(found.get(i)) for i in range(len(tensors))]


def _answered(rule: Any, cotangents: list) -> list:
    """What a gradient function answers, or answered when the tape asked it."""
    answer: list = rule.to(cotangents) if isinstance(rule, Answers) else rule(cotangents)
    return answer


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
