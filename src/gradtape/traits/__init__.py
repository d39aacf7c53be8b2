"""What ops do to a gradient: the traits of each kind of op, declared once for every engine.

Kinds are TensorFlow's op types (`MatMul`, `Relu`). The rows of TensorFlow's ops are in `table`; an
op that TensorFlow does not have declares its traits where it is declared itself, in `ops/`. This
package needs nothing but the standard library and NumPy, so the doctor can use it without the tape.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Flag, auto
from typing import Any, NamedTuple

import numpy as np


class Family(Flag):
    """What an op does with the numbers of its operands. An op may belong to several families."""

    NONE = 0
    # Linear: the derivative does not depend on the operands.
    RESHAPES = auto()  # the same numbers in the same order: a new shape, dtype or name
    REORDERS = auto()  # the same numbers in another order
    SELECTS = auto()  # some of the numbers
    JOINS = auto()  # the numbers of several operands
    SPREADS = auto()  # every number, several times or beside constants
    ADDS = auto()
    SUBTRACTS = auto()  # and changes signs
    SUMS = auto()  # adds up along axes
    ACCUMULATES = auto()  # running sums
    # Products: linear in each operand, but for what is divided by.
    MULTIPLIES = auto()  # element by element
    DIVIDES = auto()
    CONTRACTS = auto()  # sums of products: matrices, convolutions
    # Curves.
    POWERS = auto()
    ROOTS = auto()
    NORMS = auto()
    INVERTS = auto()  # 1 / x
    LOGARITHMS = auto()
    EXPONENTIALS = auto()
    PERIODIC = auto()
    SQUASHES = auto()  # approaches a constant at both ends
    BOUNDED = auto()
    SOFTMAXES = auto()
    WITH_LOGITS = auto()  # a loss that applies a softmax or sigmoid itself
    SPECTRA = auto()  # eigenvalues, singular values
    # Straight pieces: the derivative jumps from one piece to the next.
    RECTIFIES = auto()  # 0 below a bound
    CLIPS = auto()  # constant beyond a bound
    PIECEWISE = auto()
    CHOOSES = auto()  # element by element, by a condition, which is its first operand
    FLATTENS = auto()  # nearly constant somewhere, though it is none of the above
    # Several numbers into one.
    REDUCES = auto()
    TOTALS = auto()  # adds up, perhaps between curves, as a norm does
    # What has no useful derivative.
    COMPARES = auto()
    ORDERS = auto()  # compares by size
    ROUNDS = auto()
    FINDS = auto()  # the result is positions
    SAMPLES = auto()  # the result is drawn, and has no derivative
    DRAWS = auto()  # the result is drawn, and may have one
    IGNORES_NUMBERS = auto()  # looks at the shape only
    CONSTANTS = auto()
    # How elements of the result depend on those of the operands.
    ELEMENTWISE = auto()
    MIXES = auto()  # keeps the shape, but each element depends on many
    INDEXED = auto()  # operands after the first are positions
    GATHERS = auto()  # rows at positions
    RUNS_PYTHON = auto()


LINEAR = (
    Family.RESHAPES | Family.REORDERS | Family.SELECTS | Family.JOINS | Family.SPREADS
    | Family.ADDS | Family.SUBTRACTS | Family.SUMS | Family.ACCUMULATES
)  # fmt: skip
HANDS_ON = Family.RESHAPES | Family.REORDERS | Family.SELECTS
PRODUCTS = Family.MULTIPLIES | Family.DIVIDES | Family.CONTRACTS
KINKS = Family.RECTIFIES | Family.CLIPS


class Region(NamedTuple):
    """Numbers of an operand for which an op, or its derivative, is not finite."""

    words: str  # how a message describes a number in it: "at or below 0"
    contains: Callable[[Any], Any]
    edges: tuple[float, ...]
    operand: int = 0


def at(point: float, operand: int = 0, words: str = "") -> Region:
    return Region(words or f"{point:g}", lambda x: x == point, (point,), operand)


def below(point: float, operand: int = 0) -> Region:
    return Region(f"below {point:g}", lambda x: x < point, (point,), operand)


def at_most(point: float, operand: int = 0) -> Region:
    return Region(f"at or below {point:g}", lambda x: x <= point, (point,), operand)


def not_between(low: float, high: float, operand: int = 0) -> Region:
    return Region(
        f"not strictly between {low:g} and {high:g}",
        lambda x: (x <= low) | (x >= high), (low, high), operand,
    )  # fmt: skip


class Traits(NamedTuple):
    """The traits of one kind of op. A tuple: dataclasses would import `inspect`, 8 ms."""

    families: Family = Family.NONE
    poles: tuple[Region, ...] = ()  # where the op or its derivative is not finite
    divisor: int | None = None  # the operand that it divides by
    ends: tuple[float, float] | None = None  # the constants that its result approaches
    overflows_at: float | None = None  # arguments of this size have results beyond all others
    logits: int | None = None  # the operand that a loss takes for logits
    function: str = ""  # the name of an activation in Keras

    def has(self, families: Family) -> bool:
        """Whether the op belongs to one of these families."""
        # Through the numbers: `&` of two flags takes eight times as long.
        return self.families._value_ & families._value_ != 0

    def poles_of(self, operand: int) -> list[Region]:
        """The regions of one operand."""
        return [region for region in self.poles if region.operand == operand]

    @property
    def at_zero(self) -> Region | None:
        """The region with 0 in it."""
        return next((r for r in self.poles if r.contains(np.asarray(0.0))), None)

    @property
    def guarded(self) -> int:
        """The operand whose numbers decide whether the op is finite."""
        return self.poles[0].operand if self.poles else 0

    @property
    def safe(self) -> float:
        """A round number for that operand with a finite result and derivative."""
        regions = self.poles_of(self.guarded)
        choices = (0.0, 1.0, 2.0, 0.5)
        return next(
            (x for x in choices if not any(r.contains(np.asarray(x)) for r in regions)), 1.0
        )

    @property
    def gives_probabilities(self) -> bool:
        return self.ends == (0.0, 1.0)

    @property
    def finite_everywhere(self) -> bool:
        """Whether operands of usual size give finite results and derivatives."""
        return not self.poles and self.divisor is None and self.overflows_at is None


declared: dict[str, Traits] = {}  # of kinds that TensorFlow does not have


def declare(kind: str, traits: Traits) -> None:
    """Give a kind of op its traits; each kind has them from one place."""
    if declared.setdefault(kind, traits) is not traits:
        raise ValueError(f"the traits of {kind} are declared twice")
