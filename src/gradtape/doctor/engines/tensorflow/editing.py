"""Edits the definition of a function, so that it has more results, and does the same otherwise."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ...trace import Asked
from ...trace.states import EXPLODING, VANISHING
from .engine import QUERY
from .graphs import Graphs, called
from .values import floating, numeric, symbol

OWN = "gradtape"  # the names of what is added begin so
NESTED = ("PartitionedCall", "StatefulPartitionedCall")
# Of stateful ops, these are run once more, or change something.
NOT_TAPPED = (
    *NESTED, "If", "Case", "While", "Assign", "Resource", "ReadVariable", "VarHandle",
)  # fmt: skip
DRAWS = ("Random", "Multinomial", "TruncatedNormal", "ParameterizedTruncatedNormal")
READ, COMPILED = "ReadVariableOp", "_XlaMustCompile"
FLOAT, DOUBLE, INT, RESOURCE, HALVES = 1, 2, 3, 20, (14, 19)  # types, as TensorFlow numbers them
SUMS = ("Add", "AddV2", "AddN", "Sub", "Cast", "Identity", "Reshape")
REALS = (FLOAT, DOUBLE, *HALVES)
# What TensorFlow's optimizers leave alone, however many use it.
DIRECT = (
    "MatMul", "Einsum", "Conv", "DepthwiseConv", "Sum", "Mean", "Max", "Min", "Prod", "BiasAddGrad",
    "FusedBatchNorm", "UnsortedSegment", "ScatterNd", "AvgPool", "StridedSliceGrad", "Const", "If",
    "StatelessIf", "While", "StatelessWhile", "TensorList", "SparseSoftmax", "Softmax", "Gather",
)  # fmt: skip
SHAPES = ("Shape", "ShapeN", "Size", "Rank", "ZerosLike", "OnesLike")  # known before the run

Bounds = tuple[float, float] | None  # of a sound norm; None of a loss
MOVES = (5e-324, 3e38)  # a change of a variable that is one


@dataclass(eq=False)
class Question:
    """A query inside of a function, and where its numbers are among those of a call."""

    event: tuple
    norms: list[int | None]  # of every source; None without a gradient
    loss: int | None

    def shifted(self, by: int) -> Question:
        """The same, where there are other numbers before it."""
        norms = [None if k is None else by + k for k in self.norms]
        return Question(self.event, norms, None if self.loss is None else by + self.loss)

    def asked(self, rows: list[list[float]]) -> Asked:
        """What the doctor is to know of it after some calls."""
        norms = [
            [None if k is None else math.sqrt(2 * row[k]) for row in rows] for k in self.norms
        ]  # fmt: skip
        losses = [] if self.loss is None else [row[self.loss] for row in rows]
        return replace(
            self._symbols, norms=norms, present=self._present, results=losses, steps=len(rows)
        )

    @property
    def place(self) -> tuple[Any, int]:
        return self._symbols.place

    @cached_property
    def _present(self) -> list[bool]:
        import tensorflow as tf

        result = self.event[7]
        return [] if result is None else [g is not None for g in tf.nest.flatten(result)]

    @cached_property
    def _symbols(self) -> Asked:
        from .reading import asked

        return asked(self.event, self.event[-5])


class Edited:
    """Edits the definition of one function."""

    def __init__(self, graphs: Graphs, name: str, counts: bool = True, suffix: str = "") -> None:
        from tensorflow.python.eager import context

        self.graphs, self.counts = graphs, counts
        known = graphs.functions[name]
        self.graph = known.graph()
        self.definition = context.get_function_def(name)
        signature = self.definition.signature
        self.name = signature.name = f"{name}_{OWN}{suffix}"
        self.names = {self.name: name}
        self.results = len(signature.output_arg)
        self.arguments = {
            inner: arg.name for inner, arg in zip(known.inputs, signature.input_arg, strict=True)
        }
        self.nodes = {node.name: node for node in self.definition.node_def}
        self.questions: list[Question] = []
        self.bounds: list[Bounds] = []  # of the numbers
        self.taps: list[tuple[str, ...]] = []  # paths to ops
        self.types: list[int] = []  # of the taps
        self.draws = False
        self.cells: list[int] = []  # types
        self._vectors: list[str] = []  # of numbers
        self._tapped: list[str] = []
        self._twins: dict[str, str] = {}  # by the names of tensors
        self._ask()
        for op in self.graph.get_operations():
            self._enter(op)
            self._tap(op)

    def finish(self, variables: dict[int, int], changes: bool, silent: bool = False) -> None:
        """Add the results: numbers, taps, and what variables held, which are arguments of a type;
        in the place of the norms of gradients, those of the changes of variables.

        What has no results is optimized in another way, and gets none: it is given cells, one after
        its arguments for each, that it stores them in."""
        from tensorflow.python.eager import context

        held = [(k, *self._held(k, kind), kind) for k, kind in variables.items()]
        if changes:
            asked = self._sources()
            self._numbers([self._change(*f) for f in held if f[0] in asked and f[-1] in REALS])
        if len(self._vectors) > 1:
            axis = self._node("Const", [], dtype=INT)
            self._fill(0)
            number = len(self._vectors)
            joined = self._node(
                "ConcatV2", [*self._vectors, axis], T=FLOAT, N=number, Tidx=INT
            )  # fmt: skip
            self._vectors = [joined]
        words = [*self._vectors, *self._tapped, *[value for _, value, _, _ in held]]
        kinds = [FLOAT] * len(self._vectors) + self.types + [kind for *_, kind in held]
        self.cells = kinds if silent else []
        for word, kind in zip(words, kinds, strict=True):
            (self._store if silent else self._output)(word, kind)
        context.context().add_function_def(self.definition)

    # --- what is added ----------------------------------------------------------------------------
    def _ask(self) -> None:
        """The numbers of its own queries."""
        numbers: list[str] = []
        notes = self.graphs.notes.get(self.graph)
        for _, event in notes.marks if notes is not None else ():
            if event[0] == QUERY and self.counts:
                numbers += self._question(event)
            elif event[0] == QUERY:
                self.questions.append(Question(event, [], None))
        self._numbers(numbers)

    def _numbers(self, words: list[str]) -> None:
        if words:
            self._vectors.append(self._node("Pack", words, T=FLOAT, N=len(words), axis=0))

    def _enter(self, op: Any) -> None:
        """A function that is called, and has something to tell, is a copy, too."""
        name = called(op)[0] if op.type in NESTED and op.name in self.nodes else ""
        known = self.graphs.functions.get(name)
        if known is None or known.graph() is None or compiled(self.nodes[op.name]):
            return
        suffix = f"_in_{self.name}_{op.name}".replace("/", "_")
        made = Edited(self.graphs, name, self.counts, suffix)
        self.questions += [q.shifted(len(self.bounds)) for q in made.questions]
        if not made.bounds and not made.taps:
            return
        made.finish({}, changes=False)
        self.names |= made.names
        self.draws = self.draws or made.draws
        attr = self.nodes[op.name].attr
        attr["f"].func.name = made.name
        attr.pop("_output_shapes", None)
        attr["Tout"].list.type.extend([FLOAT] * len(made._vectors) + made.types)
        first = made.results
        self._vectors += [f"{op.name}:output:{first + k}" for k in range(len(made._vectors))]
        self.bounds += made.bounds
        first += len(made._vectors)
        self._tapped += [f"{op.name}:output:{first + k}" for k in range(len(made.taps))]
        self.taps += [(op.name, *path) for path in made.taps]
        self.types += made.types

    def _question(self, event: tuple) -> list[str]:
        """The numbers of one query."""
        import tensorflow as tf

        target, result = event[3], event[7]
        numbers: list[str] = []
        norms: list[int | None] = []
        known = len(self.bounds)
        for gradient in [None] if result is None else tf.nest.flatten(result):
            tensor = gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient
            size = None if tensor is None or not symbol(tensor) else tensor.shape.num_elements()
            word = self._norm(tensor) if size != 0 else None
            norms.append(None if word is None else known + len(numbers))
            if word is not None:
                numbers.append(word)
                low = (VANISHING * math.sqrt(size or 1)) ** 2 / 2
                self.bounds.append((low, EXPLODING**2 / 2))
        flat = [t for t in tf.nest.flatten(target) if symbol(t)]
        word = self._scalar(flat[0]) if len(flat) == 1 else None
        if word is not None:
            numbers.append(word)
            self.bounds.append(None)
        loss = None if word is None else known + len(numbers) - 1
        self.questions.append(Question(event, norms, loss))
        return numbers

    def _norm(self, tensor: Any) -> str | None:
        word = self._tapping(tensor) if tensor is not None and floating(tensor) else None
        if word is None:
            return None
        kind = tensor.dtype
        if kind.is_complex:
            real = kind.real_dtype.as_datatype_enum
            word = self._node("ComplexAbs", [word], T=kind.as_datatype_enum, Tout=real)
            kind = kind.real_dtype
        return self._half_square(word, kind.as_datatype_enum)

    def _half_square(self, word: str, kind: int) -> str:
        """Half the square of the norm, in single precision."""
        if kind in HALVES:
            word, kind = self._cast(word, kind), FLOAT
        found = self._node("L2Loss", [word], T=kind)
        return found if kind == FLOAT else self._cast(found, kind)

    def _scalar(self, tensor: Any) -> str | None:
        real = tensor.shape.rank == 0 and tensor.dtype.is_floating
        word = self._tapping(tensor) if real else None
        if word is None:
            return None
        kind = tensor.dtype.as_datatype_enum
        return word if kind == FLOAT else self._cast(word, kind)

    def _tap(self, op: Any) -> None:
        """What a stateful op gives."""
        if not op.op_def.is_stateful or op.type.startswith(NOT_TAPPED):
            return
        self.draws = self.draws or op.type.startswith(DRAWS)
        # A sum of many begins with one that nobody else needs, as this may be.
        summed = any(c.type in SUMS for t in op.outputs for c in t.consumers())
        if not self.counts and (summed or op.type.startswith(DRAWS)):
            return
        if op.name in self.nodes and all(map(numeric, op.outputs)):
            for tensor in op.outputs:
                self.taps.append((op.name,))
                self.types.append(tensor.dtype.as_datatype_enum)
                self._tapped.append(self._reference(tensor) or "")

    def _held(self, k: int, kind: int) -> tuple[str, list[str]]:
        """What a variable held before anything that could change it, and the names of that."""
        handle = self.definition.signature.input_arg[k].name
        users = [n for n in self.definition.node_def if handle in n.input and n.op != READ]
        value = self._node(READ, [handle], out="value", dtype=kind)
        for node in users:
            node.input.append(_after(value))
        return value, [f"^{node.name}" for node in users]

    def _sources(self) -> set[int]:
        """Which arguments are variables that a tape is asked for."""
        import tensorflow as tf

        flat = [s for q in self.questions for s in tf.nest.flatten(q.event[4])]
        handles = {id(getattr(source, "handle", None)) for source in flat}
        captures = {inner.name: id(outer) for outer, inner in self.graph.captures}
        names = [captures.get(t.name) for t in self.graph.inputs]
        return {k for k, known in enumerate(names) if known is None or known in handles}

    def _change(self, k: int, before: str, users: list[str], kind: int) -> str:
        handle = self.definition.signature.input_arg[k].name
        now = self._node(READ, [handle, *users, _after(before)], out="value", dtype=kind)
        self.bounds.append(MOVES)
        return self._half_square(self._node("Sub", [now, before], out="z", T=kind), kind)

    # --- how it is added --------------------------------------------------------------------------
    def _node(self, op: str, inputs: list[str], out: str = "", **attrs: int) -> str:
        """A new node; what its result is called."""
        node = self.definition.node_def.add()
        node.name, node.op = f"{OWN}/{op}_{len(self.definition.node_def)}", op
        node.input.extend(inputs)
        for key, value in attrs.items():
            if key in ("N", "axis"):
                node.attr[key].i = value
            else:
                node.attr[key].type = value
        return f"{node.name}:{out or ('y' if op in ('Cast', 'ComplexAbs') else 'output')}:0"

    def _output(self, word: str, kind: int) -> None:
        arg = self.definition.signature.output_arg.add()
        arg.name, arg.type = f"{OWN}_{len(self.definition.signature.output_arg)}", kind
        self.definition.ret[arg.name] = word

    def _store(self, word: str, kind: int) -> None:
        arg = self.definition.signature.input_arg.add()
        arg.name, arg.type = f"{OWN}_{len(self.definition.signature.input_arg)}", RESOURCE
        stored = self._node("AssignVariableOp", [arg.name, word], dtype=kind).partition(":")[0]
        self.definition.signature.control_output.append(stored)
        self.definition.control_ret[stored] = stored

    def _cast(self, word: str, kind: int) -> str:
        return self._node("Cast", [word], SrcT=kind, DstT=FLOAT)

    def _fill(self, number: int) -> None:
        """The number of the constant that was just made."""
        from tensorflow.python.framework import tensor_util

        made = tensor_util.make_tensor_proto(number, "int32")
        self.definition.node_def[-1].attr["value"].tensor.CopyFrom(made)

    def _tapping(self, tensor: Any) -> str | None:
        """What a tensor is called, or one just like it, that can be used once more without a
        change of what TensorFlow's optimizers do to the rest, and with it of its last bits.

        They rewrite sums and products that have one user: `0.1 * (2.0 * x)` is `0.2 * x` to them,
        unless the inner product is used elsewhere.
        """
        word = self._reference(tensor)
        if word is None or word in self.arguments.values():
            return word
        op = tensor.op
        if op.type in NESTED:
            return None  # what is inside may be put in its place
        if op.type.startswith(DIRECT) or op.op_def.is_stateful or self._users[op.name] > 1:
            return word
        inputs = [self._twins.get(t.name) or self._tapping(t) for t in op.inputs]
        if None in inputs:
            return None
        twin = self.definition.node_def.add()
        twin.CopyFrom(self.nodes[op.name])
        twin.name = f"{OWN}/{op.name}"
        twin.attr[f"_{OWN}"].b = True  # or the two would be made one again
        del twin.input[:]
        twin.input.extend([*inputs, *(i for i in self.nodes[op.name].input if i[0] == "^")])
        for made in op.outputs:
            own = self._reference(made) or ""
            self._twins[made.name] = own.replace(op.name, twin.name, 1)
        return self._twins[tensor.name]

    @cached_property
    def _users(self) -> Counter[str]:
        """How many ops use the results of an op, of those that are needed and stay as they are."""
        needed: set[Any] = set()
        ends = [*[t.op for t in self.graph.outputs], *self.graph.control_outputs]
        while ends:
            op = ends.pop()
            if op not in needed:
                needed.add(op)
                ends += [t.op for t in op.inputs] + list(op.control_inputs)
        different = {(op.type, *[t.name for t in op.inputs]): op for op in needed}
        return Counter(
            t.op.name for op in different.values() if op.type not in SHAPES for t in op.inputs
        )

    def _reference(self, tensor: Any) -> str | None:
        """What a tensor of the graph is called in the definition."""
        if not symbol(tensor) or tensor.graph is not self.graph:
            return None
        if tensor.name in self.arguments:
            return self.arguments[tensor.name]
        op, index = tensor.op, tensor.value_index
        if op.name not in self.nodes:
            return None
        for arg, number in _outputs(op):
            if index < number:
                return f"{op.name}:{arg}:{index}"
            index -= number
        return None


def needs(graphs: Graphs, name: str) -> set[int]:
    """Which arguments of a function take part in what its tapes are asked for."""
    import tensorflow as tf

    known = graphs.functions[name]
    graph = known.graph()
    notes = graphs.notes.get(graph)
    events = [event for _, event in notes.marks if event[0] == QUERY] if notes is not None else []
    parts = tf.nest.flatten([(event[3], event[7]) for event in events], expand_composites=True)
    ends = [t.op for t in parts if symbol(t) and t.graph is graph]
    for op in graph.get_operations():
        for inner in called(op):
            if graphs.traits(inner)[1]:
                nested = op.type in NESTED and graphs.functions[inner].graph() is not None
                numbers = needs(graphs, inner) if nested else range(len(op.inputs))
                ends += [op.inputs[k].op for k in numbers]
    seen: set[Any] = set()
    while ends:
        op = ends.pop()
        if op not in seen:
            seen.add(op)
            ends += [t.op for t in op.inputs]
    names = {t.name for op in seen for t in op.outputs}
    return {k for k, given in enumerate(known.inputs) if given in names}


def compiled(definition: Any) -> bool:
    """Is it compiled as a whole, and may be compiled otherwise when it has more results?"""
    return COMPILED in definition.attr and definition.attr[COMPILED].b


def _after(word: str) -> str:
    return f"^{word.partition(':')[0]}"


def _outputs(op: Any) -> Iterator[tuple[str, int]]:
    """The names of an op's results, and how many tensors each has."""
    for arg in op.op_def.output_arg:
        several = arg.number_attr or arg.type_list_attr
        if not several:
            yield arg.name, 1
        else:
            found = op.get_attr(several)
            yield arg.name, found if arg.number_attr else len(found)
