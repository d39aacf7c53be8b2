"""Copies of functions that tell more: how large their gradients are, what they drew and were fed.

A function that asks tapes is not changed; in its place runs a copy of it that has more results:
half the squared norm of every gradient, so that a fault is seen in the call that has it, what its
stateful ops gave, and what its variables held before, so that the call can be run once more. Where
the norms would change the last bits of anything else, there are those of the variables' changes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any
from weakref import ref

from ....framework.lifetimes import at_death
from ...trace.states import by_norm
from .editing import READ, Bounds, Edited, Question, compiled, needs
from .graphs import Call, Graphs
from .proving import can_be_proven, options, same

# Looks at gradients that were not sound before and are not so again: eight, then one in 256 calls.
LOOKS, RARELY = 8, 256


@dataclass(eq=False)
class Copy:
    """A copy that can be called. Its results: the original's, numbers, taps, variables."""

    name: str
    names: dict[str, str]  # of copies, and of what they are copies of
    questions: list[Question]
    bounds: list[Bounds]
    taps: list[tuple[str, ...]]  # the paths to ops whose results are told
    results: int
    total: int
    variables: list[int]  # which arguments
    whole: bool  # are all queries among its questions
    draws: bool  # do its ops keep a state of their own, of random numbers
    forget: Callable[[], Any]
    handles: list[tuple[int, Any]] = field(default_factory=list)  # results that stand for something
    function: Any = None  # a weak reference to the original, when it draws
    seen: set[tuple[int, str]] = field(default_factory=set)  # numbers that were not sound
    last: set[tuple[int, str]] = field(default_factory=set)  # of these, in the last call
    looks: int = 0
    cells: list[Any] = field(default_factory=list)  # handles, when it has no results
    types: list[int] = field(default_factory=list)  # of the cells
    begun: bool = False  # has it been called?
    latest: Any = None  # a weak reference to its last call

    def numbers(self, outputs: list[Any]) -> list[float]:
        return outputs[self.results]._numpy().tolist() if self.bounds else []

    def unsound(self, numbers: list[float]) -> set[tuple[int, str]]:
        """Which gradients may be at fault, and how?"""
        bad = [k for k, low, high in self.norms if not low <= numbers[k] <= high]
        return {(k, by_norm(math.sqrt(2 * numbers[k]), 1)) for k in bad} if bad else set()

    def allow(self, place: tuple[Any, int], sources: set[int]) -> None:
        """Of a query at this place, some gradients are zero by construction: that is sound."""
        for question in self.questions:
            if question.place == place:
                for k, number in enumerate(question.norms):
                    if number is not None and k in sources and (bounds := self.bounds[number]):
                        self.bounds[number] = 0.0, bounds[1]
        vars(self).pop("norms", None)

    @cached_property
    def norms(self) -> list[tuple[int, float, float]]:
        return [(k, *found) for k, found in enumerate(self.bounds) if found is not None]

    def suspicious(self, now: set[tuple[int, str]], calls: int) -> bool:
        """Is a gradient at fault that was not so in the last call, or never before?"""
        came, self.last = now - self.last, now
        new = came - self.seen
        if not new and not (came and self.looks < LOOKS + calls // RARELY):
            return False
        self.seen |= came
        self.looks += 1
        return True

    def call(self, context: Any, args: Any) -> list[Any]:
        """Run it: its results, and those in its cells."""
        from tensorflow.python.eager.execute import quick_execute

        attrs = options(context)
        given = [*args, *self.cells]
        if not self.cells:
            found: list[Any] = quick_execute(self.name, self.total, given, attrs, context)
            return found
        quick_execute(self.name, 0, given, attrs, context)
        return self.read(context, 1)

    def read(self, context: Any, number: int) -> list[Any]:
        """What is in the first of its cells: only as long as it is not called again."""
        from tensorflow.python.eager.execute import quick_execute

        pairs = zip(self.cells[:number], self.types, strict=False)
        return [quick_execute(READ, 1, [c], ("dtype", t), context)[0] for c, t in pairs]

    def plain(self, message: str) -> str:
        """A message of a copy as the original would have it."""
        for name in sorted(self.names, key=len, reverse=True):
            message = message.replace(name, self.names[name])
        return message

    def leave(self) -> None:
        """The doctor goes. What has drawn goes on drawing: the original would begin anew."""
        function = None if self.function is None else self.function()
        if function is None:
            self.forget()
        else:
            from .calling import run

            function.call_flat = lambda *args: run(function, self, args)[: self.results] or None


class Told(Call):
    """A call of a copy: what it told beside its results."""

    def __init__(self, copy: Copy, args: Any, outputs: list[Any]) -> None:
        self.copy, self.args, self._outputs = copy, args, outputs
        self.events, self.results, self.limit, self.bytes = None, [], None, 0
        copy.latest = ref(self)

    def kept(self) -> list[Any]:
        return self._outputs[self.copy.results :]

    @property
    def gone(self) -> bool:
        """Has another call stored what it had to tell, and nobody had asked?"""
        kept = self.events is not None or len(self._outputs) == self.copy.total
        return not kept and self.copy.latest() is not self

    @property
    def outputs(self) -> list[Any]:
        if len(self._outputs) < self.copy.total:
            from tensorflow.python.eager import context

            self._outputs = self.copy.read(context.context(), self.copy.total)
        return self._outputs

    @property
    def before(self) -> dict[int, Any]:  # type: ignore[override]
        copy = self.copy
        first = copy.total - len(copy.variables)
        pairs = zip(copy.variables, self.outputs[first:], strict=True)
        return {id(self.args[k]): tensor for k, tensor in pairs}

    @property
    def taken(self) -> dict[tuple[str, ...], list[Any]]:  # type: ignore[override]
        found: dict[tuple[str, ...], list[Any]] = {}
        first = self.copy.results + bool(self.copy.bounds)
        for path, tensor in zip(self.copy.taps, self.outputs[first:], strict=False):
            found.setdefault(path, []).append(tensor)
        return found


def copied(graphs: Graphs, name: str, args: Any, variables: dict[int, Any]) -> Copy | None:
    """A copy of a function, None when nothing is asked in it that could be told."""
    from tensorflow.python.eager import context

    definition = context.get_function_def(name)
    if compiled(definition):
        return None
    held = {k: variables[id(a)] for k, a in enumerate(args) if id(a) in variables}
    if not can_be_proven(graphs, name, args, held):
        return _made(graphs, name, held, False)
    for counts in (True, False):
        copy = _made(graphs, name, held, counts)
        if copy is None or same(name, copy, args, held):
            return copy
        copy.forget()
    return None


def _made(graphs: Graphs, name: str, held: dict[int, Any], counts: bool) -> Copy | None:
    while _useless:
        _remove(_useless.pop())
    made = Edited(graphs, name, counts)
    changes, _ = graphs.traits(name)
    needed = needs(graphs, name) if changes else set()  # the state of an optimizer is not
    kept = {k: v.dtype.as_datatype_enum for k, v in held.items() if k in needed}
    made.finish(kept, not counts, silent=not made.results)
    names = list(made.names)  # and nothing that would hold the graph
    if not made.questions:
        _remove(names)
        return None
    at_death(made.graph, [partial(_useless.append, names)])
    forget = partial(_remove, names)
    return Copy(
        made.name, made.names, made.questions, made.bounds, made.taps, made.results,
        len(made.definition.signature.output_arg) + len(made.cells), list(kept),
        counts and len(made.questions) == graphs.queries(name), made.draws, forget,
        cells=list(map(_cell, made.cells)), types=made.cells,
    )  # fmt: skip


_useless: list[list[str]] = []  # the functions of copies whose originals are no more


def _remove(names: list[str]) -> None:
    """Remove functions, once."""
    from tensorflow.python.eager import context

    while names:
        context.remove_function(names.pop())


def _cell(kind: int) -> Any:
    from tensorflow.python.eager import context
    from tensorflow.python.framework import dtypes, tensor_shape
    from tensorflow.python.ops import gen_resource_variable_ops

    return gen_resource_variable_ops.var_handle_op(
        dtypes.as_dtype(kind), tensor_shape.unknown_shape(), shared_name=context.anonymous_name()
    )
