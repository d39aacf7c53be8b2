"""What an op is: its forward in NumPy, its derivative rules, its shape rule, samples for the tests.

Rules speak of `g` (the cotangent of the result), the operands `a, b, c, …`, the result `y`, their
shapes and dtypes (`a_shape`, `y_shape`, `a_dtype`, …, which cost no memory where a value would) and
the op's own parameters by name. A rule keeps what it names, nothing else: its signature is read here, once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .operand import Operand, vocabulary

# The kinds of dtypes (NumPy's letters; V is bfloat16) that ops take.
FLOATS, NUMBERS, REALS, ANYTHING = "fcV", "iufcV", "iufV", "biufcVO"
LETTERS = "abcdefgh".replace("g", "")
registry: dict[str, Op] = {}


class Reason:
    """Why an op has no slope, in a sentence for the user; `gives` is what TensorFlow answers."""

    def __init__(self, why: str, gives: str = "none") -> None:
        self.why = why
        self.gives = gives  # "none", "zeros" or "error"


class Flat(Reason):
    """The slope is zero wherever it exists: steps, signs, counts."""


class Discrete(Reason):
    """The result is an index, a truth value or another thing without a neighbourhood."""


class Missing(Reason):
    """TensorFlow has no derivative for this op: asking for one is a LookupError."""

    def __init__(self, why: str) -> None:
        super().__init__(why, "error")


Rule = Callable[..., Any]

# How to call an element-wise rule on kept tensors, by the names in its signature: on their arrays,
# or as operands.
_PLAIN = {
    (): lambda r, g, a, b, y: r(g),
    ("a",): lambda r, g, a, b, y: r(g, a._value),
    ("b",): lambda r, g, a, b, y: r(g, b._value),
    ("y",): lambda r, g, a, b, y: r(g, y._value),
    ("a", "b"): lambda r, g, a, b, y: r(g, a._value, b._value),
    ("a", "y"): lambda r, g, a, b, y: r(g, a._value, y._value),
    ("b", "y"): lambda r, g, a, b, y: r(g, b._value, y._value),
    ("a", "b", "y"): lambda r, g, a, b, y: r(g, a._value, b._value, y._value),
}
_RECORDED = {
    (): lambda r, g, a, b, y: r(g),
    ("a",): lambda r, g, a, b, y: r(g, Operand(a)),
    ("b",): lambda r, g, a, b, y: r(g, Operand(b)),
    ("y",): lambda r, g, a, b, y: r(g, Operand(y)),
    ("a", "b"): lambda r, g, a, b, y: r(g, Operand(a), Operand(b)),
    ("a", "y"): lambda r, g, a, b, y: r(g, Operand(a), Operand(y)),
    ("b", "y"): lambda r, g, a, b, y: r(g, Operand(b), Operand(y)),
    ("a", "b", "y"): lambda r, g, a, b, y: r(g, Operand(a), Operand(b), Operand(y)),
}


class Op:
    """One operation. Called from rules, it computes on plain arrays and records on operands;
    `apply`, which takes and returns tensors, is what everything above the engine calls."""

    apply: Callable[..., Any]

    def __init__(
        self,
        name: str,
        forward: Callable[..., Any],
        pull: Rule | Reason | tuple[Rule | Reason | None, ...],
        *,
        shape: Callable[..., Any],
        sample: Callable[..., Any] | None,
        label: str | None = None,
        push: str | Callable[..., Any] | None = None,
        params: Sequence[str] = (),
        joint: bool = False,
        real: bool = False,
        broadcasts: bool = False,
        batches: bool = False,
        numpy: Sequence[Callable[..., Any]] = (),
        takes: str = ANYTHING,
    ) -> None:
        self.name = name
        self.label = label or name.title().replace("_", "")
        self.forward = forward
        # joint: one rule gives the cotangents of all operands at once, as a sequence.
        self.joint = joint
        # real: not holomorphic, so its rules take the cotangents of complex numbers as they are.
        self.real = real
        self.rules = pull if isinstance(pull, tuple) else (pull,)
        self.push = push
        self.takes = takes
        self.shape = shape
        self.sample = sample
        self.params = tuple(params)
        # broadcasts: results of rules are summed back to their operand's shape by the sweep.
        self.broadcasts = broadcasts
        # batches: the rules take a `g` with further leading axes (a stack of cotangents).
        self.batches = batches
        self.names = tuple(_names(rule) for rule in self.rules)
        self.plain = tuple(_PLAIN.get(names) for names in self.names)
        self.recorded = tuple(_RECORDED.get(names) for names in self.names)
        self.plans: dict[tuple[bool, ...], tuple[str, ...]] = {}
        if name in registry:
            raise ValueError(f"the op {name!r} is declared twice")
        registry[name] = self
        for function in (forward, *numpy):
            vocabulary.setdefault(function, self)

    def __repr__(self) -> str:
        return f"<op {self.name}>"

    def __call__(self, *values: Any, **params: Any) -> Any:
        for value in values:
            if value.__class__ is Operand:
                return Operand.apply(self, values, params)
        return self.forward(*values, **params)

    def rule(self, i: int) -> Rule | Reason | None:
        """The rule of operand i; an op of many operands has one for all."""
        return self.rules[i] if i < len(self.rules) else self.rules[-1]

    @property
    def reason(self) -> Reason | None:
        """Why nothing flows through any operand, if nothing does."""
        reasons = [rule for rule in self.rules if isinstance(rule, Reason)]
        return reasons[0] if len(reasons) == len(self.rules) else None

    def plan(self, tracked: tuple[bool, ...]) -> tuple[str, ...]:
        """The names that the rules of the tracked operands keep."""
        plan = self.plans.get(tracked)
        if plan is None:
            wanted: dict[str, None] = {}
            for i, on in enumerate(tracked):
                if on:
                    wanted.update(dict.fromkeys(self.names[i if i < len(self.names) else -1]))
                    if self.broadcasts:
                        wanted[f"{LETTERS[i]}_shape"] = None
            plan = self.plans[tracked] = tuple(wanted)
        return plan


def _names(rule: Rule | Reason | None) -> tuple[str, ...]:
    if rule is None or isinstance(rule, Reason):
        return ()
    code = rule.__code__
    return code.co_varnames[1 : code.co_argcount]


def broadcast_shape(*shapes: tuple[int, ...], **_: Any) -> tuple[int, ...]:
    return np.broadcast_shapes(*shapes)
