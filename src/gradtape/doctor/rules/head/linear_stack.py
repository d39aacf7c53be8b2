"""GT707 linear-stack: layers without activation between them are one linear layer."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from ...facts import heads
from ...trace.finding import Finding
from ...trace.training import Part, Training
from ..heads import HeadRule

THROUGH = frozenset({"Dropout", "Flatten", "Reshape", "BatchNormalization", "Permute"})


class LinearStack(HeadRule):
    code, name = "GT707", "linear-stack"
    title = "the layers have no activation between them, so all of them are one linear layer"
    lesson = """\
A Dense layer without activation is a matrix and a bias. Two of them in a row are
W2 (W1 x + b1) + b2, which is again one matrix and one bias: however many there are, the model is a
straight line (or, with a softmax at its end, logistic regression), and nothing that bends can be
learned. Put an activation behind each hidden layer."""
    failing = """\
x = np.linspace(-1.0, 1.0, 64).reshape(64, 1).astype("float32")
y = np.sin(3.0 * x)
model = tf.keras.Sequential([
    tf.keras.layers.Dense(32),
    tf.keras.layers.Dense(32),
    tf.keras.layers.Dense(1),
])
model.compile(optimizer="adam", loss="mse")
model.fit(x, y, epochs=2, verbose=0)
"""
    cured = failing.replace("Dense(32)", 'Dense(32, activation="relu")')
    ignore = "When a linear model of a low rank is wanted, or linear networks are studied."

    def judge(self, training: Training) -> Iterator[Finding]:
        for head in training.heads:
            linear = [part for part in head.parts if part.kind == "Dense"]
            rest = [part for part in head.parts if part.kind != "Dense"]
            hidden = linear[:-1]
            if len(linear) < 3 or linear[-1] is not heads.output(head):
                continue
            if any(p.kind not in THROUGH for p in rest) or any(
                p.activation != "linear" for p in hidden
            ):
                continue
            if any(_narrows(one, linear[0], linear[-1]) for one in hidden):
                continue
            if not all(a.shape[-1:] == b.given[-1:] for a, b in pairwise(linear)):
                continue  # something came in between
            first = hidden[0]
            yield self.finding(
                first.made,
                f"the {len(hidden)} hidden layers have no activation, so the {len(linear)} Dense "
                "layers together are one linear layer: whatever bends is out of reach.",
                "give the hidden layers an activation", heads.activated(first, "relu"),
                [(part.made, "nor this one") for part in hidden[1:3]],
            )  # fmt: skip


def _narrows(part: Part, first: Part, last: Part) -> bool:
    """Is it a bottleneck, which makes a linear model of a lower rank?"""
    width, given, out = part.shape[-1:], first.given[-1:], last.shape[-1:]
    if not all(width + given + out) or len(width + given + out) < 3:
        return True  # not known
    return bool(width[0] < min(given[0], out[0]))  # type: ignore[operator, type-var]


RULE = LinearStack()
