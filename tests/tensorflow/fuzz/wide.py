"""Large random programs from a seed: 6 to 28 ops on up to 60,000 numbers, with a gradient and
assignments. Numbers stay of a moderate size, so that what differs means something."""

from __future__ import annotations

import ast
import contextlib
import math
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import numpy as np

from tests.tensorflow.fuzz.draw import Shape, Unfit, broadcast
from tests.tensorflow.fuzz.expressions import listed

Program = dict[str, Any]
LARGEST = 60_000
INDENT = "    "

# Expressions of one value, and of two that broadcast.
UNARY = """
    tf.tanh({0}) | tf.sin({0}) | tf.cos({0}) | tf.sigmoid({0}) | tf.nn.relu({0}) | tf.abs({0})
    tf.nn.softplus({0}) | tf.nn.leaky_relu({0}) | tf.nn.elu({0}) | tf.nn.gelu({0})
    tf.exp(-tf.abs({0})) | tf.exp(tf.tanh({0})) | tf.sqrt(tf.abs({0}) + 0.5) | {0} * 0.5
    tf.math.log1p(tf.abs({0})) | tf.math.rsqrt(tf.square({0}) + 1.0) | tf.math.erf({0}) | -{0}
    tf.square(tf.tanh({0})) | tf.math.log(tf.abs({0}) + 0.5) | tf.clip_by_value({0}, -0.7, 0.9)
    tf.nn.swish({0}) | tf.nn.relu6({0}) | tf.atan({0}) | 1.0 / (tf.abs({0}) + 1.0) | tf.sign({0})
    tf.floor({0}) | tf.where({0} > 0.25, {0}, {0} * 0.25) | tf.identity({0}) | {0} - 0.125
    tf.stop_gradient({0}) * {0} * 0.25 | tf.pow(tf.abs({0}) + 0.5, 1.5)
    tf.math.expm1(-tf.abs({0}))
"""
BINARY = """
    {0} + {1} | {0} - {1} | {0} * tf.tanh({1}) | tf.maximum({0}, {1}) | tf.minimum({0}, {1})
    {0} / (tf.abs({1}) + 1.0) | tf.where({0} > {1}, {0}, {1}) | tf.atan2({0}, tf.abs({1}) + 0.5)
    tf.math.squared_difference(tf.tanh({0}), tf.tanh({1})) | {0} * 0.5 + {1} * 0.25
    tf.cast({0} < {1}, {0}.dtype) * 0.5 | tf.where(({0} > 0.0) & ({1} < 0.5), 1.0 - {0}, {1})
"""
# Along the last axes, or a choice of axes: what comes out has the operand's shape.
ROWS = """
    tf.nn.softmax({0}) | tf.nn.log_softmax({0}) | tf.nn.softmax({0}, axis={axis})
    {0} - tf.reduce_mean({0}, {axes}, keepdims=True)
    {0} * tf.math.rsqrt(tf.math.reduce_variance({0}, {axes}, keepdims=True) + 0.01)
    {0} - tf.reduce_max({0}, {axes}, keepdims=True)
    tf.exp({0} - tf.reduce_max({0}, {axes}, keepdims=True))
    tf.exp(tf.tanh({0})) / tf.reduce_sum(tf.exp(tf.tanh({0})), {axes}, keepdims=True)
    tf.math.l2_normalize({0} + 0.25, {axes}) * 4.0 | tf.cumsum({0}, {axis}) * 0.0625
    tf.reverse({0}, [{axis}]) | tf.roll({0}, 3, {axis}) | tf.sort({0}, {axis})
    {0} - tf.reduce_logsumexp({0}, {axes}, keepdims=True)
"""
REDUCED = """
    tf.reduce_sum({0}, {axes}, keepdims={keep}) * {scale}
    tf.reduce_mean({0}, {axes}, keepdims={keep})
    tf.reduce_max({0}, {axes}, keepdims={keep}) | tf.reduce_min({0}, {axes}, keepdims={keep})
    tf.reduce_logsumexp({0}, {axes}, keepdims={keep}) | tf.norm({0} + 0.25, axis={axes}) * {scale}
    tf.reduce_prod(tf.exp(0.01 * tf.tanh({0})), {axes}, keepdims={keep})
    tf.math.reduce_std({0} + 0.0625, {axes}, keepdims={keep})
"""


class Growing:
    """A program that grows, and the dice."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.inputs: list[dict[str, Any]] = []
        self.steps: list[dict[str, Any]] = []
        self.shapes: dict[str, Shape] = {}

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def one(self, choices: Any) -> Any:
        return self.rng.choice(listed(choices) if isinstance(choices, str) else choices)

    def input(self, shape: Sequence[int], kind: str = "") -> str:
        name = f"x{len(self.inputs)}"
        kind = kind or self.one(["variable", "constant"])
        self.inputs.append({"name": name, "kind": kind, "shape": list(shape)})
        self.shapes[name] = tuple(shape)
        return name

    def value(self, fits: Callable[[Shape], bool] = lambda s: True) -> str:
        """A value so far, the younger the likelier."""
        names = [n for n, shape in self.shapes.items() if fits(shape)]
        if not names:
            raise Unfit
        return names[-1 - min(int(self.rng.expovariate(0.25)), len(names) - 1)]

    def need(self, shape: Sequence[int]) -> str:
        """A value of this shape, or a new input."""
        names = [n for n, s in self.shapes.items() if s == tuple(shape)]
        return self.one(names) if names and self.chance(0.7) else self.input(shape)

    def step(self, op: str, of: Sequence[str], shape: Sequence[int], **params: Any) -> str:
        if math.prod(shape) > LARGEST or 0 in shape or len(self.inputs) > 12:
            raise Unfit
        for k, name in enumerate(of):
            op = op.replace(f"{{{k}}}", name)
        for key, value in params.items():
            op = op.replace(f"{{{key}}}", repr(value))
        name = f"v{len(self.steps)}"
        self.steps.append({"to": name, "op": op, "of": list(of)})
        self.shapes[name] = tuple(shape)
        return name

    def axes(self, rank: int) -> list[int]:
        if not rank:
            raise Unfit
        return sorted(self.rng.sample(range(rank), self.rng.randint(1, rank)))


# --- families -------------------------------------------------------------------------------------
def unary(g: Growing) -> Any:
    a = g.value()
    return g.step(g.one(UNARY), [a], g.shapes[a])


def binary(g: Growing) -> Any:
    a = g.value()
    b = g.value(lambda s: broadcast(g.shapes[a], s) is not None)
    if g.chance(0.3):  # a row, a column, or anything between
        shape = g.shapes[a]
        start = g.rng.randint(0, len(shape))
        b = g.need([n if g.chance(0.6) else 1 for n in shape[start:]])
    pair = [a, b] if g.chance(0.5) else [b, a]
    shape = broadcast(g.shapes[a], g.shapes[b])
    assert shape is not None
    return g.step(g.one(BINARY), pair, shape)


def rows(g: Growing) -> Any:
    a = g.value(lambda s: len(s) > 0)
    axes = g.axes(len(g.shapes[a]))
    return g.step(g.one(ROWS), [a], g.shapes[a], axes=axes, axis=g.one(axes))


def reduced(g: Growing) -> Any:
    a = g.value(lambda s: len(s) > 0)
    shape = g.shapes[a]
    axes = g.axes(len(shape))
    op = g.one(REDUCED)
    keep = g.chance(0.6) and "norm" not in op
    if "norm" in op and len(axes) > 1:
        raise Unfit
    to = [1 if k in axes else n for k, n in enumerate(shape) if keep or k not in axes]
    if "norm" in op:
        axes = axes[0]
    gone = math.prod(shape) / max(math.prod(to), 1)
    return g.step(op, [a], to, axes=axes, keep=keep, scale=round(gone**-0.5, 4))


def product(g: Growing) -> Any:
    a = g.value(lambda s: len(s) >= 2)
    *lead, m, k = g.shapes[a]
    n = g.one([1, 3, 8, 17, 32, 65])
    if math.prod(lead) * m * k * n > 20_000_000:
        raise Unfit
    scale = round(k**-0.5, 4)
    which = g.rng.randrange(6)
    if which == 0:
        b = g.need([n, k])
        return g.step(
            "tf.matmul({0}, {1}, transpose_b=True) * {scale}", [a, b], [*lead, m, n], scale=scale
        )
    if which == 1:
        scale = round(m**-0.5, 4)
        b = g.need([*lead, m, n])
        op = "tf.matmul({0}, {1}, transpose_a=True) * {scale}"
        return g.step(op, [a, b], [*lead, k, n], scale=scale)
    if which == 2 and m * m * math.prod(lead) <= LARGEST:
        op = "tf.nn.softmax(tf.matmul({0}, {0}, transpose_b=True) * {scale})"
        return g.step(op, [a], [*lead, m, m], scale=scale)
    if which == 3:
        b = g.need([k])
        return g.step("tf.linalg.matvec({0}, {1}) * {scale}", [a, b], [*lead, m], scale=scale)
    if which == 4 and lead:
        b = g.need([*lead, k, n])
        return g.step("tf.matmul({0}, {1}) * {scale}", [a, b], [*lead, m, n], scale=scale)
    b, c = g.need([k, n]), g.need([n])
    op = "tf.matmul({0}, {1}) * {scale} + {2}"
    return g.step(op, [a, b, c], [*lead, m, n], scale=scale)


def picture(g: Growing) -> Any:
    """A value with four axes, made of another one if there is none."""
    with contextlib.suppress(Unfit):
        return g.value(lambda s: len(s) == 4 and min(s[1:3]) > 2)
    high, wide, deep = g.one([(5, 6, 3), (9, 7, 8), (16, 16, 4), (12, 13, 17), (28, 28, 1)])
    return g.input(
        [g.rng.randint(1, max(1, min(16, LARGEST // (high * wide * deep)))), high, wide, deep]
    )


def window(g: Growing) -> Any:
    a = picture(g)
    count, high, wide, deep = g.shapes[a]
    size, by = g.one([1, 2, 3]), g.one([1, 1, 2])
    padding = g.one(["SAME", "VALID"])
    left = lambda n: -(-n // by) if padding == "SAME" else -(-(n - size + 1) // by)
    to = [count, left(high), left(wide)]
    params: dict[str, Any] = {"by": by, "padding": padding, "size": size}
    which = g.rng.randrange(4)
    if which == 0:
        op = f"tf.nn.{g.one(['max', 'avg'])}_pool2d({{0}}, {{size}}, {{by}}, {{padding}})"
        return g.step(op, [a], [*to, deep], **params)
    params["scale"] = round((size * size * (deep if which > 1 else 1)) ** -0.5, 4)
    if which == 1:
        b = g.need([size, size, deep, 1])
        op = "tf.nn.depthwise_conv2d({0}, {1}, [1, {by}, {by}, 1], {padding}) * {scale}"
        return g.step(op, [a, b], [*to, deep], **params)
    results = g.one([1, 4, 9, 16])
    if math.prod(to) * results * size * size * deep > 20_000_000:
        raise Unfit
    b = g.need([size, size, deep, results])
    op = "tf.nn.conv2d({0}, {1}, {by}, {padding}) * {scale}"
    return g.step(op, [a, b], [*to, results], **params)


def moved(g: Growing) -> Any:
    a = g.value(lambda s: len(s) > 0)
    shape, rank = list(g.shapes[a]), len(g.shapes[a])
    axis = g.rng.randrange(rank)
    which = g.rng.randrange(9)
    if which == 0:
        perm = g.rng.sample(range(rank), rank)
        return g.step("tf.transpose({0}, {perm})", [a], [shape[k] for k in perm], perm=perm)
    if which == 1:
        b = g.need(shape)
        to = [n * 2 if k == axis else n for k, n in enumerate(shape)]
        return g.step("tf.concat([{0}, {1}], {axis})", [a, b], to, axis=axis)
    if which == 2:
        to = [*shape[:axis], 2, *shape[axis:]]
        return g.step("tf.stack([{0}, tf.sin({0})], {axis})", [a], to, axis=axis)
    if which == 3:
        pads = [[g.rng.randint(0, 2), g.rng.randint(0, 3)] for _ in shape]
        to = [n + sum(pair) for n, pair in zip(shape, pads, strict=True)]
        return g.step("tf.pad({0}, {pads})", [a], to, pads=pads)
    if which == 4:
        first, last, by = g.rng.randint(0, 2), g.rng.randint(0, 2), g.rng.randint(1, 3)
        size = len(range(shape[axis])[first : shape[axis] - last : by])
        key = ", ".join([":"] * axis + [f"{first}:{shape[axis] - last}:{by}"])
        return g.step(f"{{0}}[{key}]", [a], [*shape[:axis], size, *shape[axis + 1 :]])
    if which == 5:
        return g.step("tf.reshape({0}, [-1])", [a], [math.prod(shape)])
    if which == 6 and rank > 1:
        to = [shape[0] * shape[1], *shape[2:]]
        return g.step("tf.reshape({0}, {to})", [a], to, to=to)
    if which == 7:
        return g.step(
            "tf.expand_dims({0}, {axis})", [a], [*shape[:axis], 1, *shape[axis:]], axis=axis
        )
    to = [n * 2 if k == axis else n for k, n in enumerate(shape)]
    return g.step("tf.repeat({0}, 2, {axis})", [a], to, axis=axis)


def looked_up(g: Growing) -> Any:
    a = g.value(lambda s: len(s) > 0)
    shape = g.shapes[a]
    count = g.one([1, 5, 40])
    which = g.rng.randrange(4)
    places = [g.rng.randrange(shape[0]) for _ in range(count)]
    if which == 0:
        return g.step("tf.gather({0}, {at})", [a], [count, *shape[1:]], at=places)
    if which == 1:
        axis = g.rng.randrange(len(shape))
        places = [g.rng.randrange(shape[axis]) for _ in range(min(count, 9))]
        to = [*shape[:axis], len(places), *shape[axis + 1 :]]
        return g.step("tf.gather({0}, {at}, axis={axis})", [a], to, at=places, axis=axis)
    if which == 2:
        b = g.need([count, *shape[1:]])
        op = "tf.tensor_scatter_nd_add({0}, {at}, {1})"
        return g.step(op, [a, b], shape, at=[[k] for k in places])
    segments = g.one([1, 4, 11])
    places = "np.arange({size}) * 7 % {segments}"
    op = f"tf.math.unsorted_segment_sum({{0}}, {places}, {{segments}}) * {{scale}}"
    scale = round((shape[0] / segments) ** -0.5, 4)
    return g.step(op, [a], [segments, *shape[1:]], size=shape[0], segments=segments, scale=scale)


def chance(g: Growing) -> Any:
    a = g.value()
    shape = g.shapes[a]
    op = g.one(
        "{0} * tf.random.stateless_uniform({shape}, [3, {at}], dtype={0}.dtype)"
        " | {0} + 0.25 * tf.random.stateless_normal({shape}, [3, {at}], dtype={0}.dtype)"
        " | {0} * chance.uniform({shape}, dtype={0}.dtype)"
        " | {0} + 0.25 * chance.normal({shape}, dtype={0}.dtype)"
    )
    return g.step(op.replace("{shape}", str(list(shape))), [a], shape, at=len(g.steps))


def assigned(g: Growing) -> Any:
    """A variable changes, and is read from then on as it is now."""
    state = [one["name"] for one in g.inputs if one["kind"] == "variable"]
    if not state:
        raise Unfit
    name = g.one(state)
    shape = g.shapes[name]
    a = g.value(lambda s: s == shape)
    op = g.one(
        "{0}.assign(0.75 * {0} + 0.25 * tf.tanh({1})) | {0}.assign_sub(0.0625 * tf.sin({1}))"
        " | {0}.assign_add(0.0625 * tf.tanh({1}))"
    )
    return g.step(op, [name, a], shape)


FAMILIES: list[tuple[int, Callable[[Growing], Any]]] = [
    (10, unary), (9, binary), (7, rows), (6, reduced), (4, product), (3, window), (5, moved),
    (3, looked_up), (1, chance), (2, assigned),
]  # fmt: skip


# --- programs -------------------------------------------------------------------------------------
def generate(seed: int, index: int) -> Program:
    """The program with this number in the sequence of the seed."""
    rng = Random(f"large-{seed}-{index}")
    g = Growing(rng)
    for _ in range(rng.randint(1, 3)):
        g.input(_shape(rng))
    length = 6 + int(23 * rng.random() ** 2.5)  # to 28
    weights, makers = zip(*FAMILIES, strict=True)
    while len(g.steps) < length:
        with contextlib.suppress(Unfit):
            rng.choices(makers, weights)[0](g)
    used = {name for step in g.steps for name in step["of"]}
    leaves = [step["to"] for step in g.steps if step["to"] not in used]
    sources = [one["name"] for one in g.inputs]
    state = [one["name"] for one in g.inputs if one["kind"] == "variable"]
    return {
        "id": f"large-{seed}-{index}",
        "dtype": "float32" if rng.random() < 0.6 else "float64",
        "inputs": g.inputs,
        "steps": g.steps,
        "results": leaves,
        "sources": sources if rng.random() < 0.85 else [],
        "updates": [name for name in state if rng.random() < 0.7],
        "rows": next((n for n in state if len(g.shapes[n]) > 1 and rng.random() < 0.3), None),
    }


def _shape(rng: Random) -> list[int]:
    """A shape with sizes that leave remainders, and mostly with many numbers."""
    rank = rng.choice([1, 2, 2, 3, 3, 4])
    most = int(math.exp(rng.uniform(math.log(1_000), math.log(LARGEST))))
    sizes: list[int] = []
    for left in range(rank, 0, -1):
        mean = (most / math.prod(sizes)) ** (1 / left)
        sizes.append(max(1, int(mean * (rng.uniform(0.3, 3.0) if left > 1 else 1.0))))
    while math.prod(sizes) > LARGEST:
        sizes[sizes.index(max(sizes))] //= 2
    rng.shuffle(sizes)
    return sizes


def arguments(program: Program, tf: Any, number: int) -> list[Any]:
    """The tensors of one of the sets of arguments."""
    return [
        tf.constant(_numbers(program, one, number))
        for one in program["inputs"]
        if one["kind"] == "constant"
    ]


def _numbers(program: Program, given: dict[str, Any], number: int) -> np.ndarray:
    """Those of float32, also in a program in double precision."""
    rng = np.random.default_rng([number, *f"{program['id']}{given['name']}".encode()])
    values = rng.uniform(-1.5, 1.5, given["shape"]).astype("f4")
    return values.astype(program["dtype"])


def source(program: Program, nudged: bool = False) -> str:
    """The text of `def program(tf)`, which gives the function and its variables."""
    names = [one["name"] for one in program["inputs"]]
    state = [one for one in program["inputs"] if one["kind"] == "variable"]
    constants = [name for name in names if name not in [one["name"] for one in state]]
    sloped = program["sources"]
    lines = [f"{one['name']} = tf.Variable({_initial(program, one)})" for one in state] + [
        "chance = tf.random.Generator.from_seed(7)",
        f"def body({', '.join(constants)}):",
    ]
    steps = [
        f"{step['to']} = {shaken(step['op']) if nudged else step['op']}"
        for step in program["steps"]
    ]
    losses = [f"tf.reduce_mean(tf.square({name}) + {name})" for name in program["results"]]
    inner = [f"tape.watch([{', '.join(constants)}])", *steps, f"loss = {' + '.join(losses)}"]
    body = ["with tf.GradientTape() as tape:", *[INDENT + line for line in inner]]
    grads = []
    if sloped:
        body.append(
            f"grads = tape.gradient(loss, [{', '.join(sloped)}], unconnected_gradients='zero')"
        )
        body.append("grads = [tf.convert_to_tensor(g) for g in grads]")
        grads = ["*grads"]
    for name in program["updates"]:
        change = f"grads[{sloped.index(name)}]" if name in sloped else f"0.125 * {name}"
        body.append(f"{name}.assign_sub(0.0625 * {change})")
    if program["rows"]:
        name = program["rows"]
        body.append(
            f"{name}.scatter_add(tf.IndexedSlices(0.125 * tf.sin({name}[:3]), "
            f"np.arange(5)[:{name}.shape[0]][:3]))"
        )
    results = ", ".join(["loss", *program["results"], *grads])
    lines += [INDENT + line for line in [*body, f"return [{results}]"]]
    lines.append(f"return body, [{''.join(one['name'] + ', ' for one in state)}]")
    return "\n".join(["def program(tf):", *[INDENT + line for line in lines]]) + "\n"


class _Shaken(ast.NodeTransformer):
    """Everything that is computed passes through `nudge`."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        node = super().generic_visit(node)
        if isinstance(node, ast.BinOp) or (isinstance(node, ast.Call) and _of_tensors(node.func)):
            return ast.Call(ast.Name("nudge"), [node], [])
        return node


def _of_tensors(function: ast.expr) -> bool:
    return ast.unparse(function).startswith(("tf.", "abs", "chance."))


def shaken(op: str) -> str:
    """The expression of a step with a nudge at each of its own."""
    return op if "assign" in op else ast.unparse(_Shaken().visit(ast.parse(op, mode="eval")))


def _initial(program: Program, given: dict[str, Any]) -> str:
    """The first numbers of a variable, as an expression."""
    shape, seed = given["shape"], int(given["name"][1:])
    text = f"np.random.RandomState({seed}).uniform(-1.5, 1.5, {shape}).astype('f4')"
    return f"np.array({text}, {program['dtype']!r})"


def said(program: Program, k: int) -> str:
    """What the result with this number is."""
    state = [one["name"] for one in program["inputs"] if one["kind"] == "variable"]
    names = ["loss", *program["results"], *[f"d loss/d {name}" for name in program["sources"]]]
    return [*names, *state][k]


def script(program: Program) -> str:
    """The program for whoever looks into a difference."""
    constants = [one for one in program["inputs"] if one["kind"] == "constant"]
    args = ", ".join(f"tf.constant({_initial(program, one)})" for one in constants)
    lines = [
        "import numpy as np",
        "import gradtape as tf",
        source(program),
        "for made in (lambda body: body, tf.function(jit_compile=True)):",
        "    body, state = program(tf)",
        f"    print(made(body)({args}), state)",
    ]
    return "\n".join(lines) + "\n"


def dropped(program: Program, at: int) -> bool:
    """Take a step away; false if another one needs it."""
    name = program["steps"][at]["to"]
    if any(name in step["of"] for step in program["steps"]):
        return False
    del program["steps"][at]
    used = {one for step in program["steps"] for one in step["of"]}
    program["results"] = [s["to"] for s in program["steps"] if s["to"] not in used]
    return bool(program["results"])
