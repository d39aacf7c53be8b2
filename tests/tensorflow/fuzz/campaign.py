"""One process's share of a comparison: programs generated, run on both sides, judged and shrunk."""

from __future__ import annotations

import argparse
import collections
import logging
import re
import time
from dataclasses import dataclass
from typing import Any

from tests.tensorflow.fuzz import apart, compare, interpret, known, limits, render, wild
from tests.tensorflow.fuzz.generate import generate
from tests.tensorflow.fuzz.shrink import shrink
from tests.tensorflow.fuzz.worker import TensorFlow

PATIENCE = 20.0  # seconds for making one program shorter
DISTRIBUTIONS = ("tame", *wild.DISTRIBUTIONS)
_workers: dict[str, TensorFlow] = {}


@dataclass(frozen=True)
class Report:
    """A program that differs: what tells it from others, how, and the words for it."""

    group: tuple[str, str]  # the functions that are left in it, and the kind of difference
    program: Any
    words: str

    def __str__(self) -> str:
        return f"# {self.program['id']}: {self.words}\n{render.script(self.program)}"


def draw(options: argparse.Namespace, index: int) -> Any:
    """The program of this number."""
    if options.distribution == "tame":
        return generate(options.seed, index)
    return wild.generate(options.seed, index, options.distribution)


def batch(job: tuple[argparse.Namespace, int, int]) -> tuple[Any, list[Any], list[Any]]:
    """Run some programs: the count of each verdict, what to print, programs to store."""
    import gradtape as tf

    logging.getLogger("gradtape").setLevel(logging.ERROR)
    options, start, stop = job
    if options.tensorflow not in _workers:
        _workers[options.tensorflow] = TensorFlow(options.tensorflow)
        limits.bound_memory()
    worker = _workers[options.tensorflow]
    programs = [draw(options, index) for index in range(start, stop)]
    counts: collections.Counter[str] = collections.Counter()
    reports: list[Any] = []
    kept: list[Any] = []
    for program, expected in zip(programs, worker.answers(programs), strict=True):
        kind, words = compare.verdict(program, expected, interpret.answer(program, tf), tf, worker)
        if kind != "same" and kind in compare.FINE:
            program, kind, words = apart.hidden(program, tf, worker) or (program, kind, words)
        counts[kind] += 1
        if kind in compare.FINE:
            if options.documented and kind in known.NAMES:
                reports.append(f"# {program['id']}: {kind}: {words}")
            continue
        if not options.whole:
            program, words = _shrunk(program, kind, words, worker, tf)
        reports.append(Report((called(program), kind), program, words))
        if options.store:
            kept.append((program["id"], program, worker.answers([program])[0], worker.version))
    return counts, reports, kept


def called(program: Any) -> str:
    """The functions that a program calls, or its operators."""
    outer = "tf.nest.map_structure("  # around what draws numbers
    texts = [step["op"].replace(outer, "") for step in program["steps"]]
    found = [re.findall(r"tf\.[\w.]+(?=\()", text) or [text] for text in texts]
    return " ".join(dict.fromkeys(names[0] for names in found))


def _shrunk(program: Any, kind: str, words: str, worker: TensorFlow, tf: Any) -> tuple[Any, str]:
    found, begun = words, time.monotonic()

    def differing(candidates: list[Any]) -> int | None:
        nonlocal found
        for first in range(0, len(candidates), 10):
            if time.monotonic() > begun + PATIENCE:
                return None
            group = candidates[first : first + 10]
            for i, (candidate, expected) in enumerate(
                zip(group, worker.answers(group), strict=True)
            ):
                got = interpret.answer(candidate, tf)
                other, words = compare.verdict(candidate, expected, got, tf, worker)
                if other == kind:
                    found = words
                    return first + i
        return None

    return shrink(program, differing), found
