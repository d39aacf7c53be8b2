"""Make a program that tells the libraries apart as short as it can be while it still does."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from typing import Any

from tests.tensorflow.fuzz import render

Program = dict[str, Any]
ROUNDS = 60


def shrink(program: Program, differing: Callable[[list[Program]], int | None]) -> Program:
    """The shortest program found; `differing` gives the first of a batch that still differs."""
    program = tidy(program)
    for _ in range(ROUNDS):
        smaller = [tidy(candidate) for candidate in candidates(program)]
        smaller = [candidate for candidate in smaller if size(candidate) < size(program)]
        found = differing(smaller) if smaller else None
        if found is None:
            return program
        program = smaller[found]
    return program


def size(program: Program) -> tuple[int, int]:
    """Fewer steps first, then less text."""
    return len(program["steps"]), len(render.source(program))


def candidates(program: Program) -> Iterator[Program]:
    """Simpler programs, the boldest first."""
    yield from _fewer_steps(program)
    yield from _simpler_scenarios(program)
    yield from _simpler_inputs(program)
    yield from _simpler_steps(program)


def tidy(program: Program) -> Program:
    """Without steps and inputs that nothing asked for depends on, if that is not the difference."""
    scenario = program["scenario"]
    asked = {n for q in scenario["queries"] for n in [*q["targets"], *q["sources"]]}
    kept = scenario.get("kept", render.leaves(program))
    needed = asked | set(kept)
    for step in reversed(program["steps"]):
        if step["to"] in needed:
            needed |= set(step["of"])
    program = copy.deepcopy(program)
    steps = program["steps"]
    keep = [i for i, step in enumerate(steps) if step["to"] in needed]
    program["steps"] = [steps[i] for i in keep]
    program["inputs"] = [given for given in program["inputs"] if given["name"] in needed]
    names = {part.get("to", part.get("name")) for part in [*program["steps"], *program["inputs"]]}

    def moved(at: int) -> int:
        return sum(i < at for i in keep)

    scenario = program["scenario"]
    scenario["watch"] = [[moved(at), name] for at, name in scenario["watch"] if name in names]
    if "pause" in scenario:
        scenario["pause"] = [moved(at) for at in scenario["pause"]]
        if scenario["pause"][0] == scenario["pause"][1]:
            del scenario["pause"]
    return program


def _changed(program: Program, change: Callable[..., Any], *arguments: Any) -> Program:
    program = copy.deepcopy(program)
    change(program, *arguments)
    return program


def _fewer_steps(program: Program) -> Iterator[Program]:
    leaves = render.leaves(program)
    asked = {n for q in program["scenario"]["queries"] for n in [*q["targets"], *q["sources"]]}
    # A leaf goes at once with all that only it needs.
    for leaf in leaves:
        if leaf not in asked:
            yield _changed(program, _drop, leaf)
    for step in program["steps"]:
        for operand in step["of"]:
            if _known(program)[operand] == (step["shape"], step["dtype"]):
                yield _changed(program, _replace, step["to"], operand)
    for step in reversed(program["steps"]):
        if step["dtype"].startswith("float"):
            yield _changed(program, _freeze, step["to"])


def _known(program: Program) -> dict[str, Any]:
    parts = [*program["inputs"], *program["steps"]]
    return {part.get("to", part.get("name")): (part["shape"], part["dtype"]) for part in parts}


def _drop(program: Program, name: str) -> None:
    """Remove a leaf, and then what only it needed."""
    before = set(render.leaves(program)) - {name}
    while name:
        at = next(i for i, step in enumerate(program["steps"]) if step["to"] == name)
        del program["steps"][at]
        scenario = program["scenario"]
        scenario["watch"] = [[i - (i > at), n] for i, n in scenario["watch"] if n != name]
        if "pause" in scenario:
            scenario["pause"] = [i - (i > at) for i in scenario["pause"]]
        asked = {n for q in scenario["queries"] for n in [*q["targets"], *q["sources"]]}
        name = next((n for n in render.leaves(program) if n not in before | asked), "")


def _replace(program: Program, name: str, by: str) -> None:
    """Let all users of a result use another value."""
    at = next(i for i, step in enumerate(program["steps"]) if step["to"] == name)
    del program["steps"][at]
    scenario = program["scenario"]
    for step in program["steps"]:
        step["of"] = [by if other == name else other for other in step["of"]]
    for query in scenario["queries"]:
        for part in ("targets", "sources"):
            query[part] = list(dict.fromkeys(by if n == name else n for n in query[part]))
    scenario["watch"] = [[i - (i > at), n] for i, n in scenario["watch"] if n != name]
    if "pause" in scenario:
        scenario["pause"] = [i - (i > at) for i in scenario["pause"]]


def _freeze(program: Program, name: str) -> None:
    """Make a result an input of its own."""
    step = next(step for step in program["steps"] if step["to"] == name)
    fresh = f"x{max([int(given['name'][1:]) for given in program['inputs']], default=0) + 1}"
    count = 1
    for n in step["shape"]:
        count *= n
    values = [round(0.3 + 0.37 * i - 0.9 * (i % 3), 2) for i in range(count)]
    _replace(program, name, fresh)
    given = {"name": fresh, "kind": "variable", "dtype": step["dtype"], "shape": step["shape"]}
    program["inputs"].append({**given, "values": values})
    for query in program["scenario"]["queries"]:
        if fresh not in query["sources"] and len(query["sources"]) < 3:
            query["sources"].append(fresh)


def _simpler_scenarios(program: Program) -> Iterator[Program]:
    scenario = program["scenario"]
    for kind in ("gradient", "second"):
        if scenario["kind"] not in (kind, "gradient"):
            yield _changed(program, _turn, kind)
    for option in ("pause", "alone"):
        if option in scenario:
            yield _changed(program, _without, ["scenario"], option)
    for i, query in enumerate(scenario["queries"]):
        if len(scenario["queries"]) > 1:
            yield _changed(program, _without, ["scenario", "queries"], i)
        for option in ("weighted", "unconnected"):
            if option in query:
                yield _changed(program, _without, ["scenario", "queries", i], option)
        for part in ("targets", "sources"):
            for k in range(len(query[part])):
                if len(query[part]) > 1:
                    yield _changed(program, _without, ["scenario", "queries", i, part], k)
    for i in range(len(scenario["watch"])):
        yield _changed(program, _without, ["scenario", "watch"], i)


def _at(program: Program, path: list[Any]) -> Any:
    part: Any = program
    for key in path:
        part = part[key]
    return part


def _without(program: Program, path: list[Any], key: Any) -> None:
    del _at(program, path)[key]


def _set(program: Program, path: list[Any], key: Any, value: Any) -> None:
    _at(program, path)[key] = value


def _turn(program: Program, kind: str) -> None:
    program["scenario"]["kind"] = kind
    del program["scenario"]["queries"][1:]


def _simpler_inputs(program: Program) -> Iterator[Program]:
    for i, given in enumerate(program["inputs"]):
        values = given["values"]
        for change in SIMPLER.get(given["dtype"][:3], SIMPLER["flo"]):
            simple = [change(v) for v in values]
            if simple != values:
                yield _changed(program, _set, ["inputs", i], "values", simple)
        if given["kind"] == "variable" and [0, given["name"]] not in program["scenario"]["watch"]:
            yield _changed(program, _set, ["inputs", i], "kind", "constant")


def _rounded(value: float) -> float:
    return round(value, 1) if math.isfinite(value) else value


# By the dtype's first letters.
SIMPLER: dict[str, list[Callable[[Any], Any]]] = {
    "flo": [lambda v: 1.0, lambda v: 0.5, lambda v: v if math.isfinite(v) else 1.0, _rounded],
    "com": [lambda v: [1.0, 1.0], lambda v: [0.5, 0.0], lambda v: [_rounded(part) for part in v]],
    "int": [lambda v: 1, lambda v: 2],
    "uin": [lambda v: 1, lambda v: 2],
    "boo": [lambda v: True, lambda v: False],
    "str": [lambda v: "a", lambda v: v[:1]],
}


def _simpler_steps(program: Program) -> Iterator[Program]:
    for i, step in enumerate(program["steps"]):
        for key, value in step.get("with", {}).items():
            simples: list[Any] = [None, 0, [], False]
            for simple in simples:
                if value != simple and len(repr(simple)) < len(repr(value)):
                    yield _changed(program, _set, ["steps", i, "with"], key, simple)
