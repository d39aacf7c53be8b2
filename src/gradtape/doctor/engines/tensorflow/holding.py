"""Holds the values of a trace while the log is read: tensors by their objects, and variables."""

from __future__ import annotations

from contextlib import suppress
from types import CodeType
from typing import Any

import numpy as np

from ...facts.detours import Entry
from ...source.place import Place
from ...source.place import at as _at
from ...trace import Event, Value, Variable, Watch
from ..gradtape.fading import Again, Faded
from ..joining import Joiner
from . import engine as raw
from . import ops, values
from .autograph import original
from .values import FadedTensor, TensorValue, gradient_array

# What may have come from a tensor by way of Python.
PLAIN = (float, int, complex, np.ndarray, np.generic, list, tuple)


def at(code: CodeType, offset: int) -> Place:
    """The place of an instruction, in the user's own source."""
    return _at(*original(code, offset))


class Holder(Joiner):
    """The values of one reading; variables are known by their handles' ids."""

    def __init__(self, engine: raw.Engine) -> None:
        super().__init__(engine)
        self.pending: dict[int, tuple] = {}  # what a variable was given before it was there
        self.again = Again(values.size)
        self.made_here = {id(e[1].handle) for e in engine.log if e[0] == raw.MADE}

    # --- TensorFlow's tensors ---------------------------------------------------------------------
    def _at(self, code: CodeType, offset: int) -> Place:
        return at(code, offset)

    def _flat(self, structure: Any) -> list:
        import tensorflow as tf

        return tf.nest.flatten(structure)

    def _is_followed(self, thing: Any) -> bool:
        return is_tensor(thing) or self._is_variable(thing)

    def _is_variable(self, thing: Any) -> bool:
        return handle_of(thing) is not None

    def _target(self, target: Any, time: float, frames: Any) -> Value:
        value = self._value(target, time)
        if value.kind in ("number", "array") and value.array is not None and value.maker is None:
            self.entries.append(Entry(value, target, frames, time))
        return value

    def _latest(self, variable: Variable) -> Value:
        return self._now(handle_of(variable.owner), variable.owner)

    def _answered(self, gradient: Any) -> Any:
        tensor = getattr(gradient, "values", None) if hasattr(gradient, "indices") else gradient
        return tensor if is_tensor(tensor) else None

    def _array(self, thing: Any, dtype: Any = None) -> Any:
        return gradient_array(thing) if dtype is None else np.asarray(thing, dtype=dtype)

    # --- values -----------------------------------------------------------------------------------
    def _tensor(self, tensor: Any, place: Place | None = None) -> Value:
        """A new value for a tensor, or for what stands for one that was let go."""
        made = (
            FadedTensor(tensor, self.again, place)
            if tensor.__class__ is Faded
            else TensorValue(tensor, place=place)
        )
        return self._keep(made, tensor)

    def _keep(self, value: Value, *things: Any) -> Value:
        self.trace.values.append(value)
        for thing in things:
            self._alias(thing, value)
        return value

    def _alias(self, thing: Any, value: Value) -> None:
        if thing is not None:
            self.by_object[id(thing)] = value
            self.held.append(thing)

    def _value(self, thing: Any, time: float) -> Value:
        """The value of whatever was given as an operand, a source or a target."""
        handle = handle_of(thing)
        if handle is not None:
            return self._now(handle, thing)
        known = self.by_object.get(id(thing))
        if known is not None:
            return known
        if is_tensor(thing):
            return self._tensor(thing)
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
        self, time: float, tensor: Any, given: Any, handed: bool, frames: Any, k: int
    ) -> Value:
        """An operand of an op: where it was not seen before, what the op was given tells."""
        known = self.by_object.get(id(tensor))
        if known is not None:
            return known
        if not values.numeric(tensor):
            variable = self._known_variable(tensor)
            if variable is not None or id(tensor) in self.variables:
                return self._now(tensor, variable)
        handle = handle_of(given)
        if handle is not None:  # read on the way into the op
            value = self._now(handle, given)
            if value.thing is None:
                value.thing = tensor
            self._alias(tensor, value)
            return value
        value = self._tensor(tensor)
        if handed and given is not tensor and isinstance(given, PLAIN):
            if isinstance(given, np.ndarray) and id(given) in self.by_object:
                return self._same(tensor, self.by_object[id(given)])
            self.entries.append(Entry(value, given, frames, time, k))
        return value

    def _same(self, tensor: Any, value: Value) -> Value:
        self._alias(tensor, value)
        return value

    # --- variables --------------------------------------------------------------------------------
    def _known_variable(self, handle: Any) -> Any:
        known = self.engine.variables.get(id(handle))
        return None if known is None else known()

    def _variable(self, handle: Any, it: Any) -> Variable:
        known = self.variables.get(id(handle))
        if known is None:
            alive = self._known_variable(handle)
            owner = it if alive is None else self.engine.owner(alive)
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

    def _fresh(self, handle: Any, variable: Variable) -> TensorValue:
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

    def _read(self, time: float, handle: Any, seen: Any, place: Place, thread: int) -> None:
        it = self._known_variable(handle)
        value = self._now(handle, it)
        if value.thing is None:
            value.thing = seen
        self._alias(seen, value)
        self._watched(value, time, place, thread)

    def _watched(self, value: Value, time: float, place: Place, thread: int) -> None:
        """A variable that is read is watched by the tapes that do so by themselves."""
        if value.variable is None or not value.variable.trainable:
            return
        for number in self.active.get(thread, ()):
            tape = self.trace.tapes[number]
            if tape.auto_watch and not tape.watched(value):
                tape.watch(Watch(value, time, place, automatic=True))

    def _made(
        self, time: float, it: Any, layer: Any, code: CodeType, offset: int, thread: int
    ) -> None:
        handle = handle_of(it)
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
            value.thing = first[1].thing
            self._add(
                Event(
                    "tf.Variable", "tf.Variable", [first[1]], [value], place, first[0], way="rewrap"
                ),
                thread,
            )

    def _store(
        self, time: float, handle: Any, how: str, inputs: list[Value], place: Place, thread: int,
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
        elif how != "assign" and len(inputs) == 2:
            value.fetch = lambda: _sum(inputs[1], inputs[0], how)
        way = "metric" if measures else "assign"
        self._add(Event(how, how, inputs, [value], place, time, way=way), thread)

    def _made_before(self, it: Any) -> bool:
        """Was the variable there before the log began?"""
        return it is not None and id(it.handle) not in self.made_here


def handle_of(thing: Any) -> Any:
    """The handle of a variable, TensorFlow's or Keras's; None of everything else."""
    if thing is None or is_tensor(thing) or not hasattr(thing, "handle"):
        return None
    handle = thing.handle
    return handle if getattr(getattr(handle, "dtype", None), "name", "") == "resource" else None


def is_tensor(thing: Any) -> bool:
    return hasattr(thing, "_numpy") or values.symbol(thing)


def _sum(before: Value, change: Value, how: str) -> Any:
    """What a variable holds after `assign_add` or `assign_sub`."""
    with ops.unrecorded():
        both: Any = before.tensor, change.tensor  # type: ignore[attr-defined]
        if any(t is None for t in both):
            return None
        return both[0] + both[1] if how == "assign_add" else both[0] - both[1]


def has_history(value: Value) -> bool:
    return value.maker is not None or value.variable is not None
