"""GT703 loss-mismatch: a loss reads the output as something that its activation does not give."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ...facts import ends, heads
from ...facts.case import Run
from ...facts.ends import End, remedy
from ...trace.finding import LIKELY, Finding, Verdict
from ...trace.training import Head, Part, Training
from ..heads import HeadRule, belongs, series

# What an activation gives, where that is no probability.
GIVES = {
    "linear": "any number", "relu": "0 and more", "leaky_relu": "any number", "elu": "-1 and more",
    "selu": "-1.76 and more", "tanh": "-1 to 1", "softsign": "-1 to 1", "softplus": "0 and more",
    "exponential": "0 and more", "gelu": "any number", "silu": "any number", "swish": "any number",
}  # fmt: skip


MANY = 3  # units; of two classes, both losses have their minimum at the same place
ROWS = 16  # examples of which each may have one label by chance
LAST, LEARNED = 10, 0.9  # steps, and the share of the loss of a constant answer


class LossMismatch(HeadRule):
    code, name = "GT703", "loss-mismatch"
    states = frozenset({"wrong", "error"})
    stops = True
    supersedes = frozenset({"clipped-value", "log-of-zero", "domain-boundary", "constant-function"})
    title = "the loss takes the output for something that its activation does not give"
    lesson = """\
A loss has an idea of the output. Binary cross entropy reads each unit as the probability of a yes:
one sigmoid each. Categorical cross entropy reads the units together as the probabilities of
classes, of which one is right: a softmax. Both take the logarithm of what they get, and cut it to
0..1 first; a layer without activation gives any number, so most of them are cut and have no
gradient, unless the loss is told `from_logits=True`. Mean squared error between class numbers and
probabilities compares the 7 of a seven with a number below 1."""
    failing = """\
x = np.linspace(-1.0, 1.0, 64).reshape(32, 2).astype("float32")
y = (x[:, 0] > 0).astype("float32")
model = tf.keras.Sequential([
    tf.keras.layers.Dense(8, activation="relu"),
    tf.keras.layers.Dense(1),
])
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(x, y, epochs=2, verbose=0)
"""
    cured = failing.replace("Dense(1)", 'Dense(1, activation="sigmoid")')
    ignore = "When a layer without activation is known to give numbers from 0 to 1."

    def judge(self, training: Training) -> Iterator[Finding]:
        for head in training.heads:
            part = heads.output(head)
            if part is None or part.kind in heads.CELLS:
                continue
            found = (
                self._no_probability(training, head, part)
                or self._one_of_many(training, head, part)
                or self._each_for_itself(training, head, part)
                or self._together(training, head, part)
                or self._class_numbers(training, head, part)
            )
            if found is not None:
                yield found

    def explained(self, finding: Finding, run: Run) -> bool:
        known = ("double-softmax", "broadcast-mismatch")
        training = finding.training
        for head in training.heads[:1] if not finding.sure else ():
            losses = [n for n in series(training, run) if math.isfinite(n)][-LAST:]
            if losses and sum(losses) / len(losses) < LEARNED * _of_no_idea(heads.units(head)):
                return True  # it tells the classes apart
        return any(f.cause in known and belongs(f, finding.training) for f in run.findings)

    def _no_probability(self, training: Training, head: Head, part: Part) -> Finding | None:
        if head.loss not in heads.ENTROPIES or head.logits or part.activation not in GIVES:
            return None
        seen = head.outputs
        if seen is not None and seen.low >= 0 and seen.high <= 1:
            return None  # a constraint may keep them there
        one = heads.units(head) == 1
        right = "sigmoid" if head.loss in heads.BINARY or one else "softmax"
        gives = "has no activation" if part.activation == "linear" else f"ends in {part.activation}"
        numbers = GIVES[part.activation]
        if seen is not None:
            numbers = f"{heads.number(seen.low)} to {heads.number(seen.high)} here"
        fix = heads.give(part, right)
        if part.activation == "linear":
            fix += ", or tell the loss `from_logits=True`"
        squashed = ends.of(head, part)._replace(activation=right)
        if head.loss not in heads.BINARY and one:
            fix += ', and use loss="binary_crossentropy": one unit is no choice of classes'
            squashed = squashed._replace(loss="binary_crossentropy")
        mended = remedy(training, head, part, part.made, [(squashed, fix)])
        labels = "" if mended.fix == fix or head.labels is None else (
            f", and the labels are {heads.span(head.labels)}"
        )  # fmt: skip
        return self.finding(
            part.made,
            f"{heads.WORDS[head.loss]} takes the logarithm of probabilities, 0 to 1, but "
            f"{heads.called(part)} {gives} and gives {numbers}{labels}.",
            mended.fix, mended.edit, [(head.made, "its loss")], further=mended.further,
        )  # fmt: skip

    def _each_for_itself(self, training: Training, head: Head, part: Part) -> Finding | None:
        width, labels = heads.units(head), head.labels
        if head.loss not in heads.BINARY or part.activation != "softmax" or not width or width < 2:
            return None
        if labels is not None and labels.row_sums is not None and labels.distinct == (0.0, 1.0):
            least, most = labels.row_sums
            if most > 1:
                each = ends.of(head, part)._replace(activation="sigmoid", logits=False)
                mended = remedy(training, head, part, part.made, [(each, "")])
                return self.finding(
                    part.made,
                    f"up to {heads.number(most)} of the {width} labels of an example are 1, but "
                    f"the softmax of {heads.called(part)} adds up to 1.",
                    f"{mended.fix}: each label is a yes or no of its own",
                    mended.edit, [(head.made, "its loss")], further=mended.further,
                )  # fmt: skip
            if least == most == 1 and width == 2:
                return None  # of two classes, both losses have their minimum at the same place
        if width == 2 and not (labels is not None and heads.flat(labels)):
            return None
        sparse = labels is not None and heads.flat(labels)
        right = "sparse_categorical_crossentropy" if sparse else "categorical_crossentropy"
        place = head.made or part.made
        one = ends.of(head, part)._replace(loss=right, logits=False)
        mended = remedy(training, head, part, place, [(one, "")])
        return self.finding(
            place,
            f"{heads.WORDS[head.loss]} reads the {width} units of {heads.called(part)} as {width} "
            "yes-or-no questions, but their softmax is one choice among them.",
            mended.fix, mended.edit, [(part.made, f"{width} units, of which one is right")],
            further=mended.further,
        )  # fmt: skip

    def _one_of_many(self, training: Training, head: Head, part: Part) -> Finding | None:
        """Not wrong in itself, and so only likely to be at fault, where nothing else is learned."""
        width, labels = heads.units(head), head.labels
        if head.loss not in heads.BINARY or part.activation not in ("sigmoid", "linear"):
            return None
        if len(training.heads) > 1:
            return None
        if not width or width < MANY or labels is None or not labels.one_hot:
            return None
        if (labels.shape[0] or 0) < ROWS or len(labels.shape) != 2:
            return None
        place, right = head.made or part.made, "categorical_crossentropy"
        linear = part.activation == "linear"
        one = End("linear" if linear else "softmax", width, right, linear)
        mended = remedy(training, head, part, place, [(one, "")])
        found = self.finding(
            place,
            f"every row of the labels has one 1 among {width} columns, which is one choice, but "
            f"{heads.WORDS[head.loss]} asks {width} yes-or-no questions: always no is right in "
            f"{100 * (width - 1) / width:.0f} % of them, and this is all that was learned.",
            mended.fix, mended.edit, [(part.made, f"{width} units")], further=mended.further,
        )  # fmt: skip
        found.verdict, found.sure = Verdict(LIKELY, why="longer training may help as well"), False
        return found

    def _together(self, training: Training, head: Head, part: Part) -> Finding | None:
        width, labels = heads.units(head), head.labels
        if head.loss not in heads.ONE_HOT | heads.SPARSE or part.activation != "sigmoid":
            return None
        binary = ends.of(head, part)._replace(loss="binary_crossentropy", logits=False)
        place = head.made or part.made
        if width == 1:
            fix = "" if heads.class_of(head) else (
                'use loss="binary_crossentropy": one sigmoid is a yes or no'
            )  # fmt: skip
            mended = remedy(training, head, part, place, [(binary, fix)])
            return self.finding(
                place,
                f"{heads.WORDS[head.loss]} compares the units of an example with each other, and "
                f"{heads.called(part)} has 1: its share is always 1.",
                mended.fix, mended.edit, [(part.made, "1 unit")], further=mended.further,
            )  # fmt: skip
        several = head.loss in heads.ONE_HOT and labels is not None and labels.row_sums is not None
        if several and labels is not None and labels.row_sums is not None:
            most = labels.row_sums[1]
            if most > 1 and labels.distinct == (0.0, 1.0):
                mended = remedy(training, head, part, place, [(binary, "")])
                return self.finding(
                    place,
                    f"up to {heads.number(most)} of the {width} labels of an example are 1, but "
                    f"{heads.WORDS[head.loss]} is for classes of which one is right.",
                    mended.fix, mended.edit, [(part.made, f"{width} sigmoids")],
                    further=mended.further,
                )  # fmt: skip
        together = ends.of(head, part)._replace(activation="softmax", logits=False)
        mended = remedy(training, head, part, part.made, [(together, "")])
        return self.finding(
            part.made,
            f"{heads.WORDS[head.loss]} reads the {width} units of {heads.called(part)}"
            f" as probabilities "
            f"that add up to 1; {width} sigmoids add up to anything from 0 to {width}.",
            mended.fix, mended.edit, [(head.made, "its loss")], further=mended.further,
        )  # fmt: skip

    def _class_numbers(self, training: Training, head: Head, part: Part) -> Finding | None:
        width, labels = heads.units(head), head.labels
        if head.loss not in heads.DISTANCES or part.activation != "softmax" or not width:
            return None
        if width < 2 or labels is None or not heads.flat(labels) or not labels.whole:
            return None
        place, right = head.made or part.made, "sparse_categorical_crossentropy"
        same = ends.of(head, part)._replace(loss=right)
        wider = same._replace(units=heads.class_count(labels) or width)
        words = ""
        if training.method == "loop":
            words = f"use `tf.keras.losses.{right}`, or compare with one-hot rows"
        mended = remedy(training, head, part, place, [(same, words), (wider, "")])
        return self.finding(
            place,
            f"the labels are class numbers ({heads.span(labels)}), and {heads.WORDS[head.loss]} "
            f"compares each of the {width} probabilities of {heads.called(part)} with them.",
            mended.fix, mended.edit, [(part.made, f"{width} probabilities")],
            further=mended.further,
        )  # fmt: skip


def _of_no_idea(width: int | None) -> float:
    """The binary cross entropy of answers that are the same for all examples."""
    share = 1.0 / (width or 2)
    return -(share * math.log(share) + (1 - share) * math.log(1 - share))


RULE = LossMismatch()
