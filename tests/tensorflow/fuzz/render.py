"""A program as the Python that is run, and that a person reads."""

from __future__ import annotations

from typing import Any

import numpy as np

INDENT = "    "


def source(program: dict[str, Any], nudged: bool = False) -> str:
    """The text of `def program(tf)`; nudged, every result passes through `nudge`."""
    lines = ["def program(tf):"]
    lines += [INDENT + line for line in [*map(_input, program["inputs"]), *_body(program, nudged)]]
    return "\n".join(lines) + "\n"


def script(program: dict[str, Any]) -> str:
    """The same as a script for whoever looks into a difference."""
    body = [*map(_input, program["inputs"]), *_body(program, False)]
    body[-1] = "print" + body[-1].removeprefix("return ").join("()")
    return "\n".join(["import gradtape as tf  # or: import tensorflow as tf", "", *body]) + "\n"


def expression(step: dict[str, Any]) -> str:
    """The right side of a step."""
    text = step["op"]
    for i, name in enumerate(step["of"]):
        text = text.replace(f"{{{i}}}", name)
    for key, value in step.get("with", {}).items():
        text = text.replace(f"{{{key}}}", repr(value))
    return text


def leaves(program: dict[str, Any]) -> list[str]:
    """The results that no other step uses."""
    used = {name for step in program["steps"] for name in step["of"]}
    return [step["to"] for step in program["steps"] if step["to"] not in used]


def _input(given: dict[str, Any]) -> str:
    values = np.reshape(np.array(given["values"], dtype=object), given["shape"]).tolist()
    if 0 in given["shape"]:
        values = f"tf.zeros({given['shape']}, {given['dtype']!r})"
    kind = {"variable": "tf.Variable", "constant": "tf.constant"}[given["kind"]]
    return f"{given['name']} = {kind}({values}, dtype={given['dtype']!r})"


def _body(program: dict[str, Any], nudged: bool) -> list[str]:
    scenario = program["scenario"]
    writer = {
        "jvp": _jvp,
        "forward_over_back": _jvp,
        "second": _second,
        "function": _function,
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
    if method == "jacobian":
        arguments[0] = query["targets"][0]
    if query.get("weighted"):
        weights = [f"tf.cos({name} * 3.0)" for name in query["targets"]]
        arguments.append(f"output_gradients={_names(weights)}")
    if "unconnected" in query:
        arguments.append(f"unconnected_gradients={query['unconnected']!r}")
    return f"{tape}.{method}({', '.join(arguments)})"


def _tape(program: dict[str, Any], nudged: bool) -> list[str]:
    scenario = program["scenario"]
    method = "jacobian" if scenario["kind"] == "jacobian" else "gradient"
    persistent = "persistent=True" if scenario["kind"] in ("persistent", "jacobian") else ""
    lines = [f"with tf.GradientTape({persistent}) as tape:"]
    lines += [INDENT + line for line in _steps(program, nudged, ["tape"])]
    answers = [_query("tape", query, method) for query in scenario["queries"]]
    return [*lines, f"return {_values(program)}, {', '.join(answers)}"]


def _second(program: dict[str, Any], nudged: bool) -> list[str]:
    query = program["scenario"]["queries"][0]
    steps = _steps(program, nudged, ["outer", "tape"])
    return [
        "with tf.GradientTape() as outer:",
        INDENT + "with tf.GradientTape() as tape:",
        *[INDENT * 2 + line for line in steps],
        f"{INDENT}first = {_query('tape', query)}",
        f"{INDENT}slopes = [tf.convert_to_tensor(g) for g in first if g is not None]",
        f"second = outer.gradient(slopes, [{', '.join(query['sources'])}])",
        f"return {_values(program)}, first, second",
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
