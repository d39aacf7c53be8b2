"""Why an op has no derivative: a type, a sentence for the user, what TensorFlow answers then."""

from __future__ import annotations


class Reason:
    """Why an op has no derivative, in a sentence for the user; `gives`: what TensorFlow answers."""

    followed = True  # does a tape follow the result, which may be a number like any other?

    def __init__(self, why: str, gives: str = "none") -> None:
        self.why = why
        self.gives = gives  # "none", "zeros" or "error"


class Flat(Reason):
    """The derivative is zero wherever it exists: steps, signs, counts."""


class Discrete(Reason):
    """The result is an index, a truth value or another thing without a neighbourhood."""

    followed = False


class Stopped(Reason):
    """The result is a constant to every tape, because the user wants it so."""

    followed = False


class Missing(Reason):
    """TensorFlow has no derivative for this op: asking for one is a LookupError."""

    def __init__(self, why: str) -> None:
        super().__init__(why, "error")
