"""A program as the Python that is run, and that a person reads."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

INDENT = "    "


def source(program: dict[str, Any], nudged: bool = False) -> str:
    """The text of `def program(tf)`; nudged, every result passes through `nudge`."""
    lines = ["def program(tf):"]
    lines += [
        INDENT + line for line in [*map(assignment, program["inputs"]), *body(program, nudged)]
    ]
    return "\n".join(lines) + "\n"


def script(program: dict[str, Any]) -> str:
    """The same as a script for whoever looks into a difference."""
    lines = [*map(assignment, program["inputs"]), *body(program, False)]
    lines[-1] = "print" + lines[-1].removeprefix("return ").join("()")
    imports = ["import gradtape as tf  # or: import tensorflow as tf", ""]
    if any("np." in line for line in lines):
        imports.insert(0, "import numpy as np")
    return "\n".join([*imports, *lines]) + "\n"


def expression(step: dict[str, Any]) -> str:
    """The right side of a step."""
    text = step["op"]
    for i, name in enumerate(step["of"]):
        text = text.replace(f"{{{i}}}", name)
    for key, value in step.get("with", {}).items():
        written = value["code"] if isinstance(value, dict) else repr(value)
        text = text.replace(f"{{{key}}}", written)
    return text


def leaves(program: dict[str, Any]) -> list[str]:
    """The results that no other step uses."""
    used = {name for step in program["steps"] for name in step["of"]}
    return [step["to"] for step in program["steps"] if step["to"] not in used]


def assignment(given: dict[str, Any]) -> str:
    values = _written(given)
    if given["kind"] in ("array", "scalar", "python"):
        return f"{given['name']} = {_array(given, values)}"
    if 0 in given["shape"]:
        values = f"tf.zeros({given['shape']}, {given['dtype']!r})"
    kind = {"variable": "tf.Variable", "constant": "tf.constant"}[given["kind"]]
    return f"{given['name']} = {kind}({values}, dtype={given['dtype']!r})"


# How an array of the same values and shape comes to have another memory.
LAYOUTS = {
    "fortran": "np.asfortranarray({0})",
    "strided": "np.repeat({0}[..., None], 2, axis=-1)[..., 0]",
    "readonly": "np.broadcast_to({0}, {1})",
    "big": "{0}.astype('>{2}')",
    "backward": "np.flip({0}).copy()[{3}]",
}


def _array(given: dict[str, Any], values: str) -> str:
    """An input that is none of the library's tensors."""
    dtype = given["dtype"]
    if given["kind"] == "python":
        return values
    if given["kind"] == "scalar":
        name = "tf.bfloat16.as_numpy_dtype" if dtype == "bfloat16" else f"np.dtype({dtype!r}).type"
        return f"{name}({values})"
    if dtype == "string":
        return f"np.array({values}, 'U').reshape({given['shape']})"
    name = "tf.bfloat16.as_numpy_dtype" if dtype == "bfloat16" else repr(dtype)
    text = f"np.array({values}, {name})"
    if 0 in given["shape"]:
        text = f"np.zeros({given['shape']}, {name})"
    layout = given.get("layout")
    if not layout or not given["shape"]:
        return text
    code = np.dtype(dtype).str[1:]
    back = ", ".join(["::-1"] * len(given["shape"]))
    return LAYOUTS[layout].format(text, given["shape"], code, back)


def _written(given: dict[str, Any]) -> str:
    """The values of an input as nested lists of Python's numbers."""
    texts = np.empty(len(given["values"]), dtype=object)
    texts[:] = [_number(value) for value in given["values"]]
    written = texts.reshape(given["shape"]).tolist()
    return _listed(written)


def _listed(written: Any) -> str:
    if isinstance(written, list):
        return f"[{', '.join(map(_listed, written))}]"
    return str(written)


def _number(value: Any) -> str:
    if isinstance(value, list):
        return f"complex({_number(value[0])}, {_number(value[1])})"
    if isinstance(value, str):
        return repr(value)
    finite = isinstance(value, int) or math.isfinite(value)
    return repr(value) if finite else f'float("{value}")'


def body(program: dict[str, Any], nudged: bool) -> list[str]:
    scenario = program["scenario"]
    writer = {
        "jvp": _jvp,
        "forward_over_back": _jvp,
        "back_over_forward": _back_over_forward,
        "forward_twice": _forward_twice,
        "second": _second,
        "penalty": _penalty,
        "hessian": _hessian,
        "function": _function,
        "whole": _whole,
        "custom": _custom,
    }.get(scenario["kind"], _tape)
    return writer(program, nudged)


def _step(step: dict[str, Any], nudged: bool) -> str:
    text = expression(step)
    return f"{step['to']} = nudge({text})" if nudged else f"{step['to']} = {text}"


def _plain(program: dict[str, Any], nudged: bool) -> list[str]:
    return [_step(step, nudged) for step in program["steps"]] or ["pass"]


def _steps(program: dict[str, Any], nudged: bool, tapes: list[str]) -> list[str]:
    scenario, lines = program["scenario"], []
    start, stop = scenario.get("pause", (0, 0))
    for i in range(len(program["steps"]) + 1):
        watched = [name for at, name in scenario["watch"] if at == i]
        lines += [f"{tape}.watch({name})" for name in watched for tape in tapes]
        if i < len(program["steps"]):
            if start == i < stop:
                lines.append("with tape.stop_recording():")
            pad = INDENT if start <= i < stop else ""
            lines.append(pad + _step(program["steps"][i], nudged))
    return _nested(lines) or ["pass"]


def _nested(lines: list[str]) -> list[str]:
    # A watch inside of the paused block belongs to the block.
    out, inside = [], False
    for i, line in enumerate(lines):
        if line.startswith("with tape.stop"):
            inside = True
        elif inside and not line.startswith(INDENT):
            if any(rest.startswith(INDENT) for rest in lines[i:]):
                line = INDENT + line
            else:
                inside = False
        out.append(line)
    return out


def _names(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"[{', '.join(names)}]"


def _values(program: dict[str, Any]) -> str:
    targets = {name for query in program["scenario"]["queries"] for name in query["targets"]}
    shown = [name for name in leaves(program) if name not in targets]
    return f"[{', '.join([*shown, *sorted(targets)])}]"


def _query(tape: str, query: dict[str, Any], method: str = "gradient") -> str:
    arguments = [_names(query["targets"]), f"[{', '.join(query['sources'])}]"]
    if "jacobian" in method:
        arguments[0] = query["targets"][0]
    if method == "batch_jacobian":
        arguments[1] = query["sources"][0]
    if query.get("weighted"):
        weights = [f"tf.cos({name} * 3.0)" for name in query["targets"]]
        arguments.append(f"output_gradients={_names(weights)}")
    if "unconnected" in query:
        arguments.append(f"unconnected_gradients={query['unconnected']!r}")
    return f"{tape}.{method}({', '.join(arguments)})"


def _tape(program: dict[str, Any], nudged: bool) -> list[str]:
    scenario = program["scenario"]
    method = scenario["kind"] if "jacobian" in scenario["kind"] else "gradient"
    options = ["persistent=True"] if scenario["kind"] in ("persistent", "jacobian") else []
    if scenario.get("alone"):
        options.append("watch_accessed_variables=False")
    lines = [f"with tf.GradientTape({', '.join(options)}) as tape:"]
    lines += [INDENT + line for line in _steps(program, nudged, ["tape"])]
    answers = [_query("tape", query, method) for query in scenario["queries"]]
    return [*lines, f"return {_values(program)}, {', '.join(answers)}"]


def _twice(program: dict[str, Any], nudged: bool, options: str = "") -> list[str]:
    """A tape inside another, and the slopes that the inner one finds."""
    query = program["scenario"]["queries"][0]
    steps = _steps(program, nudged, ["outer", "tape"])
    return [
        f"with tf.GradientTape({options}) as outer:",
        INDENT + "with tf.GradientTape() as tape:",
        *[INDENT * 2 + line for line in steps],
        f"{INDENT}first = {_query('tape', query)}",
        f"{INDENT}slopes = [tf.convert_to_tensor(g) for g in first if g is not None]",
    ]


def _second(program: dict[str, Any], nudged: bool) -> list[str]:
    sources = ", ".join(program["scenario"]["queries"][0]["sources"])
    return [
        *_twice(program, nudged),
        f"second = outer.gradient(slopes, [{sources}])",
        f"return {_values(program)}, first, second",
    ]


def _penalty(program: dict[str, Any], nudged: bool) -> list[str]:
    query = program["scenario"]["queries"][0]
    return [
        *_twice(program, nudged),
        f"{INDENT}sizes = [tf.reduce_sum(tf.square(g)) for g in slopes]",
        f"second = outer.gradient([*sizes, {', '.join(query['targets'])}], "
        f"[{', '.join(query['sources'])}])",
        f"return {_values(program)}, first, second",
    ]


def _hessian(program: dict[str, Any], nudged: bool) -> list[str]:
    sources = ", ".join(program["scenario"]["queries"][0]["sources"])
    return [
        *_twice(program, nudged, "persistent=True"),
        f"return {_values(program)}, first, [outer.jacobian(g, [{sources}]) for g in slopes]",
    ]


def _whole(program: dict[str, Any], nudged: bool) -> list[str]:
    query = program["scenario"]["queries"][0]
    return [
        "@tf.function(autograph=False)",
        "def body():",
        INDENT + "with tf.GradientTape() as tape:",
        *[INDENT * 2 + line for line in _steps(program, nudged, ["tape"])],
        f"{INDENT}return [{', '.join(query['targets'])}], {_query('tape', query)}",
        "return body()",
    ]


def _function(program: dict[str, Any], nudged: bool) -> list[str]:
    query = program["scenario"]["queries"][0]
    watched = [name for _, name in program["scenario"]["watch"]]
    return [
        "@tf.function(autograph=False)",
        "def body():",
        *[INDENT + line for line in _plain(program, nudged)],
        f"{INDENT}return [{', '.join(query['targets'])}]",
        "with tf.GradientTape() as tape:",
        *[f"{INDENT}tape.watch({name})" for name in watched],
        f"{INDENT}[{', '.join(query['targets'])}] = body()",
        f"return [{', '.join(query['targets'])}], {_query('tape', query)}",
    ]


def _custom(program: dict[str, Any], nudged: bool) -> list[str]:
    query = program["scenario"]["queries"][0]
    names = [given["name"] for given in program["inputs"]]
    watched = [name for _, name in program["scenario"]["watch"]]
    target, given = query["targets"][0], ", ".join(names)
    copies = ", ".join(f"tf.identity({name})" for name in names)
    return [
        "@tf.custom_gradient",
        f"def body({given}):",
        INDENT + "with tf.GradientTape() as inner:",
        f"{INDENT * 2}inner.watch([{given}])",
        *[INDENT * 2 + line for line in _plain(program, nudged)],
        INDENT + "def slope(g):",
        f"{INDENT * 2}return inner.gradient({target}, [{given}], g, 'zero')",
        f"{INDENT}return {target}, slope",
        "with tf.GradientTape() as tape:",
        *[f"{INDENT}tape.watch({name})" for name in watched],
        f"{INDENT}{target} = body({copies}) * 2.0",
        f"return {target}, {_query('tape', query)}",
    ]


def _jvp(program: dict[str, Any], nudged: bool) -> list[str]:
    scenario = program["scenario"]
    query = scenario["queries"][0]
    primals, targets = ", ".join(query["sources"]), ", ".join(query["targets"])
    tangents = ", ".join(f"tf.cos({name} * 3.0)" for name in query["sources"])
    lines = [f"with tf.autodiff.ForwardAccumulator([{primals}], [{tangents}]) as forward:"]
    unconnected = f", {query['unconnected']!r}" if "unconnected" in query else ""
    if scenario["kind"] == "jvp":
        lines += [INDENT + line for line in _plain(program, nudged)]
        return [*lines, f"return {_values(program)}, forward.jvp([{targets}]{unconnected})"]
    lines += [
        INDENT + "with tf.GradientTape() as tape:",
        *[INDENT * 2 + line for line in _steps(program, nudged, ["tape"])],
        f"{INDENT}first = {_query('tape', query)}",
        f"{INDENT}slopes = [tf.convert_to_tensor(g) for g in first if g is not None]",
        f"return {_values(program)}, first, [forward.jvp(g{unconnected}) for g in slopes]",
    ]
    return lines


def _directions(query: dict[str, Any]) -> str:
    tangents = ", ".join(f"tf.cos({name} * 3.0)" for name in query["sources"])
    return f"[{', '.join(query['sources'])}], [{tangents}]"


def _back_over_forward(program: dict[str, Any], nudged: bool) -> list[str]:
    query = program["scenario"]["queries"][0]
    watched = [name for _, name in program["scenario"]["watch"]]
    return [
        "with tf.GradientTape() as tape:",
        *[f"{INDENT}tape.watch({name})" for name in watched],
        f"{INDENT}with tf.autodiff.ForwardAccumulator({_directions(query)}) as forward:",
        *[INDENT * 2 + line for line in _plain(program, nudged)],
        f"{INDENT}found = forward.jvp([{', '.join(query['targets'])}])",
        f"{INDENT}tangents = [t for t in found if t is not None]",
        f"return {_values(program)}, found, "
        f"tape.gradient(tangents, [{', '.join(query['sources'])}])",
    ]


def _forward_twice(program: dict[str, Any], nudged: bool) -> list[str]:
    query = program["scenario"]["queries"][0]
    directions = _directions(query)
    return [
        f"with tf.autodiff.ForwardAccumulator({directions}) as outer:",
        f"{INDENT}with tf.autodiff.ForwardAccumulator({directions}) as forward:",
        *[INDENT * 2 + line for line in _plain(program, nudged)],
        f"{INDENT}found = forward.jvp([{', '.join(query['targets'])}])",
        f"return {_values(program)}, found, [outer.jvp(t) for t in found if t is not None]",
    ]
