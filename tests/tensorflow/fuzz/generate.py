"""Random programs from a seed, without either library: shapes and dtypes are followed here."""

from __future__ import annotations

import contextlib
import math
from random import Random
from typing import Any

from tests.tensorflow.fuzz import families
from tests.tensorflow.fuzz.draw import COMPLEX, FLOATS, HALVES, Draw, Unfit

Program = dict[str, Any]

KINDS = {
    "gradient": 10,
    "persistent": 5,
    "second": 4,
    "jacobian": 2,
    "jvp": 2,
    "forward_over_back": 1,
    "function": 2,
    "custom": 2,
}


def generate(seed: int, index: int) -> Program:
    """The program with this number in the sequence of the seed."""
    rng = Random(f"{seed}-{index}")
    draw = Draw(rng)
    main = "float32" if draw.chance(0.65) else "float64"
    for _ in range(rng.randint(1, 4)):
        other = "float64" if draw.chance(0.1) else main
        draw.input(dtype="int32" if draw.chance(0.04) else other)
    draw.input((3, 3) if draw.chance(0.3) else None, main)
    kind = rng.choices(list(KINDS), list(KINDS.values()))[0]
    # Forward mode and Jacobians are traced by TensorFlow, op by op.
    longest = 10 if kind in ("jvp", "jacobian", "forward_over_back") else 40
    length = int(rng.triangular(5, longest, 9))
    weights, makers = zip(*families.FAMILIES, strict=True)
    broken = draw.chance(0.1) and kind in ("gradient", "persistent")
    while len(draw.steps) < length:
        with contextlib.suppress(Unfit):
            rng.choices(makers, weights)[0](draw)
    if broken:
        families.wrong(draw)
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
    inputs = [given["name"] for given in d.inputs if given["dtype"] in (*FLOATS, *COMPLEX)]
    chosen: dict[str, Any] = {"kind": kind, "watch": _watched(d, results, kind)}
    if kind == "gradient" and d.chance(0.12) and len(d.steps) > 3:
        start = d.rng.randrange(len(d.steps) - 1)
        chosen["pause"] = [start, d.rng.randint(start + 1, len(d.steps))]
    queries = []
    for _ in range(d.rng.randint(2, 4) if kind == "persistent" else 1):
        targets = d.rng.sample(sloped[-8:], min(d.rng.randint(1, 3), len(sloped[-8:])))
        if kind in ("jacobian", "custom"):
            small = [name for name in sloped[::-1] if math.prod(d.shape(name)) <= 9]
            targets = small[:1]
        if kind == "persistent" and d.chance(0.03) and results:
            targets = [d.one(results)]
        sources = d.rng.sample(inputs, d.rng.randint(1, len(inputs)))
        if kind in ("gradient", "persistent") and d.chance(0.2):
            sources.append(d.one(results))
        query: dict[str, Any] = {"targets": targets, "sources": sources}
        if d.chance(0.15):
            query["unconnected"] = "zero"
        plain = all(d.dtype(name) in (*FLOATS, *HALVES, *COMPLEX) for name in targets)
        if kind in ("gradient", "persistent", "function") and plain and d.chance(0.15):
            query["weighted"] = True
        queries.append(query)
    chosen["queries"] = queries
    return chosen


def _watched(d: Draw, results: list[str], kind: str) -> list[list[Any]]:
    """Pairs of a step's position and what is watched before it."""
    watch: list[list[Any]] = []
    for given in d.inputs:
        if given["kind"] == "constant" and d.chance(0.85):
            late = d.chance(0.1) and kind in ("gradient", "persistent")
            # Later than its first use beside a followed value, TensorFlow still counts that use.
            uses = [i for i, step in enumerate(d.steps) if given["name"] in step["of"]]
            watch.append([d.rng.randint(0, min(uses, default=0)) if late else 0, given["name"]])
    if d.chance(0.1) and results and kind in ("gradient", "persistent"):
        name = d.one(results)
        at = next(i for i, step in enumerate(d.steps) if step["to"] == name)
        watch.append([at + 1, name])
    return sorted(watch)
