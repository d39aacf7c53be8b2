"""GT702 target-out-of-reach: labels that the last activation can never give."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ...facts import ends, heads
from ...trace.finding import Finding
from ...trace.training import Head, Numbers, Training
from ..heads import HeadRule

FEW = 64  # different labels that may be classes
SHARE = 0.05  # of the span of the labels, what may be beyond by noise


class TargetOutOfReach(HeadRule):
    code, name = "GT702", "target-out-of-reach"
    supersedes = frozenset({"saturated-activation"})
    title = "the labels lie outside of what the last activation can give"
    lesson = """\
A sigmoid or a softmax gives numbers from 0 to 1, tanh from -1 to 1, ReLU nothing below 0. Labels
beyond that can never be met: the output is driven to its end, where its derivative is next to
nothing, and the loss stays where it is. To predict a quantity, leave the activation of the last
layer out, or bring the labels into its range and take the predictions back afterwards."""
    failing = """\
x = np.linspace(-1.0, 1.0, 64).reshape(64, 1).astype("float32")
y = 200.0 + 100.0 * x
model = tf.keras.Sequential([
    tf.keras.layers.Dense(8, activation="relu"),
    tf.keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer="adam", loss="mse")
model.fit(x, y, epochs=2, verbose=0)
"""
    cured = failing.replace('Dense(1, activation="sigmoid")', "Dense(1)").replace(
        "200.0 + 100.0 * x", "2.0 + x"
    )
    ignore = "When what lies beyond are outliers that are to be cut off."

    def accounts_for(self, finding: Finding, other: Finding) -> bool:
        """What is at its bound is the output itself."""
        return other.place == finding.place

    def judge(self, training: Training) -> Iterator[Finding]:
        for head in training.heads:
            part, labels = heads.output(head), head.labels
            if part is None or labels is None or part.activation not in heads.RANGES:
                continue
            if part.activation == "softmax" and heads.units(head) == 1:
                continue  # that it is always 1 says more
            known = head.loss in heads.BINARY and not _two(labels)
            if not known and (head.loss not in heads.DISTANCES or _classes(head, labels)):
                continue
            words = _beyond(part.activation, labels)
            if words is None:
                continue
            fix = f"{heads.leave_out(part)}, or bring the labels into its range"
            straight = ends.of(head, part)._replace(activation="linear", logits=False)
            mended = ends.remedy(training, head, part, part.made, [(straight, fix)])
            if part.kind in heads.CELLS:
                fix = f"put a Dense layer without activation behind {heads.called(part)}"
                mended = ends.Remedy(fix, None, [])
            elif head.loss in heads.BINARY:
                fix = "bring the labels to 0..1, or, for a number without bounds, "
                mended = ends.Remedy(fix + mended.fix, None, [])
            yield self.finding(
                part.made, f"{words}.", mended.fix, mended.edit,
                [(training.place, "trained here"), (head.made, "its loss")][:1],
                further=mended.further,
            )  # fmt: skip


def _two(labels: Numbers) -> bool:
    """Are there two classes, or few? Then they are coded in another way."""
    known = labels.distinct
    few = known is not None and len(known) <= FEW
    return few and (len(known or ()) == 2 or labels.low < 0 or bool(heads.class_count(labels)))


def _classes(head: Head, labels: Numbers) -> bool:
    """Class numbers beside a softmax are another fault."""
    last, wide = heads.output(head), heads.units(head)
    softmax = last is not None and last.activation == "softmax"
    return softmax and bool(wide and wide > 1) and labels.whole and heads.flat(labels)


def _beyond(activation: str, labels: Numbers) -> str | None:
    low, high = heads.RANGES[activation]
    slack = SHARE * (labels.high - labels.low) if labels.high > labels.low else 1e-6
    a = {"sigmoid": "a sigmoid", "relu": "ReLU", "hard_sigmoid": "a hard sigmoid",
         "softmax": "a softmax"}.get(activation, activation)  # fmt: skip
    up, down = labels.high - high > slack, low - labels.low > slack
    if up and down and not math.isinf(high):
        return (
            f"the targets range from {heads.number(labels.low)} to {heads.number(labels.high)}, "
            f"but {a} only from {heads.number(low)} to {heads.number(high)}"
        )
    if up:
        return (
            f"the targets reach {heads.number(labels.high)}, but {a} ends at {heads.number(high)}"
        )
    if down:
        least = heads.number(labels.low)
        return f"the targets go down to {least}, but {a} ends at {heads.number(low)}"
    return None


RULE = TargetOutOfReach()
