"""Programs without manners: arguments of every public name, drawn from its signature.

`wild`: chains of one to four calls, operators and slices, on tensors, variables, arrays and
Python's values of every dtype, seldom with something wrong among the arguments. `bad`: one call
that would work, with one argument replaced by something that it is not. Nothing is known here of
the results' shapes and dtypes.
"""

from __future__ import annotations

import functools
import json
from random import Random
from typing import Any

import numpy as np

from tests.tensorflow.api.record import STORED
from tests.tensorflow.api.signatures import parameters, signature
from tests.tensorflow.cases._tables import ROWS, Of, X
from tests.tensorflow.fuzz import interpret
from tests.tensorflow.fuzz.arguments import KIND, WRONG, Arguments
from tests.tensorflow.fuzz.draw import COMPLEX, FLOATS, HALVES, Draw
from tests.tensorflow.fuzz.known import raised

Program = dict[str, Any]
DISTRIBUTIONS = ("wild", "bad")
TRIES = 8  # for a step that gradtape takes

# Names that change or ask the state of the process, or are about files, devices and Python code.
APART = (
    "config.", "test.", "autograph.", "__internal__.", "types.", "experimental.dlpack.",
    "debugging.enable", "debugging.disable", "debugging.set_", "debugging.get_",
    "debugging.is_traceback", "experimental.async", "experimental.enable", "random.set_",
    "random.get_global", "experimental.numpy.experimental", "experimental.numpy.random.seed",
)  # fmt: skip
STATE = """
    function device init_scope control_dependencies print timestamp get_logger no_gradient
    register_tensor_conversion_function variable_creator_scope executing_eagerly inside_function
    get_current_name_scope custom_gradient recompute_grad grad_pass_through gradients hessians
    io.gfile.get_registered_schemes summary.experimental.get_step distribute.get_strategy
    distribute.get_replica_context summary.create_file_writer
    group no_op py_function numpy_function nn.fixed_unigram_candidate_sampler while_loop cond case
    switch_case type_spec_from_value random.create_rng_state experimental.numpy.empty
    experimental.numpy.empty_like experimental.numpy.finfo experimental.numpy.promote_types
"""
# Functions whose numbers are drawn: what is compared is the dtype and the shape.
RANDOM = (
    "random.normal", "random.uniform", "random.truncated_normal", "random.gamma", "random.poisson",
    "random.categorical", "random.shuffle", "nn.dropout", "nn.experimental.general_dropout",
    "image.random_", "experimental.numpy.random.", "candidate_sampler", "sampled_softmax_loss",
    "nce_loss", "stateless_binomial", "stateless_parameterized_truncated_normal",
    "random.log_uniform", "random.learned",
)  # fmt: skip

# First parameters of functions that take tensors of most shapes.
FLEXIBLE = [
    [name] for name in ("x", "a", "input", "tensor", "input_tensor", "value", "x1", "features")
]

OPERATORS = """
    {0} + {1} | {0} - {1} | {0} * {1} | {0} / {1} | {0} // {1} | {0} % {1} | {0} ** {1} | {0} @ {1}
    {0} < {1} | {0} >= {1} | {0} == {1} | {0} != {1} | {0} & {1} | {0} ^ {1} | -{0} | ~{0}
    abs({0}) | {0} + 1 | 2 * {0}
    1.5 - {0} | {0} / 3 | {0} ** 2 | {0} ** -1 | 2 ** {0} | True + {0}
    {0} + np.float64(2.0) | np.int32(2) * {0} | {0} - np.array([1.0, 2.0]) | np.ones((2, 1)) + {0}
    {0} + None | {0} * 'a' | {0} + [1, 2, 3] | [1.0] * {0} | {0} + 2**40 | {0} * 1e300 | {0} + 1j
"""
SLICES = """
    {0}[0] | {0}[-1] | {0}[1:] | {0}[:-1] | {0}[::2] | {0}[::-1] | {0}[..., 0] | {0}[None]
    {0}[..., None] | {0}[0, 0] | {0}[:, 0] | {0}[1:, ::-1] | {0}[5] | {0}[1.0] | {0}[True]
    {0}['a'] | {0}[np.int64(0)] | {0}[tf.constant(0)] | {0}[tf.constant(1):]
    {0}[{0} > 0] | {0}[[0, 1]] | {0}[()] | {0}[...]
    {0}[..., ...] | {0}[0:0] | {0}[3:1] | {0}[:, :, :, 0] | {0}[::0] | {0}[2**40] | {0}[-9:9]
    {0}[tf.newaxis, ..., tf.newaxis] | {0}[:, None] | {0}[np.array(0)] | {0}[False] | {0}[None, 0]
"""


@functools.cache
def functions() -> dict[str, list[str]]:
    """By name the parameters of every function of TensorFlow's that gradtape has."""
    from tests.tensorflow.api.survey import offered, resolve

    found = {}
    for name, one in json.loads(STORED.read_text())["names"].items():
        apart = name.startswith(APART) or name in STATE.split()
        if one["kind"] == "function" and not apart and offered(name):
            found[name] = parameters(one["signature"])
    if offered("raw_ops"):
        for name in sorted(resolve("raw_ops").__all__):
            found[f"raw_ops.{name}"] = parameters(signature(resolve(f"raw_ops.{name}")))
    return found


def generate(seed: int, index: int, distribution: str = "wild") -> Program:
    """The program with this number in the sequence of the seed."""
    rng = Random(f"{distribution}-{seed}-{index}")
    draw = Draw(rng)
    bad = distribution == "bad"
    for _ in range(1 if bad else rng.choices([1, 2, 3, 4], [5, 4, 2, 1])[0]):
        # Of a step that is not refused there is more to see; a third is taken as it comes.
        tries = TRIES if bad or draw.chance(0.65) else 1
        _grow(draw, "" if not bad and draw.chance(0.12) else _name(draw), tries)
    if bad:
        _spoil(draw)
    used = {name for step in draw.steps for name in step["of"]}
    draw.inputs = [given for given in draw.inputs if given["name"] in used]
    return {
        "id": f"{distribution}-{seed}-{index}",
        "inputs": draw.inputs,
        "steps": draw.steps,
        "scenario": _scenario(draw, bad),
    }


def _grow(d: Draw, name: str, tries: int) -> None:
    """Append a call of this name or an operator, one that gradtape takes if it finds any."""
    import gradtape as tf

    inputs, steps = list(d.inputs), list(d.steps)
    for _ in range(tries):
        d.inputs, d.steps = list(inputs), list(steps)
        if name:
            _call(d, name)
        else:
            _operator(d)
        nothing = {"kind": "gradient", "watch": [], "queries": []}
        program = {"inputs": d.inputs, "steps": d.steps, "scenario": nothing}
        if tries == 1 or not raised(interpret.answer(program, tf)):
            return


def _spoil(d: Draw) -> None:
    """Replace one argument of the step by something that it is not."""
    step = d.steps[-1]
    holes = [*step["with"], *map(str, range(len(step["of"])))]
    if holes:
        hole = f"{{{d.one(holes)}}}"
        step["op"] = step["op"].replace(hole, d.one(WRONG))
        step["with"].pop(hole[1:-1], None)
        _renumber(step)


def _operator(d: Draw) -> None:
    made = Arguments(d, "")
    op = d.one(OPERATORS if d.chance(0.6) else SLICES)
    holes = {"{0}": made.operand()}
    if d.inputs and d.inputs[-1]["name"] in made.of and d.inputs[-1]["kind"] == "python":
        d.inputs[-1]["kind"] = "constant"  # Python's own operators are no concern of ours
    if "{1}" in op:
        holes["{1}"] = made.operand()
    if d.chance(0.3) and "{1}" in op:  # an array or a number on the left
        holes["{0}"], holes["{1}"] = holes["{1}"], holes["{0}"]
    op = op.replace("{0}", "\0").replace("{1}", "\1")
    _step(d, op.replace("\0", holes["{0}"]).replace("\1", holes.get("{1}", "")), made.of, {})


def _call(d: Draw, name: str) -> None:
    """A call of a function with arguments for its parameters, seldom with a wrong one."""
    made = Arguments(d, name)
    given = _given(d, made, name)
    if given and d.chance(0.08):
        given[d.one(sorted(given))] = d.one(WRONG)
    parts, holes = [], {}
    positional = not name.startswith("raw_ops.")
    keys = [part.partition("=")[0] for part in functions()[name]]
    order = [key for key in keys if key in given]
    for at, key in enumerate(order):
        positional = positional and keys[at] == key and (key.startswith("*") or d.chance(0.7))
        # Operands stand in the expression, other arguments beside it.
        text = given[key]
        if not any(f"{{{i}}}" in text for i in range(len(made.of))):
            holes[key.lstrip("*")] = {"code": text}
            text = f"{{{key.lstrip('*')}}}"
        star = "*" if key.startswith("*") else ""
        parts.append(star + text if positional or star else f"{key}={text}")
    text = f"tf.{name}({', '.join(parts)})"
    if any(word in name for word in RANDOM):
        text = f"tf.nest.map_structure(tf.zeros_like, {text})"
    _step(d, text, made.of, holes)


def _name(d: Draw) -> str:
    """A function: of all, or one that takes what the last step may have given."""
    plain = d.steps and d.chance(0.85)
    while True:
        name: str = d.one(sorted(functions()))
        many = name.startswith(("experimental.numpy.", "debugging."))
        if many and d.chance(0.5):  # a quarter of all names is there
            continue
        required = [part for part in functions()[name] if "=" not in part]
        if not plain or (len(required) < 3 and required[:1] in FLEXIBLE):
            return name


def _given(d: Draw, made: Arguments, name: str) -> dict[str, str]:
    """The source of each argument: of the tables' example, or by the parameters' names."""
    row = ROWS.get(name)
    given: dict[str, str] = {}
    if row and d.chance(0.75) and not any(isinstance(value, Of) for value in row.args.values()):
        chosen = {**row.args, **(d.one(row.variants) if row.variants and d.chance(0.7) else {})}
        if row.dtype and d.chance(0.8):
            made.dtype = row.dtype
        for key, value in chosen.items():
            text = _example(d, made, value)
            if text is not None:
                given[next((k for k in ("*args", "*inputs") if key == "*"), key)] = text
        star = next((p for p in functions()[name] if p.startswith("*") and p[1:2] != "*"), "")
        if "*args" in given and star:
            given[star] = given.pop("*args")
        return {key: text for key, text in given.items() if key in _keys(name)}
    for part in functions()[name]:
        key, _, default = part.partition("=")
        if key in ("*", "/") or key.startswith("**"):
            continue
        if key.startswith("*"):
            given[key] = "[" + ", ".join(made.operand() for _ in range(d.one([1, 2, 2]))) + "]"
        elif not default or d.chance(0.04 if KIND.get(key) == "name" else 0.3):
            given[key] = made.text(key)
    return given


def _keys(name: str) -> set[str]:
    return {part.partition("=")[0] for part in functions()[name]}


def _example(d: Draw, made: Arguments, value: Any) -> str | None:
    """The source of an example's argument, with operands of the program in it."""
    if isinstance(value, X):
        return made.operand(value.shape)
    if isinstance(value, Of):
        return None
    if isinstance(value, list | tuple):
        parts = [_example(d, made, item) for item in value]
        if any(part is None for part in parts):
            return None
        inside = ", ".join(str(part) for part in parts)
        if isinstance(value, list):
            return f"[{inside}]"
        return f"({inside},)" if inside else "()"
    if isinstance(value, np.ndarray):
        return f"np.array({value.tolist()})"
    return repr(value) if value != float("inf") else "float('inf')"


def _step(d: Draw, op: str, of: list[str], holes: dict[str, Any]) -> None:
    step = {"to": f"v{len(d.steps)}", "op": op, "of": of, "with": holes, "shape": [], "dtype": "?"}
    _renumber(step)
    d.steps.append(step)


def _renumber(step: dict[str, Any]) -> None:
    """Leave out operands that a wrong argument has replaced."""
    used = [i for i in range(len(step["of"])) if f"{{{i}}}" in step["op"]]
    for at, i in enumerate(used):
        step["op"] = step["op"].replace(f"{{{i}}}", f"{{{at}}}")
    step["of"] = [step["of"][i] for i in used]


def _scenario(d: Draw, bad: bool) -> dict[str, Any]:
    """A tape that follows what can be followed, and what it is asked of the last result."""
    sloped = [
        given["name"]
        for given in d.inputs
        if given["kind"] in ("constant", "variable")
        and given["dtype"] in (*FLOATS, *HALVES, *COMPLEX)
    ]
    constants = {given["name"] for given in d.inputs if given["kind"] == "constant"}
    kinds = {"gradient": 10, "persistent": 2, "second": 1, "jacobian": 0.5}
    kind = d.rng.choices(list(kinds), list(kinds.values()))[0]
    if bad or not sloped:
        return {"kind": "gradient", "watch": [], "queries": []}
    watch = [[0, name] for name in sloped if name in constants and d.chance(0.9)]
    query: dict[str, Any] = {"targets": [d.steps[-1]["to"]], "sources": sloped}
    if d.chance(0.15):
        query["unconnected"] = "zero"
    return {"kind": kind, "watch": watch, "queries": [query] * (2 if kind == "persistent" else 1)}
