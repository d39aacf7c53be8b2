"""Proves that a copy of a function computes the same, to the last bit.

TensorFlow's optimizers rewrite a graph by who uses what, so that more results may change the last
bits of the others: `0.1 * (2.0 * x)` is `0.2 * x` to them, unless the inner product is used
elsewhere. So both are run once, on variables of their own, and what TensorFlow made of them is
compared. What reads from outside, prints or calls Python cannot be run for this.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from . import ops
from .editing import DRAWS
from .graphs import Graphs, called

HARMLESS = (
    *DRAWS, "Assign", "Resource", "ReadVariable", "VarHandle", "VarIsInitialized", "VariableShape",
    "PartitionedCall", "StatefulPartitionedCall", "If", "Case", "While", "Assert", "Rng",
    "StatefulStandardNormal", "StatefulUniform", "StatefulTruncatedNormal", "StatefulRandom",
)  # fmt: skip

MOST = 512 << 20  # bytes of variables of which there may be others for a moment


def can_be_proven(graphs: Graphs, name: str, args: Any, held: dict[int, Any]) -> bool:
    """May a function run once more, given other variables, without a trace?"""
    size = sum((v.shape.num_elements() or 0) * v.dtype.size for v in held.values())
    if size > MOST or any(
        a.dtype.name in ("resource", "variant") for k, a in enumerate(args) if k not in held
    ):
        return False
    for op in _operations(graphs, name, set()):
        if op is None or (op.op_def.is_stateful and not op.type.startswith(HARMLESS)):
            return False
    return True


def _operations(graphs: Graphs, name: str, done: set[str]) -> Iterator[Any]:
    """All ops of a function, and of those that it calls."""
    known = graphs.functions.get(name)
    graph = None if known is None else known.graph()
    if graph is None:
        yield None  # one that nobody has seen
    if graph is None or name in done:
        return
    done.add(name)
    for op in graph.get_operations():
        yield op
        for inner in called(op):
            yield from _operations(graphs, inner, done)


def same(name: str, copy: Any, args: Any, held: dict[int, Any]) -> bool:
    """Is all that TensorFlow computes for a function computed for its copy, too?"""
    with ops.unrecorded(), suppress(Exception):  # it may raise what it likes
        wanted = _computed(name, copy.results, args, held)
        found = _computed(copy.name, copy.total - len(copy.cells), [*args, *copy.cells], held)
        return not wanted - found and bool(wanted)
    return False


def _computed(name: str, total: int, args: Any, held: dict[int, Any]) -> Counter[int]:
    """All that is computed in a run, under another name: what draws keeps its state by the name."""
    from tensorflow.python.eager import context, execute
    from tensorflow.python.ops import gen_resource_variable_ops as variables

    now = context.context()
    definition = now.get_function_def(name)
    definition.signature.name = f"{name}_proof"
    now.add_function_def(definition)
    given = list(args)
    try:
        for k, variable in held.items():
            value = variables.read_variable_op(args[k], variable.dtype)
            given[k] = variables.var_handle_op(
                variable.dtype, variable.shape, shared_name=context.anonymous_name()
            )
            variables.assign_variable_op(given[k], value)
        with context.collect_graphs() as graphs:
            execute.quick_execute(definition.signature.name, total, given, options(now), now)
        return Counter(hash(part) for graph in graphs for part in _parts(graph))
    finally:
        for k in held:
            if given[k] is not args[k]:
                variables.destroy_resource_op(given[k])
        now.remove_function(definition.signature.name)


def options(context: Any) -> tuple[Any, ...]:
    """How a function is called, as TensorFlow says it."""
    found = context.function_call_options.as_attrs()
    return tuple([part for pair in found.items() for part in pair])


def _parts(graph: Any) -> list[tuple]:
    """Every node of a graph by what it computes of what, whatever it is called."""
    nodes = {node.name: node for node in graph.node}
    users = Counter(i.partition(":")[0] for n in graph.node for i in n.input if i[0] != "^")
    found: dict[str, tuple] = {}
    open_ = list(nodes)
    while open_:
        node = nodes[open_[-1]]
        # A loop is closed where it begins anew.
        inputs = [i for i in node.input if i[0] != "^"] if node.op != "NextIteration" else []
        missing = [i.partition(":")[0] for i in inputs if i.partition(":")[0] not in found]
        if node.name not in found and missing:
            open_ += missing
            continue
        open_.pop()
        attrs = [
            (key, value.SerializeToString(deterministic=True))
            for key, value in sorted(node.attr.items()) if key[0] != "_"
        ]  # fmt: skip
        made_of: list[Any] = [
            (hash(found[i.partition(":")[0]]), i.partition(":")[2]) for i in inputs
        ]  # fmt: skip
        if node.op == "AddN" and len(inputs) > 2:  # it begins with one that nobody else needs
            made_of += [users[i.partition(":")[0]] for i in inputs]
        found[node.name] = node.op, tuple(attrs), tuple(made_of)
    return list(found.values())
