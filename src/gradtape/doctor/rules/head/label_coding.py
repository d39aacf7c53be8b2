"""GT704 label-coding: labels that are written in another way than the loss reads them."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts import ends, heads
from ...facts.ends import End, Remedy, remedy
from ...source.place import Place
from ...trace.finding import Finding
from ...trace.training import Head, Numbers, Part, Training
from ..heads import HeadRule

FEW = 64  # different labels that may be classes
SPARSE = "sparse_categorical_crossentropy"


class LabelCoding(HeadRule):
    code, name = "GT704", "label-coding"
    states = frozenset({"wrong", "error"})
    stops = True
    title = "the labels are coded in another way than the loss reads them"
    lesson = """\
Binary cross entropy wants 0 and 1, and with -1 and 1 it rewards a probability below 0. Sparse
categorical cross entropy wants class numbers from 0 to K - 1 for K units; with 1..K the last class
has no unit. Categorical cross entropy wants one row for each example, with as many columns as there
are units and a 1 in one of them. Where the shapes do not fit there is an exception, where they do
there is none, and the model learns something else."""
    failing = """\
x = np.linspace(-1.0, 1.0, 64).reshape(32, 2).astype("float32")
y = np.where(x[:, 0] > 0, 1.0, -1.0)
model = tf.keras.Sequential([
    tf.keras.layers.Dense(8, activation="relu"),
    tf.keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(x, y, epochs=2, verbose=0)
"""
    cured = failing.replace("-1.0)\nmodel", "0.0)\nmodel")
    ignore = "Never."

    def judge(self, training: Training) -> Iterator[Finding]:
        for head in training.heads:
            part, labels = heads.output(head), head.labels
            if labels is None or labels.nan:
                continue
            labels = labels.without(head.ignored)
            found = None
            if head.loss in heads.BINARY:
                found = self._binary(training, head, part, labels)
            elif head.loss in heads.SPARSE:
                found = self._sparse(training, head, part, labels)
            elif head.loss in heads.ONE_HOT:
                found = self._one_hot(training, head, part, labels)
            if found is not None:
                yield found

    def _binary(
        self, training: Training, head: Head, part: Part | None, labels: Numbers
    ) -> Finding | None:
        known, width = labels.distinct, heads.units(head)
        if known is None or (labels.low >= 0 and labels.high <= 1):
            return None
        where = [(_made(part), "the output"), (head.made, "its loss")]
        if len(known) == 2:
            fix = {(-1.0, 1.0): "use (y + 1) / 2 for the labels", (1.0, 2.0): "use y - 1"}.get(
                (known[0], known[1]), f"use y == {heads.number(known[1])} for the labels"
            )
            return self.finding(
                training.place,
                f"the labels are {heads.span(labels)}, and {heads.WORDS[head.loss]} reads them as "
                "0 and 1.",
                fix, None, where,
            )  # fmt: skip
        count = heads.class_count(labels)
        if width != 1 or not heads.flat(labels) or labels.low < 0 or len(known) > FEW:
            return None
        if count is None and not head.logits:
            return None  # numbers that the output is to reach: which it cannot, says GT702
        logits = head.logits
        words = f"{len(known)} classes ({heads.span(labels)})" if count else heads.span(labels)
        few = End("linear" if logits else "softmax", count, SPARSE, logits)
        number = End("linear", 1, "mean_squared_error")
        place = part.made if part else training.place
        mended = remedy(training, head, part, None, [(few if count else number, "")])
        return self.finding(
            place,
            f"the labels are {words}, and one unit with {heads.WORDS[head.loss]} tells 0 from 1.",
            mended.fix if count else f"for a number, {mended.fix}; number classes from 0 on",
            None, [(training.place, "trained here"), (head.made, "its loss")],
        )  # fmt: skip

    def _sparse(
        self, training: Training, head: Head, part: Part | None, labels: Numbers
    ) -> Finding | None:
        width = heads.units(head)
        if not width or width < 2:
            return None
        if labels.one_hot and len(labels.shape) == len(head.shape):
            place = head.made or training.place
            same = ends.of(head, part)._replace(loss="categorical_crossentropy")
            wider = same._replace(units=labels.shape[-1])
            mended = remedy(training, head, part, place, [(same, ""), (wider, "")])
            return self.finding(
                place,
                f"the labels are one-hot rows of {labels.shape[-1]}, and "
                f"{heads.WORDS[head.loss]} wants class numbers.",
                f"{mended.fix} for one-hot rows", mended.edit, [(training.place, "trained here")],
                further=mended.further,
            )  # fmt: skip
        if not labels.whole or (labels.low >= 0 and labels.high < width):
            return None
        place, mended = training.place, Remedy("", None, [])
        count = heads.class_count(labels)
        if labels.low >= 1 and labels.high == width:
            fix = "use y - 1 for the labels"
        elif labels.low < 0 or count is None:
            fix = "number the classes from 0 on"
        else:
            wider = ends.of(head, part)._replace(units=count)
            fix = f"give {heads.called(part)} {count} units, or number the classes from 0 on"
            made = part.made if part is not None and labels.low == 0 else None
            mended = remedy(training, head, part, made, [(wider, fix)])
            fix, place = mended.fix, made if made and mended.edit else place
        return self.finding(
            place,
            f"the labels go from {heads.number(labels.low)} to {heads.number(labels.high)}, and "
            f"the {width} units of {heads.called(part)} are the classes 0 to {width - 1}.",
            fix, mended.edit,
            [(_made(part), f"{width} units"), (training.place, "trained here")],
            further=mended.further,
        )  # fmt: skip

    def _one_hot(
        self, training: Training, head: Head, part: Part | None, labels: Numbers
    ) -> Finding | None:
        width = heads.units(head)
        if not width or width < 2:
            return None
        if heads.flat(labels) and len(head.shape) == 2 and labels.whole:
            place = head.made or training.place
            same = ends.of(head, part)._replace(loss=SPARSE)
            wider = same._replace(units=heads.class_count(labels) or width)
            mended = remedy(training, head, part, place, [(same, ""), (wider, "")])
            return self.finding(
                place,
                f"the labels are class numbers ({heads.span(labels)}), and "
                f"{heads.WORDS[head.loss]} wants one-hot rows of {width}.",
                f"{mended.fix} for class numbers" if SPARSE in mended.fix.lower() else mended.fix,
                mended.edit, [(training.place, "trained here")], further=mended.further,
            )  # fmt: skip
        columns = labels.shape[-1]
        if labels.one_hot and columns != width and len(labels.shape) == len(head.shape):
            wider = ends.of(head, part)._replace(units=columns)
            fix = f"give {heads.called(part)} {columns} units"
            mended = remedy(training, head, part, _made(part), [(wider, fix)])
            return self.finding(
                part.made if part else training.place,
                f"the labels are one-hot rows of {columns}, and {heads.called(part)}"
                f" has {width} units.",
                mended.fix, mended.edit, [(training.place, "trained here")],
                further=mended.further,
            )  # fmt: skip
        if _shifted(labels):
            return self.finding(
                training.place,
                f"no label is class 0, and some rows of the labels have no 1 at all: a class "
                f"number that is {columns} or more has no place among {columns} columns.",
                f"number the classes from 0 on before they become rows: tf.one_hot(y - 1, "
                f"{columns})",
                None, [(_made(part), f"{width} units"), (head.made, "its loss")],
            )  # fmt: skip
        return None


def _made(part: Part | None) -> Place | None:
    return None if part is None else part.made


def _shifted(labels: Numbers) -> bool:
    """Are these one-hot rows of numbers that begin at 1? The last class is then a row of zeros."""
    if labels.distinct != (0.0, 1.0) or labels.row_sums != (0.0, 1.0) or not labels.columns:
        return False
    return labels.columns[0][1] == 0 and all(high == 1 for _, high, _ in labels.columns[1:])


RULE = LabelCoding()
