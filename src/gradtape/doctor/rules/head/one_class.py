"""GT705 one-class: all labels are the same, so there is nothing to tell apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...facts import heads
from ...facts.case import Run
from ...trace import Trace, Variable
from ...trace.finding import Finding
from ...trace.training import Head, Part, Training
from ..heads import HeadRule

FEW = 16  # examples of which all may be of one class by chance
PASSES = frozenset({
    "Dropout", "BatchNormalization", "GlobalAveragePooling1D", "GlobalAveragePooling2D",
    "GlobalMaxPooling1D", "GlobalMaxPooling2D",
})  # fmt: skip
BATCHES, BATCH, ROWS = 3, 8, 48  # the same of a loop, of which only the batches are seen


class OneClass(HeadRule):
    code, name = "GT705", "one-class"
    title = "all labels are the same"
    lesson = """\
When every example has the same label, the best answer is that label for everything, and a bias is
enough for it: the accuracy is 100 % at once, and nothing is learned about the inputs. The usual
causes are a comparison that is never true, a file whose first part was read (sorted by class), a
column of labels that was cut to integers, or a split without shuffling."""
    failing = """\
x = np.linspace(-1.0, 1.0, 64).reshape(32, 2).astype("float32")
y = (x[:, 0] > 5).astype("float32")
model = tf.keras.Sequential([
    tf.keras.layers.Dense(8, activation="relu"),
    tf.keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(x, y, epochs=2, verbose=0)
"""
    cured = failing.replace("> 5", "> 0")
    ignore = "When the model is trained in parts, one class after the other; in a smoke test."

    def examine_run(self, run: Run) -> Iterable[Finding]:
        yield from super().examine_run(run)
        loops = [t for t in run.trace.trainings if t.method == "loop"]
        if len(loops) == 1:  # of several, each may have its class: what is real, what is made up
            moved = _moved(run.trace)
            for finding in self._in_a_loop(loops[0]):
                last = _last(loops[0].heads[0])
                if last is not None and (not moved or last.weights & moved):
                    yield finding

    def _in_a_loop(self, training: Training) -> Iterator[Finding]:
        for head in training.heads[:1]:
            labels, same = head.labels, head.same
            if len(training.heads) > 1 or head.loss not in heads.ENTROPIES or same is None:
                continue
            value, rows, batches = same
            if labels is None or not heads.flat(labels) or batches < BATCHES or rows < ROWS:
                continue
            if rows < BATCH * batches:
                continue  # a few examples that are made to look like another class
            yield self.finding(
                training.place,
                f"all labels of {batches} batches are {heads.number(value)}: there is nothing to "
                "tell apart.",
                "look at how the labels are made, and whether the data are sorted or cut",
                None, [(head.made, "its loss")],
            )  # fmt: skip

    def judge(self, training: Training) -> Iterator[Finding]:
        places = [head for head in training.heads if head.loss in heads.ENTROPIES]
        if training.method != "fit" or len(training.heads) != 1 or not places:
            return
        (head,) = places
        labels, last = head.labels, _last(head)
        if (last is None or not last.weights) and (head.parts or len(training.inputs) > 1):
            return
        if labels is None or labels.nan or not labels.complete or (labels.shape[0] or 0) < FEW:
            return
        hot = labels.one_hot and labels.columns
        same = labels.low == labels.high and heads.flat(labels)
        if hot:
            same = all(low == high for low, high, _ in labels.columns)
        if same:
            what = f"class {[c[0] for c in labels.columns].index(1.0)}" if hot else ""
            what = what or heads.number(labels.low)
            yield self.finding(
                training.place,
                f"all {labels.shape[0]:,} labels are {what}: there is nothing to tell apart.",
                "look at how the labels are made, and whether the data are sorted or cut",
                None, [(head.made, "its loss")],
            )  # fmt: skip


def _last(head: Head) -> Part | None:
    """The layer at the end whose bias is enough for one label. Of an output that is compared with
    another, as in a ranking of pairs, the biases cancel, and 1 may be the label of all pairs."""
    for part in reversed(head.parts):
        if part.kind in heads.UNITS | heads.CELLS:
            return part
        if part.kind not in heads.SHAPES | heads.ALONE | PASSES:
            return None
    return None


def _moved(trace: Trace) -> set[int]:
    """The ids of the variables that are trained: a model that is to be fooled is not."""
    asked = {id(a.source.owner) for q in trace.queries for a in q.answers
             if isinstance(a.source, Variable)}  # fmt: skip
    known = [] if trace.steps is None else trace.steps.known
    return asked.union(*(steps.variables for steps in known))


RULE = OneClass()
