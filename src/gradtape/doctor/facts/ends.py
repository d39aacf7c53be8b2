"""The end of a model with its loss, as it could be: what fits the labels, and how it is written.

A rule proposes ends. What is shown is the first that would train with the labels as they are: one
fault must not be exchanged for another. Where no proposal does, the end that the labels ask for
takes its place, and where nothing is known to fit, there is advice without an edit.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..source import edits
from ..source.place import Place
from ..trace.training import Head, Numbers, Part, Training
from . import heads

CLASSES = {
    "binary_crossentropy": "BinaryCrossentropy",
    "categorical_crossentropy": "CategoricalCrossentropy",
    "sparse_categorical_crossentropy": "SparseCategoricalCrossentropy",
    "mean_squared_error": "MeanSquaredError",
}
SHARED = frozenset({"from_logits", "name", "reduction"})  # options that all of these have
SLACK = 0.05  # of the span of the labels, what may be beyond an activation by noise
ROUNDING = 1e-3  # of the sum of probabilities


class End(NamedTuple):
    """The last activation, how many units it has, the loss, and whether that is told logits."""

    activation: str
    units: int | None
    loss: str
    logits: bool = False


class Remedy(NamedTuple):
    """What is to be done, and the lines as they should be: that of the finding, and others."""

    fix: str
    edit: str | None
    further: list[tuple[Place, str]]


def of(head: Head, part: Part | None) -> End:
    """The end as it is."""
    return End("?" if part is None else part.activation, heads.units(head), head.loss, head.logits)


# --- what fits ------------------------------------------------------------------------------------
def fits(end: End, head: Head) -> bool:
    """Would it train, as far as the labels of a head are known?"""
    labels = None if head.labels is None else head.labels.without(head.ignored)
    return _agrees(end) and (labels is None or labels.nan > 0 or _takes(end, head, labels))


def _agrees(end: End) -> bool:
    """Does the loss get probabilities or logits, whichever it is told, and not both?"""
    if end.loss not in heads.ENTROPIES:
        return not end.logits
    squash = "sigmoid" if end.loss in heads.BINARY else "softmax"
    if end.units == 1 and squash == "softmax":
        return False
    return end.activation == ("linear" if end.logits else squash)


def _takes(end: End, head: Head, labels: Numbers) -> bool:
    """Are the labels such as the loss and the activation can meet?"""
    same_rank = heads.flat(labels) or len(labels.shape) == len(head.shape)
    width = 1 if heads.flat(labels) else labels.shape[-1]
    as_wide = not same_rank or end.units in (None, width)
    if end.loss in heads.BINARY:
        return labels.low >= 0 and labels.high <= 1 and as_wide
    if end.loss in heads.SPARSE:
        inside = end.units is None or labels.high < end.units
        return labels.whole and labels.low >= 0 and inside and not labels.one_hot
    if end.loss in heads.ONE_HOT:
        sums = labels.row_sums or (1.0, 1.0)
        near = sums[1] <= 1 + ROUNDING
        return not heads.flat(labels) and as_wide and near and labels.low >= 0
    low, high = heads.RANGES.get(end.activation, (-float("inf"), float("inf")))
    slack = SLACK * (labels.high - labels.low)
    return labels.low >= low - slack and labels.high <= high + slack and as_wide


def suited(head: Head) -> Iterator[End]:
    """Ends for the labels as they are, those that the loss is told logits first if it is so now."""
    labels = None if head.labels is None else head.labels.without(head.ignored)
    if labels is None or labels.nan:
        return
    width = 1 if heads.flat(labels) else labels.shape[-1]
    if len(labels.shape) > 1 and not heads.flat(labels) and len(labels.shape) != len(head.shape):
        return  # one label for each place of a picture: how it is meant is not known
    count = heads.class_count(labels) if heads.flat(labels) else None
    found: list[tuple[str, int | None, str]] = []
    if labels.one_hot:
        found.append(("softmax", width, "categorical_crossentropy"))
    elif labels.low >= 0 and labels.high <= 1 and (labels.distinct == (0.0, 1.0) or count is None):
        found.append(("sigmoid", width, "binary_crossentropy"))
    elif count is not None and count > 2:
        found.append(("softmax", count, "sparse_categorical_crossentropy"))
    for activation, units, loss in found:
        if head.logits:
            yield End("linear", units, loss, True)
        yield End(activation, units, loss)
    yield End("linear", width, "mean_squared_error")


# --- how it is said and written -------------------------------------------------------------------
def remedy(
    training: Training, head: Head, part: Part | None, place: Place | None,
    wanted: Sequence[tuple[End, str]],
) -> Remedy:  # fmt: skip
    """The first of the `wanted` ends that fits, in the words that stand beside it ("": in those
    for the change that it is), with the edits if the finding's `place` is one of their lines."""
    own = next(((end, words) for end, words in wanted if fits(end, head)), None)
    if own is None:
        other = next((end for end in suited(head) if fits(end, head)), None)
        if other is None or other == of(head, part):
            return Remedy(wanted[0][1] or described(training, head, part, wanted[0][0]), None, [])
        own = other, ""
    end, words = own
    lines = _lines(training, head, part, end)
    here = [text for where, text in lines if place is not None and where == place]
    others = [(where, text) for where, text in lines if where != place]
    return Remedy(
        words or described(training, head, part, end), here[0] if here else None,
        others if here else [],
    )  # fmt: skip


def described(training: Training, head: Head, part: Part | None, end: End) -> str:
    """What is to be done to have another end."""
    was, steps = of(head, part), []
    if end.units != was.units:
        activation = "" if end.activation == "linear" else f', activation="{end.activation}"'
        dense = part is None or part.kind == "Dense"
        steps.append(
            f"use Dense({end.units}{activation})" if dense
            else f"give {heads.called(part)} {end.units} units"
        )  # fmt: skip
    if end.activation != was.activation and part is not None and not (
        end.units != was.units and part.kind == "Dense"
    ):  # fmt: skip
        linear = end.activation == "linear"
        steps.append(heads.leave_out(part) if linear else heads.give(part, end.activation))
    if end.loss != was.loss:
        loss = _loss(training, head, end)
        if steps and steps[-1].startswith("use "):
            return f"{' and '.join(steps)} with {loss}"
        return " and ".join([*steps, f"use {loss}"])
    if end.logits != was.logits:
        steps.append(
            "tell the loss `from_logits=True`" if end.logits else "leave `from_logits=True` out"
        )
    return " and ".join(steps)


def _loss(training: Training, head: Head, end: End) -> str:
    """A loss as it is written where the one of now is."""
    named = heads.class_of(head)
    if end.logits or named is not None:
        return f"`{CLASSES[end.loss]}({'from_logits=True' if end.logits else ''})`"
    return f"`tf.keras.losses.{end.loss}`" if training.method == "loop" else f'loss="{end.loss}"'


def _lines(training: Training, head: Head, part: Part | None, end: End) -> list[tuple[Place, str]]:
    """The lines that change; none if one of them cannot be written, or two are the same line."""
    was = of(head, part)
    found: list[tuple[Place | None, str | None]] = []
    if (end.activation, end.units) != (was.activation, was.units):
        if part is not None and sum(other.made == part.made for other in head.parts) > 1:
            return []  # a line in a loop, which made other layers as well
        found.append((None if part is None else part.made, _layer(part, was, end)))
    if (end.loss, end.logits) != (was.loss, was.logits):
        found.append((head.made, _with_loss(head, training.compiled, end)))
    lines = [(place, text) for place, text in found if place is not None and text is not None]
    apart = len({(place.file, place.line) for place, _ in lines}) == len(lines)
    return lines if len(lines) == len(found) and apart else []


def _layer(part: Part | None, was: End, end: End) -> str | None:
    if part is None:
        return None
    if end.units == was.units:
        linear = end.activation == "linear"
        return heads.straight(part) if linear else heads.activated(part, end.activation)
    if part.kind != "Dense":
        return None
    if end.activation == was.activation:
        return heads.argument(part.made, "units", 0, str(end.units))
    return heads.rebuilt(part.made, str(end.units), end.activation)


def _with_loss(head: Head, compiled: Place | None, end: End) -> str | None:
    """The line with another loss: a word in `compile`, or an object of one of Keras's classes."""
    if heads.class_of(head) is None:
        return None if end.logits else heads.with_loss(head, compiled, end.loss)
    call = None if head.made is None else head.made.node
    if head.made is None or not isinstance(call, ast.Call) or end.loss not in CLASSES:
        return None
    if call.args or not {k.arg for k in call.keywords} <= SHARED:
        return None
    function = call.func
    if not isinstance(function, ast.Attribute):
        return None  # a name that was imported: another would have to be
    given = [
        f"{k.arg}={edits.text(head.made, k.value)}" for k in call.keywords if k.arg != "from_logits"
    ]
    given += ["from_logits=True"] if end.logits else []
    owner = edits.text(head.made, function.value)
    return edits.replaced(head.made, f"{owner}.{CLASSES[end.loss]}({', '.join(given)})")
