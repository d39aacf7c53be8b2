"""Random programs from a seed, without either library: shapes and dtypes are followed here."""

from __future__ import annotations

import contextlib
import math
from random import Random
from typing import Any

from tests.tensorflow.fuzz import families
from tests.tensorflow.fuzz.draw import COMPLEX, FLOATS, HALVES, Draw, Unfit

Program = dict[str, Any]

# What a program asks for, and how often.
KINDS = {
    "gradient": 12,
    "persistent": 6,
    "second": 4,
    "penalty": 1,
    "jacobian": 2,
    "batch_jacobian": 1,
    "hessian": 0.5,
    "jvp": 2,
    "forward_over_back": 1,
    "back_over_forward": 1,
    "forward_twice": 0.25,
    "function": 2,
    "whole": 1,
    "custom": 2,
}
# TensorFlow traces these op by op, which takes it long.
TRACED = ("jvp", "jacobian", "batch_jacobian", "hessian", "forward_over_back", "back_over_forward",
          "forward_twice")  # fmt: skip
PLAIN = ("gradient", "persistent")


def generate(seed: int, index: int, more: Any = ()) -> Program:
    """The program with this number in the sequence of the seed; `more` families are for programs
    that run in a function, which makes no variables after its first call."""
    rng = Random(f"{seed}-{index}")
    draw = Draw(rng)
    main = "float32" if draw.chance(0.65) else "float64"
    for _ in range(rng.randint(1, 4)):
        other = draw.one(["float64", "int32", "int64", *HALVES, *COMPLEX, "bool"])
        draw.input(dtype=other if draw.chance(0.2) else main)
    draw.input((3, 3) if draw.chance(0.3) else None, main)
    kind = rng.choices(list(KINDS), list(KINDS.values()))[0]
    draw.graph = kind in ("function", "whole")
    draw.played = bool(more)
    draw.forward = kind in TRACED and "jacobian" not in kind
    draw.twice = draw.forward or kind in ("second", "penalty", "hessian")
    draw.copies = kind in ("custom", "forward_twice")
    length = int(rng.triangular(5, 10 if kind in TRACED else 40, 9))
    weights, makers = zip(*families.FAMILIES, *more, strict=True)
    broken = draw.chance(0.1) and kind in PLAIN
    while len(draw.steps) < length:
        with contextlib.suppress(Unfit):
            rng.choices(makers, weights)[0](draw)
    if broken:
        with contextlib.suppress(Unfit):
            families.wrong(draw)
    if kind == "forward_twice":  # of variables, an internal error of TensorFlow's
        for given in draw.inputs:
            given["kind"] = "constant"
    return {
        "id": f"{kind}-{seed}-{index}",
        "inputs": draw.inputs,
        "steps": draw.steps,
        "scenario": scenario(draw, kind),
    }


def scenario(d: Draw, kind: str) -> dict[str, Any]:
    """How tapes follow the steps and what they are asked."""
    results = [step["to"] for step in d.steps if step["to"] in d.known]
    sloped = [name for name in results if d.dtype(name) in (*FLOATS, *HALVES, *COMPLEX)]
    inputs = [given["name"] for given in d.inputs if given["dtype"] in (*FLOATS, *HALVES, *COMPLEX)]
    chosen: dict[str, Any] = {"kind": kind, "watch": _watched(d, results, kind)}
    if kind == "gradient" and d.chance(0.12) and len(d.steps) > 3:
        start = d.rng.randrange(len(d.steps) - 1)
        chosen["pause"] = [start, d.rng.randint(start + 1, len(d.steps))]
    if kind in PLAIN and d.chance(0.05):
        chosen["alone"] = True  # variables are not watched of themselves
    queries = []
    for _ in range(d.rng.randint(2, 4) if kind == "persistent" else 1):
        targets = d.rng.sample(sloped[-8:], min(d.rng.randint(1, 3), len(sloped[-8:])))
        if kind in ("jacobian", "batch_jacobian", "hessian", "custom"):
            small = [name for name in sloped[::-1] if math.prod(d.shape(name)) <= 9]
            targets = small[:1] or sloped[-1:] or inputs[:1]
        if kind == "persistent" and d.chance(0.03) and results:
            targets = [d.one(results)]
        sources = d.rng.sample(inputs, d.rng.randint(1, len(inputs)))
        if kind == "batch_jacobian":
            targets, sources = _batches(d, sloped, inputs) or (targets, sources[:1])
        if kind in PLAIN and d.chance(0.2):
            sources.append(d.one(results))
        if kind in PLAIN and d.chance(0.05):  # the same again
            sources.append(sources[0])
            targets.append(targets[0])
        query: dict[str, Any] = {"targets": targets, "sources": sources}
        if d.chance(0.15):
            query["unconnected"] = "zero"
        plain = all(d.dtype(name) in (*FLOATS, *HALVES, *COMPLEX) for name in targets)
        if kind in (*PLAIN, "function", "whole") and plain and d.chance(0.15):
            query["weighted"] = True
        queries.append(query)
    chosen["queries"] = queries
    return chosen


def _batches(d: Draw, sloped: list[str], inputs: list[str]) -> tuple[list[str], list[str]] | None:
    """A target and a source with a common first axis, if there are any."""
    for target in reversed(sloped):
        for source in inputs:
            shapes = d.shape(target), d.shape(source)
            if all(len(shape) > 1 for shape in shapes) and shapes[0][0] == shapes[1][0]:
                return [target], [source]
    return None


def _watched(d: Draw, results: list[str], kind: str) -> list[list[Any]]:
    """Pairs of a step's position and what is watched before it."""
    watch: list[list[Any]] = []
    for given in d.inputs:
        if given["kind"] == "constant" and d.chance(0.85):
            late = d.chance(0.1) and kind in PLAIN
            watch.append([d.rng.randint(0, len(d.steps)) if late else 0, given["name"]])
    if d.chance(0.1) and results and kind in PLAIN:
        name = d.one(results)
        at = next(i for i, step in enumerate(d.steps) if step["to"] == name)
        late = d.chance(0.1)
        watch.append([d.rng.randint(at + 1, len(d.steps)) if late else at + 1, name])
    return sorted(watch)
