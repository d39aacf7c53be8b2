"""A difference between two answers, and what a documented one is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.tensorflow.fuzz.known.answers import numbers, raised

Program = dict[str, Any]
FORWARD = ("jvp", "forward_over_back", "back_over_forward", "forward_twice")
TWICE = ("second", "penalty", "hessian", *FORWARD)


@dataclass(frozen=True)
class Found:
    """A difference: the program, the place in its answer, and what each library has there."""

    program: Program
    place: tuple[int, ...]
    expected: Any
    got: Any
    # What each step of the program gave on gradtape, where that is known.
    values: Callable[[], dict[str, Any]] = dict

    @property
    def said(self) -> str:
        """What TensorFlow said, where it raised an error and gradtape did not, or did so in the
        step that is there to be wrong, or in another one, where TensorFlow has no kernel or no
        derivative (each step is looked at alone as well)."""
        error = raised(self.expected)
        if not error:
            return ""
        wrong = any(step["dtype"] == "error" for step in self.program["steps"])
        lacking = error["message"].startswith(("Could not find device", "No gradient defined"))
        ours = raised(self.got)
        silent = not ours or wrong or ours["raises"] in ("NotImplementedError", "LookupError")
        return f"{error['raises']}: {error['message']}" if silent or lacking else ""

    @property
    def numeric(self) -> bool:
        """Whether both have numbers there, as many and of the same shape."""
        pair = numbers(self.expected), numbers(self.got)
        return pair[0].size > 0 and pair[0].shape == pair[1].shape

    @property
    def ops(self) -> str:
        return text(self.program)

    @property
    def source(self) -> str | None:
        """The name of the source whose gradient this is, of one asked for by `gradient`."""
        queries = self.program["scenario"]["queries"]
        if len(self.place) != 2 or not 0 < self.place[0] <= len(queries):
            return None
        sources = queries[self.place[0] - 1]["sources"]
        # An answer of another length is another difference.
        return sources[self.place[1]] if self.place[1] < len(sources) else None

    def operands(self, word: str) -> list[Any]:
        """The numbers that steps with this word in their expression are given."""
        steps = [step for step in self.program["steps"] if word in step["op"]]
        values = self.values() if steps else {}
        return [values[name] for step in steps for name in step["of"] if name in values]


Explains = Callable[[Found], bool]


@dataclass(frozen=True)
class Known:
    """A documented difference: its name, the sentence for users, how to recognise it."""

    name: str
    sentence: str
    explains: Explains


class Family(list[Known]):
    """Documented differences of one kind, each declared above what recognises it."""

    def difference(self, name: str, sentence: str) -> Callable[[Explains], Explains]:
        def declare(explains: Explains) -> Explains:
            self.append(Known(name, sentence, explains))
            return explains

        return declare


def text(program: Program) -> str:
    """All expressions of the program."""
    return "\n".join(step["op"] for step in program["steps"])


def equal(wanted: Any, found: Any, but: Any) -> bool:
    return bool(np.all(np.isclose(wanted, found, 1e-4, 1e-6, equal_nan=True) | but))
