"""GT709 constant-input: all examples are the same, so the output cannot differ either."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts import heads
from ...trace.finding import Finding
from ...trace.training import Numbers, Training
from ..heads import HeadRule

FEW = 16  # examples that may be alike by chance


class ConstantInput(HeadRule):
    code, name = "GT709", "constant-input"
    supersedes = frozenset({"zero-mask", "constant-function", "dead-relu"})
    title = "all examples are the same"
    lesson = """\
A model gives the same output for the same input. When every example is alike and the labels are
not, the best that it can learn is one answer for all: the mean of the labels, or their most
frequent class. The usual causes are a scaling that was done twice (an integer division, a
cast to int after it), a column that was taken from the wrong table, or an array that was made with
zeros and never filled."""
    failing = """\
x = (np.arange(64).reshape(32, 2) // 255).astype("float32")
y = np.linspace(-1.0, 1.0, 32).reshape(32, 1).astype("float32")
model = tf.keras.Sequential([
    tf.keras.layers.Dense(8, activation="tanh"),
    tf.keras.layers.Dense(1),
])
model.compile(optimizer="adam", loss="mse")
model.fit(x, y, epochs=2, verbose=0)
"""
    cured = failing.replace("// 255", "/ 255")
    ignore = "When the input is a mere placeholder, and the weights themselves are what is wanted."

    def judge(self, training: Training) -> Iterator[Finding]:
        inputs = training.inputs
        if training.method != "fit" or len(training.heads) != 1 or not inputs:
            return
        labels = training.heads[0].labels
        if labels is None or labels.nan or labels.low == labels.high:
            return
        if labels.one_hot and all(low == high for low, high, _ in labels.columns):
            return  # nothing to tell apart in the labels either
        if all(_same(part) for part in inputs):
            rows, values = inputs[0].shape[0], {part.low for part in inputs}
            flat = len(values) == 1 and all(part.low == part.high for part in inputs)
            what = f": every number is {heads.number(values.pop())}" if flat else ""
            yield self.finding(
                training.place,
                f"all {rows:,} examples are the same{what}, while the labels are "
                f"{heads.span(labels)}: the output is the same for all of them.",
                "look at how the inputs are made: an integer division, a cast, an array "
                "that was never filled",
            )  # fmt: skip


def _same(part: Numbers) -> bool:
    """Are all rows alike? Of arrays with more axes only one number everywhere is known."""
    if part.nan or not part.complete or (part.shape[0] or 0) < FEW:
        return False
    return part.low == part.high or bool(
        part.columns and all(low == high for low, high, _ in part.columns)
    )


RULE = ConstantInput()
