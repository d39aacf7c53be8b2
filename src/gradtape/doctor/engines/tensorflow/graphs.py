"""Notes on graphs while TensorFlow builds them: whose line made an op, which tapes were recording.

A `tf.function` runs its Python code once. What is heard then has symbols in the place of tensors;
it is kept beside the graph, and `expanding` puts the numbers of a call in.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass, field
from types import CodeType, SimpleNamespace
from typing import Any

from ....framework.lifetimes import Beside
from . import autograph
from .engine import OP, QUERY, Engine

CHANGES = ("AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp", "ResourceApply")
CALLS = ("__inference_", "__forward_")


@dataclass(eq=False)
class Spot:
    """Where an op of a graph was made."""

    code: CodeType
    offset: int
    outer: list
    layer: Any
    measures: bool
    hidden: bool  # made by a tape to answer


@dataclass(eq=False)
class Notes:
    """What was heard while a graph was built."""

    spots: dict[str, Spot] = field(default_factory=dict)  # by the op's name, in order
    marks: list[tuple[int, tuple]] = field(default_factory=list)  # events, and ops before them
    active: list[int] = field(default_factory=list)  # tapes that are recording in it


@dataclass(eq=False)
class Function:
    """A graph as a function: the names of what goes in and what comes out."""

    graph: Any  # a weak reference
    inputs: list[str]
    outputs: list[str]


@dataclass(eq=False)
class Call:
    """A call of a function: what its variables held before, and its ops when they were needed."""

    before: dict[int, Any]  # by the id of the handle
    taken: dict[tuple[str, ...], list[Any]] = field(default_factory=dict)  # by stateful ops
    events: list[tuple] | None = None
    results: list[Any] = field(default_factory=list)
    limit: int | None = None  # of its events, those that count just now
    work: int = 0  # what it took to find them, in events
    bytes: int = 0  # and of all that its ops made

    def held(self) -> list[Any]:
        """The tensors that it holds beside its results."""
        inside = [t for event in self.events or () if event[0] == OP for t in event[4]]
        return [*self.kept(), *inside]

    def kept(self) -> list[Any]:
        return list(self.before.values())


class Graphs:
    """All graphs of a program."""

    def __init__(self) -> None:
        self.notes: Beside[Any, Notes] = Beside()
        self.functions: dict[str, Function] = {}
        self.frozen: dict[int, Any] = {}  # tensors that graphs took from Python, see `frozen`
        self.strange: dict[str, tuple[CodeType, int]] = {}  # tensors of graphs that are gone
        self._traits: dict[str, tuple[bool, bool]] = {}

    def of(self, graph: Any) -> Notes:
        found = self.notes.get(graph)
        if found is None:
            found = Notes()
            self.notes.put(graph, found)
        return found

    def recording(self, graph: Any) -> bool:
        """Does a tape record in a graph, or in one around it?"""
        while graph is not None:
            known = self.notes.get(graph)
            if known is not None and known.active:
                return True
            graph = getattr(graph, "outer_graph", None)
        return False

    def traits(self, name: str) -> tuple[bool, bool]:
        """Does a function change variables, and does it ask a tape, itself or by others?"""
        found = self._traits.get(name)
        if found is None:
            self._traits[name] = (False, False)  # should it call itself
            found = self._traits[name] = self._look(name)
        return found

    def queries(self, name: str) -> int:
        """How many queries are there in a function, and in those that it calls?"""
        known = self.functions.get(name)
        graph = None if known is None else known.graph()
        if graph is None or not self.traits(name)[1]:
            return 0
        notes = self.notes.get(graph)
        own = sum(event[0] == QUERY for _, event in notes.marks) if notes is not None else 0
        inner = [name for op in graph.get_operations() for name in called(op)]
        return own + sum(map(self.queries, inner))

    def _look(self, name: str) -> tuple[bool, bool]:
        known = self.functions.get(name)
        graph = None if known is None else known.graph()
        if graph is None:
            return False, False
        notes = self.notes.get(graph)
        asks = notes is not None and any(event[0] == QUERY for _, event in notes.marks)
        changes = False
        for op in graph.get_operations():
            changes = changes or op.type.startswith(CHANGES)
            for inner in called(op):
                more = self.traits(inner)
                changes, asks = changes or more[0], asks or more[1]
        return changes, asks


def called(op: Any) -> list[str]:
    """The names of the functions that an op calls."""
    found = []
    for value in op.node_def.attr.values():
        if value.HasField("func"):
            found.append(value.func.name)
        found += [f.name for f in value.list.func]
    return found


def hook(engine: Engine) -> None:
    """Listen to graphs becoming functions, and to AutoGraph's rewriting."""
    _functions(engine)
    _rewriting(engine)


def _functions(engine: Engine) -> None:
    from tensorflow.python.eager.polymorphic_function import atomic_function

    def after(told: Any, made: Any) -> Any:
        if not engine.deaf:
            name, graph = told[:2]
            engine.begun = [begun for begun in engine.begun if begun[2] is not graph]
            word = name.decode() if isinstance(name, bytes) else name
            engine.graphs.functions[word] = Function(
                weakref.ref(graph), [t.name for t in graph.inputs], [t.name for t in graph.outputs]
            )
            for variable in graph.variables:  # that were made before the doctor listened, too
                known = engine.variables.get(id(variable.handle))
                if known is None or known() is None:
                    engine.variables[id(variable.handle)] = weakref.ref(variable)
        return made

    engine.listen(atomic_function.from_func_graph, after=after)


def _rewriting(engine: Engine) -> None:
    from tensorflow.python.autograph.impl import api

    def after(told: Any, made: Any) -> Any:
        code = getattr(made, "__code__", None)
        if code is not None:
            autograph.MAPS[code.co_filename] = made.ag_source_map, told[0].__code__
        return made

    engine.listen(api._convert_actual, after=after)


def sight(frame: Any) -> Any:
    """The names in sight of a frame, kept for later."""
    return SimpleNamespace(
        f_globals=frame.f_globals, f_locals=dict(frame.f_locals), f_code=frame.f_code
    )
