"""Runs a call of a graph once more, op by op, on the same inputs: what happened inside it.

Nothing changes by it: variables are read from before the call and written in memory only, what
draws at random or reads from outside is not run but has a stand-in, and what cannot be had stays a
symbol of the graph: what was made of what is known, the numbers are not.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from . import lists, ops
from .engine import CUSTOM, OP, QUERY, RESET, START, STOP, WATCH, Engine
from .graphs import Call, Notes, Spot, called
from .thinning import Thinner
from .values import symbol

DEEP = 24
MOST = 30_000  # ops of a call that are computed again, 0.3 ms each; the others stay symbols
CALLS = ("PartitionedCall", "StatefulPartitionedCall")
IFS = ("If", "StatelessIf")
CASES = ("Case", "StatelessCase")
WHILES = ("While", "StatelessWhile")
STORES = ("AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp")
READS = ("IteratorGetNext", "IteratorGetNextSync")
RANDOMS = (
    "RandomStandardNormal", "TruncatedNormal", "RandomUniform", "RandomUniformInt", "Multinomial",
    "RandomShuffle",
)  # fmt: skip


def expand(engine: Engine, name: str, inputs: Any, call: Call, spot: Spot, thread: int) -> None:
    """Find the events inside of a call, and their results."""
    run = _Run(engine, dict(call.before), thread)
    run.taken = call.taken
    with ops.unrecorded():
        call.results = run.function(name, list(inputs), spot, 0)
    call.events = run.events
    call.work = len(run.events) if run.ran < MOST else MOST
    call.bytes = run.bytes


def sketch(engine: Engine, graph: Any, spot: Spot, thread: int) -> list[tuple]:
    """The events of a graph that is still being built, in symbols."""
    run = _Run(engine, {}, thread, blind=True)
    run.graph(graph, {}, spot, 0)
    return run.events


@dataclass(eq=False)
class _Inside:
    """A graph that is computed: what its tensors hold, as long as another op is given them."""

    values: dict[str, Any]
    uses: Counter[str]  # how many ops a tensor is still given to
    notes: Notes
    around: Spot
    deep: int
    done: set[str] = field(default_factory=set)

    def let_go(self, op: Any) -> None:
        """An op has run. Cotangents that were all kept took 2 GB of a ResNet50."""
        self.uses.subtract(t.name for t in op.inputs)
        for tensor in (*op.inputs, *op.outputs):
            if self.uses[tensor.name] <= 0:
                self.values.pop(tensor.name, None)


class _Run:
    """One call: the variables as they are inside it, and the events so far."""

    def __init__(
        self, engine: Engine, held: dict[int, Any], thread: int, blind: bool = False
    ) -> None:
        self.engine, self.held, self.thread = engine, held, thread
        self.blind = blind  # nothing is computed
        self.taken: dict[tuple[str, ...], list[Any]] = {}  # what stateful ops gave in this call
        self.path: tuple[str, ...] = ()  # the ops that called the function that runs
        self.events: list[tuple] = []
        self.ran = 0  # ops that were computed
        self.bytes = 0  # of what these made
        self.thinner = Thinner()
        self.tapes: dict[int, int] = {}  # a tape of the graph is another in every call
        self.lists = lists.Lists()
        self.rng = np.random.default_rng(0)

    def function(self, name: str, inputs: list[Any], around: Spot, deep: int) -> list[Any]:
        known = self.engine.graphs.functions.get(name)
        graph = None if known is None else known.graph()
        if known is None or graph is None or deep > DEEP or len(known.inputs) != len(inputs):
            return []
        values: dict[str, Any] = dict(zip(known.inputs, inputs, strict=True))
        self.graph(graph, values, around, deep)
        return [values.get(t) for t in known.outputs]

    def graph(self, graph: Any, values: dict[str, Any], around: Spot, deep: int) -> None:
        """All ops of a graph, and what tapes did between them."""
        notes = self.engine.graphs.notes.get(graph) or Notes()
        for outer, inner in getattr(graph, "captures", ()):
            values.setdefault(inner.name, _outermost(outer))
        marks = iter([*notes.marks, (1 << 60, ())])
        position, mark = next(marks)
        numbers = {name: k for k, name in enumerate(notes.spots)}
        inside = _Inside(values, _uses(graph, notes), notes, around, deep)
        for op in graph.get_operations():
            while numbers.get(op.name, -1) >= position:
                self._mark(mark, values)
                position, mark = next(marks)
            self._op(op, inside)
        while mark:
            self._mark(mark, values)
            position, mark = next(marks)

    # --- ops --------------------------------------------------------------------------------------
    def _op(self, op: Any, inside: _Inside) -> None:
        values, notes, around, deep = inside.values, inside.notes, inside.around, inside.deep
        names = [t.name for t in op.outputs]
        if op.name in inside.done or (names and names[0] in values):  # done, or an input
            return
        inside.done.add(op.name)
        for given in op.inputs:  # a loop is given more when it is differentiated
            if given.name not in values:
                self._op(given.op, inside)
        inputs = [values.get(t.name, t) for t in op.inputs]
        spot = notes.spots.get(op.name, around)
        if around.hidden and not spot.hidden:
            spot = replace(spot, hidden=True)
        if op.type == "Const" and spot is around:
            spot = replace(spot, hidden=True)  # nobody knows where it was made
        around_it, self.path = self.path, (*self.path, op.name)
        results: list[Any] = []
        if self.path in self.taken:
            results = self._take(op, inputs, spot)
        elif self._can(op, inputs):
            results = self._run(op, inputs, spot, deep)
        self.path = around_it
        if len(results) < len(names):
            results = self._emit(op.type, inputs, attributes(op), list(op.outputs), spot)
        values.update(zip(names, results, strict=False))
        inside.let_go(op)

    def _take(self, op: Any, inputs: list[Any], spot: Spot) -> list[Any]:
        """What a stateful op gave in this call; a batch or a plain draw is made of nothing."""
        given = self.taken[self.path]
        made = any(map(ops.values.floating, inputs))
        return self._emit(op.type, inputs, attributes(op), given, spot) if made else given

    def _can(self, op: Any, inputs: list[Any]) -> bool:
        """Is enough known to run an op?"""
        if self.blind or op.type in CALLS + STORES:
            return op.type == "Const" or not self.blind
        if self.ran >= MOST:
            return False
        needed = inputs[:1] if op.type in IFS + CASES else inputs
        return op.type in WHILES or not any(map(symbol, needed))

    def _run(self, op: Any, inputs: list[Any], spot: Spot, deep: int) -> list[Any]:
        kind = op.type
        self.ran += 1
        if kind in CALLS:
            return self.function(called(op)[0], inputs, spot, deep + 1)
        if kind in IFS:
            attr = op.node_def.attr
            branch = attr["then_branch" if _true(inputs[0]) else "else_branch"].func.name
            return self.function(branch, inputs[1:], spot, deep + 1)
        if kind in CASES:
            branches = [f.name for f in op.node_def.attr["branches"].list.func]
            k = int(ops.values.array(inputs[0]))
            chosen = branches[k if 0 <= k < len(branches) else -1]
            return self.function(chosen, inputs[1:], spot, deep + 1)
        if kind in WHILES:
            return self._loop(op, inputs, spot, deep)
        if kind == "ReadVariableOp":
            found = self._read(inputs[0])
            return [] if found is None else self._emit(kind, inputs, (), [found], spot)
        if kind in STORES:
            self._store(kind, *inputs[:2])
            return self._emit(kind, inputs, (), [], spot)
        if kind == "ResourceGather":
            return self._gather(op, inputs, spot)
        if kind in READS:
            return self._batch(op, inputs)
        if kind in RANDOMS:
            drawn = self._draw(op, inputs)
            # Of draws, only these are made of something that may have a gradient.
            made_of = kind in ("Multinomial", "RandomShuffle")
            return self._emit(kind, inputs, attributes(op), drawn, spot) if made_of else drawn
        if kind == "Const":
            return self._constant(op, spot)
        if kind == "VariableShape":
            return self._shape(op, inputs[0])
        if op.op_def.is_stateful or kind == "Placeholder":
            return []
        attrs = attributes(op)
        results = ops.run(kind, inputs, attrs, len(op.outputs))
        self.bytes += sum(map(ops.values.size, results))
        if self.lists.concerns(kind, inputs) and not spot.hidden:
            results, event = self.lists.after(kind, inputs, results)
            if event is not None:
                shown, operands, words, made = event
                self._emit(shown, operands, words, made, spot)
            return results
        return self._emit(kind, inputs, attrs, results, spot)

    def _constant(self, op: Any, spot: Spot) -> list[Any]:
        import tensorflow as tf

        array = tf.make_ndarray(op.node_def.attr["value"].tensor)
        made = [tf.constant(array, op.outputs[0].dtype)]
        return self._emit("Const", [], (), made, spot)

    def _emit(self, kind: str, inputs: Any, attrs: Any, results: list, spot: Spot) -> list[Any]:
        if not spot.hidden:
            given = tuple(map(self.thinner.standing, inputs))
            made = tuple(self.thinner.thinned(kind, given, results))
            self.events.append(
                (OP, kind, given, attrs, made, None, spot.layer, spot.measures, spot.outer, (),
                 spot.code, spot.offset, self.thread)
            )  # fmt: skip
        return results

    def _loop(self, op: Any, inputs: list[Any], spot: Spot, deep: int) -> list[Any]:
        attr = op.node_def.attr
        silent = replace(spot, hidden=True)
        values, length = inputs, len(self.events)
        while True:
            found = self.function(attr["cond"].func.name, values, silent, deep + 1)
            if not found or symbol(found[0]):
                if self.ran >= MOST:
                    del self.events[length:]  # of a loop that is too long, nothing is known
                return []
            if not _true(found[0]):
                return values
            values = self.function(attr["body"].func.name, values, spot, deep + 1)

    # --- what is not to be touched ----------------------------------------------------------------
    def _read(self, handle: Any) -> Any:
        from tensorflow.python.ops import gen_resource_variable_ops

        found = self.held.get(id(handle))
        if found is None:
            known = self.engine.variables.get(id(handle))
            it = None if known is None else known()
            if it is None:
                return None
            found = gen_resource_variable_ops.read_variable_op(handle, it.dtype)
            self.held[id(handle)] = found
        return found

    def _store(self, kind: str, handle: Any, value: Any) -> None:
        before = value if kind == "AssignVariableOp" else self._read(handle)
        if symbol(value) or symbol(before):
            value = value if symbol(value) else before
        elif kind != "AssignVariableOp":
            value = before + value if "Add" in kind else before - value
        self.held[id(handle)] = value

    def _shape(self, op: Any, handle: Any) -> list[Any]:
        import tensorflow as tf

        held = self._read(handle)
        return [] if held is None else [tf.shape(held, op.outputs[0].dtype)]

    def _gather(self, op: Any, inputs: list[Any], spot: Spot) -> list[Any]:
        """As a read and a gather of what was read."""
        import tensorflow as tf

        table = self._read(inputs[0])
        if table is None:
            return []
        self._emit("ReadVariableOp", inputs[:1], (), [table], spot)
        operands = [table, inputs[1], tf.constant(0)]
        attrs = (
            "batch_dims", 0, "Tparams", table.dtype.as_datatype_enum, "Tindices",
            inputs[1].dtype.as_datatype_enum, "Taxis", tf.int32.as_datatype_enum,
        )  # fmt: skip
        return self._emit(
            "GatherV2", operands, attrs, ops.run("GatherV2", operands, attrs, 1), spot
        )

    def _draw(self, op: Any, inputs: list[Any]) -> list[Any]:
        """Other numbers of the same distribution: to draw again would change what is drawn next."""
        import tensorflow as tf

        first, *rest = (ops.values.array(v) for v in inputs)
        if op.type == "Multinomial":  # the largest of logits and Gumbel's noise
            noise = self.rng.gumbel(size=(int(rest[0]), *first.shape))
            numbers = np.argmax(first + noise, axis=-1).T
        elif op.type == "RandomShuffle":
            numbers = self.rng.permutation(first)
        elif op.type == "RandomUniformInt":
            numbers = self.rng.integers(int(rest[0]), int(rest[1]), size=tuple(first))
        else:
            draw = self.rng.random if op.type == "RandomUniform" else self.rng.normal
            numbers = draw(size=tuple(first))
        return [tf.constant(numbers, op.outputs[0].dtype)]

    def _batch(self, op: Any, inputs: list[Any]) -> list[Any]:
        """A batch of the data that `fit` was given: the one of this call is gone."""
        import tensorflow as tf

        from .batches import batch

        found = batch(self.engine, [t.dtype for t in op.outputs], [t.shape for t in op.outputs])
        return [tf.constant(a, t.dtype) for a, t in zip(found, op.outputs, strict=False)]

    # --- tapes ------------------------------------------------------------------------------------
    def _mark(self, event: tuple, values: dict[str, Any]) -> None:
        """What a tape did between two ops."""
        import tensorflow as tf

        kind, tape, *rest = event
        rest[-1] = self.thread
        if kind == CUSTOM:
            self._custom(tape, rest, values)
            return
        if not self.blind:
            tape = self.tapes.setdefault(tape, self.engine.fresh())
        if kind in (START, STOP, RESET):
            self.events.append((kind, tape, *rest))
        elif kind == WATCH:
            self.events.append((kind, tape, _filled(rest[0], values), *rest[1:]))
        elif kind == QUERY:
            method, target, sources, args, kwargs, result, *end = rest
            filled = [_filled(part, values) for part in (target, sources, result)]
            unknown = any(map(symbol, tf.nest.flatten(filled[2])))
            if self.blind or not unknown:  # else nobody can say how it went
                target, sources, result = filled
                self.events.append(
                    (kind, tape, method, target, sources, args, kwargs, result, *end)
                )

    def _custom(self, function: Any, rest: list[Any], values: dict[str, Any]) -> None:
        """A function with a gradient of its own: on tensors, it gives that gradient once more."""
        args, kwargs, result, (inner, grad), *end = rest
        args, kwargs, result, inner = (_filled(t, values) for t in (args, kwargs, result, inner))
        if not self.blind:
            with suppress(Exception):  # then the gradient is one of symbols
                grad = function(*args, **kwargs)[1]
        self.events.append((CUSTOM, function, args, kwargs, result, (inner, grad), *end))


def _uses(graph: Any, notes: Notes) -> Counter[str]:
    """How often the tensors of a graph are given to ops, to tapes, or to whoever called it."""
    import tensorflow as tf

    found = Counter(given.name for op in graph.get_operations() for given in op.inputs)
    found.update(tensor.name for tensor in graph.outputs)
    for _, event in notes.marks:
        parts = tf.nest.flatten([list(event[2:])], expand_composites=True)
        found.update(part.name for part in parts if symbol(part))
    return found


def _filled(structure: Any, values: dict[str, Any]) -> Any:
    """A structure with the tensors of a call in the place of symbols."""
    import tensorflow as tf

    def fill(part: Any) -> Any:
        if isinstance(part, tf.IndexedSlices):
            parts = [fill(t) for t in (part.values, part.indices, part.dense_shape)]
            return part.values if any(map(symbol, parts)) else tf.IndexedSlices(*parts)
        return values.get(part.name, part) if symbol(part) else part

    return tf.nest.map_structure(fill, structure)


def _outermost(tensor: Any) -> Any:
    """What a graph took in from the one around it, as that one may have done."""
    while symbol(tensor):
        found = [o for o, i in getattr(tensor.graph, "captures", ()) if i is tensor]
        if not found:
            break
        tensor = found[0]
    return tensor


def _true(tensor: Any) -> bool:
    return bool(np.all(ops.values.array(tensor)))


def attributes(op: Any) -> tuple:
    """The attributes of an op of a graph, as an eager op takes them."""
    found: list[Any] = []
    for key, value in op.node_def.attr.items():
        if not key.startswith("_"):
            found += [key, _attribute(value)]
    return tuple(found)


def _attribute(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "shape":
        return _shape(value.shape)
    if kind == "func":
        return value.func.name
    if kind == "list":
        of = next(
            (f for f in ("s", "i", "f", "b", "type", "shape", "func") if getattr(value.list, f)),
            None,
        )
        parts = [] if of is None else list(getattr(value.list, of))
        if of == "shape":
            return [_shape(part) for part in parts]
        return [part.name for part in parts] if of == "func" else parts
    return None if kind is None else getattr(value, kind)


def _shape(proto: Any) -> list[int] | None:
    return None if proto.unknown_rank else [d.size for d in proto.dim]
