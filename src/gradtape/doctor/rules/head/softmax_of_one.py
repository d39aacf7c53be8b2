"""GT701 softmax-of-one: a softmax over an axis that holds one number, or over other examples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...facts import heads, softmaxes
from ...facts.case import Case, Run
from ...facts.ends import End, Remedy, remedy
from ...trace.finding import Finding
from ...trace.training import Head, Part, Training
from ..heads import HeadRule, belongs


class SoftmaxOfOne(HeadRule):
    code, name = "GT701", "softmax-of-one"
    supersedes = frozenset({"clipped-value", "saturated-activation", "zero-mask"})
    title = "a softmax over one unit is always 1; over the batch, examples share one probability"
    lesson = """\
A softmax divides e^z by the sum of e^z along its axis. Where that axis holds one number, the result
is 1 whatever the weights are, so the model gives the same answer to every question. For yes or no,
one unit needs a sigmoid; a softmax needs as many units as there are classes; for a number, the last
layer needs no activation. A softmax along the batch or the time axis makes examples (or steps)
compete with each other, and the classes of one example do not add up to 1."""
    failing = """\
x = np.linspace(-1.0, 1.0, 64).reshape(32, 2).astype("float32")
y = (x[:, 0] > 0).astype("float32")
model = tf.keras.Sequential([
    tf.keras.layers.Dense(8, activation="relu"),
    tf.keras.layers.Dense(1, activation="softmax"),
])
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(x, y, epochs=2, verbose=0)
"""
    cured = failing.replace("softmax", "sigmoid")
    ignore = "Never for an output."

    def judge(self, training: Training) -> Iterator[Finding]:
        for head in training.heads:
            for part in head.parts:
                found = self._one(training, head, part) or self._astray(training, head, part)
                if found is not None:
                    yield found

    def examine_query(self, case: Case) -> Iterable[Finding]:
        yield from super().examine_query(case)
        heard = {p.made for t in case.trace.trainings for h in t.heads for p in h.parts}
        for found in softmaxes.softmaxes(case.question.makers):
            place = found.event.place
            if found.event.layer is not None or place in heard:
                continue
            chosen = softmaxes.classes(found)
            if chosen is None or chosen[0] == found.axis or found.size == 1:
                continue
            count, number = found.made.shape[chosen[0]], chosen[0]
            yield self.finding(
                place,
                f"`{place.brief}` takes the softmax along axis {found.axis}, of size "
                f"{found.size}, but the labels choose among the {count} numbers along axis "
                f"{number}: these do not add up to 1.",
                f"take the softmax along axis {number}",
                _along(found, number), [(chosen[1].place, "the labels")],
            )  # fmt: skip

    def explained(self, finding: Finding, run: Run) -> bool:
        return any(
            f.cause == "constant-function" and belongs(f, finding.training) for f in run.findings
        )

    def _one(self, training: Training, head: Head, part: Part) -> Finding | None:
        axis = part.config.get("axis", -1)
        single = _size(part.shape, axis) == 1
        if part.activation != "softmax" or not single or part.kind not in heads.UNITS | heads.ALONE:
            return None
        if part is not heads.output(head):
            return self.finding(
                part.made,
                f"{heads.called(part, 'this layer')}"
                f" takes the softmax of 1 unit, which is 1 whatever comes in: what it "
                "weighs, it weighs all alike.",
                "take the softmax along the axis that the weights are for, or a sigmoid",
            )
        labels = head.labels
        said = "" if labels is None else f", and the labels are {heads.span(labels)}"
        mended = remedy(training, head, part, part.made, _wanted(head))
        if labels is None and head.loss in heads.DISTANCES:
            words = "leave the activation out for a number, or use a sigmoid for yes or no"
            mended = Remedy(words, None, [])
        return self.finding(
            part.made,
            f"{heads.called(part)}"
            f" takes the softmax of 1 unit, e^z / e^z: the output is 1 for every "
            f"example{said}.",
            mended.fix, mended.edit, [(head.made, "its loss")], further=mended.further,
        )  # fmt: skip

    def _astray(self, training: Training, head: Head, part: Part) -> Finding | None:
        axis, rank = part.config.get("axis", -1), len(part.shape)
        known = part.kind in ("Softmax", "function") and part.activation == "softmax"
        if not known or not isinstance(axis, int) or rank < 2:
            return None
        own = axis % rank
        last = part is heads.output(head) and head.loss in heads.ENTROPIES and own != rank - 1
        if not last and (own != 0 or part.kind == "function"):
            return None
        what = "the batch" if own == 0 else f"axis {own}"
        return self.finding(
            part.made,
            f"{heads.called(part, 'this layer')} takes the softmax along {what}, so the "
            f"{part.shape[-1]} numbers of an example do not add up to 1.",
            "take it along the last axis, which holds the classes",
            heads.argument(part.made, "axis", int(part.kind == "function"), "-1"),
            [(head.made, "its loss")],
        )  # fmt: skip


def _along(found: softmaxes.Softmax, axis: int) -> str | None:
    """The line of a softmax that is called, along another axis."""
    if found.event.kind != "Softmax":
        return None
    return heads.argument(found.event.place, "axis", 1, str(axis))


def _size(shape: tuple[int | None, ...], axis: object) -> int | None:
    return shape[axis] if isinstance(axis, int) and -len(shape) <= axis < len(shape) else None


def _wanted(head: Head) -> list[tuple[End, str]]:
    """What the output may have been meant to be, with the words for it."""
    count = heads.class_count(head.labels)
    loss = head.loss if head.loss in heads.BINARY else "binary_crossentropy"
    yes_no, plain = "use a sigmoid for yes or no, or a unit for each class", ""
    if head.loss in heads.ONE_HOT | heads.SPARSE:
        yes_no = 'use a sigmoid for yes or no, with loss="binary_crossentropy"'
    if head.loss in heads.DISTANCES:
        loss, plain = head.loss, "leave the activation out: the output is a number"
    if count is not None and head.loss not in heads.DISTANCES:
        words = f'give it a unit for each class: Dense({count}, activation="softmax"), with '
        words += 'loss="sparse_categorical_crossentropy"'
        return [(End("softmax", count, "sparse_categorical_crossentropy"), words)]
    found = [(End("sigmoid", 1, loss), "" if head.logits else yes_no)]
    if head.logits:
        found.insert(0, (End("linear", 1, loss, True), ""))
    return found + ([(End("linear", 1, head.loss), plain)] if plain else [])


RULE = SoftmaxOfOne()
