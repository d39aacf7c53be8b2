"""A program taken apart, so that a difference which is documented hides none that is not.

What explains a part of an answer could also swallow a wrong number elsewhere in the program, or all
of it where TensorFlow raises an error. So such a program is asked again for less, and every step is
asked alone, on the operands that it met; each of these has to be the same or documented itself.
"""

from __future__ import annotations

import collections
from typing import Any

import numpy as np

from tests.tensorflow.fuzz import compare, interpret, known
from tests.tensorflow.fuzz.draw import COMPLEX, FLOATS, HALVES
from tests.tensorflow.fuzz.worker import TensorFlow

Program = dict[str, Any]
SLOPED = (*FLOATS, *HALVES, *COMPLEX)
# What a step alone is asked in place of the program's question.
ASKED = {
    **dict.fromkeys(known.TWICE, "second"),
    **dict.fromkeys(known.FORWARD, "jvp"),
    "jacobian": "jacobian",
    "batch_jacobian": "jacobian",
}
OFTEN = 3  # that a process asks an expression alone, of one dtype and in one way


def hidden(program: Program, tf: Any, worker: TensorFlow) -> tuple[Program, str, str] | None:
    """A part of the program that differs as nothing documents, its verdict and the words."""
    asked = [*less(program), *filter(_new, alone(program, tf))]
    for part, expected in zip(asked, worker.answers(asked), strict=True):
        kind, words = compare.verdict(part, expected, interpret.answer(part, tf), tf, worker)
        if kind not in compare.FINE:
            return part, kind, words
    return None


_asked: collections.Counter[tuple[str, ...]] = collections.Counter()


def _new(part: Program) -> bool:
    step, kind = part["steps"][0], part["scenario"]["kind"]
    _asked[step["op"], step["dtype"], kind] += 1
    return _asked[step["op"], step["dtype"], kind] <= OFTEN


def less(program: Program) -> list[Program]:
    """The same steps, asked for their values and for plain slopes only."""
    scenario = program["scenario"]
    constants = {given["name"] for given in program["inputs"] if given["kind"] == "constant"}
    watched = sorted({name for _, name in scenario["watch"] if name in constants})
    plain = {"kind": "gradient", "watch": [[0, name] for name in watched]}
    asked = [{**plain, "queries": []}]
    if scenario["kind"] not in ("gradient", "persistent"):
        asked.append({**plain, "queries": scenario["queries"][:1]})
    return [{**program, "scenario": chosen} for chosen in asked]


def alone(program: Program, tf: Any) -> list[Program]:
    """Every step that gradtape reached as a program of its own."""
    given = {part["name"]: part for part in program["inputs"]}
    kind = ASKED.get(program["scenario"]["kind"], "gradient")
    found = []
    reached = interpret.results(less(program)[0], tf)
    for step in program["steps"]:
        if all(name in given for name in step["of"]):
            inputs = [given[name] for name in dict.fromkeys(step["of"])]
            found.append(_alone(program["id"], kind, step, inputs))
        if "assign" in step["op"]:  # from here on the variable holds something else
            given.pop(step["of"][0], None)
        if step["to"] in reached and reached[step["to"]].dtype.kind not in "OSU":  # no texts
            given[step["to"]] = _given(step["to"], reached[step["to"]])
    return found


def _alone(id: str, kind: str, step: dict[str, Any], inputs: list[dict[str, Any]]) -> Program:
    if "assign" in step["op"]:
        inputs = [{**given, "kind": "variable"} for given in inputs]
    sources = [given["name"] for given in inputs if given["dtype"] in SLOPED]
    watch = [[0, given["name"]] for given in inputs if given["kind"] == "constant"]
    query = {"targets": [step["to"]], "sources": sources}
    if kind == "gradient":
        query["weighted"] = True
    sloped = bool(sources) and step["dtype"] in SLOPED
    scenario = {
        "kind": kind if sloped else "gradient",
        "watch": [pair for pair in watch if pair[1] in sources],
        "queries": [query] if sloped else [],
    }
    return {
        "id": f"{id}-{step['to']}",
        "inputs": inputs,
        "steps": [step],
        "scenario": scenario,
    }


def _given(name: str, value: Any) -> dict[str, Any]:
    """An input that holds a result."""
    dtype = value.dtype.name
    numbers: Any = value.ravel()
    if dtype in COMPLEX:
        numbers = np.stack([numbers.real, numbers.imag], axis=-1).astype(np.float64)
    elif dtype in SLOPED:
        numbers = numbers.astype(np.float64)
    part = {"name": name, "kind": "constant", "dtype": dtype, "shape": list(value.shape)}
    return {**part, "values": numbers.tolist()}
