"""GT707 linear-stack: layers without activation between them are one linear layer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from ....traits import Family
from ...facts import heads
from ...facts.case import Run
from ...facts.graph import ancestors, makers
from ...trace import Event, Query, Value
from ...trace.finding import Finding
from ...trace.training import Part, Training
from ..heads import HeadRule

THROUGH = frozenset({
    "Dropout", "Flatten", "Reshape", "BatchNormalization", "Permute", "SpatialDropout1D",
    "SpatialDropout2D", "AveragePooling1D", "AveragePooling2D", "GlobalAveragePooling1D",
    "GlobalAveragePooling2D", "ZeroPadding2D", "Identity",
})  # fmt: skip
LINEAR = frozenset({"Dense", "Conv1D", "Conv2D", "Conv3D"})
STEPS = 10  # of a loop of the user's own, before it counts as a training


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
            linear = [part for part in head.parts if part.kind in LINEAR]
            rest = [part for part in head.parts if part.kind not in LINEAR]
            hidden = linear[:-1]
            if len(linear) < 3 or linear[-1] is not heads.output(head):
                continue
            if any(p.kind not in THROUGH or p.activation != "linear" for p in rest) or any(
                p.activation != "linear" for p in hidden
            ):
                continue
            dense = all(part.kind == "Dense" for part in linear)
            if dense and any(_narrows(one, linear[0], linear[-1]) for one in hidden):
                continue
            if dense and not all(a.shape[-1:] == b.given[-1:] for a, b in pairwise(linear)):
                continue  # something came in between
            first = hidden[0]
            kinds = "Dense layers" if dense else "layers"
            yield self.finding(
                first.made,
                f"the {len(hidden)} hidden layers have no activation, so the {len(linear)} {kinds} "
                "together are one linear layer: nothing nonlinear can be learned.",
                "give the hidden layers an activation", heads.activated(first, "relu"),
                [(part.made, "nor this one") for part in hidden[1:3]],
            )  # fmt: skip

    def examine_run(self, run: Run) -> Iterable[Finding]:
        found = [*super().examine_run(run)]
        if found:
            return found
        for record in run.history.records.values():
            query = next((q for q in run.trace.queries[::-1] if q.place == record.place), None)
            if query is not None and record.steps >= STEPS:
                found += self._by_hand(query)
        return found

    def _by_hand(self, query: Query) -> Iterator[Finding]:
        """Products with weights that follow each other, and nothing bends before or after them."""
        targets = [t for t in query.targets if isinstance(t, Value)]
        asked = {a.source for a in query.answers}
        products = [
            e for e in makers(ancestors(targets)) if e.kind == "MatMul"
            and query.tape.number in e.tapes and any(v.variable in asked for v in e.inputs)
        ]  # fmt: skip
        for one, other in pairwise(products):
            if len(products) < 2 or not _follows(one, other):
                return
        first = products[0] if len(products) > 1 else None
        if first is None or first.layer is not None:
            return
        sizes = [v.shape for e in products for v in e.inputs if v.variable in asked]
        if any(len(size) != 2 for size in sizes) or len(sizes) != len(products):
            return
        wide = [size[-1] for size in sizes[:-1]]
        if min(wide) < max(sizes[0][0], sizes[-1][-1]):
            return  # a bottleneck makes a linear model of a lower rank
        yield self.finding(
            first.place,
            f"`{first.place.text}` is multiplied by the next weights as it is, without an "
            f"activation, so the {len(products)} products together are one linear layer: whatever "
            "bends is out of reach.",
            "put an activation such as `tf.nn.relu` around the hidden layer", None,
            [(products[1].place, "the next product")],
        )  # fmt: skip


def _follows(one: Event, other: Event) -> bool:
    """Does a product get what another gave, with nothing but a bias of its own between them?"""
    value, biased = one.outputs[0], False
    for _ in range(6):
        if len(value.users) != 1 and not all(e is value.users[0] for e in value.users):
            return False
        user = value.users[0]
        if user is other:
            return biased and other.inputs[0] is value
        if not user.is_a(Family.ADDS | Family.RESHAPES) or not user.outputs:
            return False
        biased = biased or (
            user.is_a(Family.ADDS) and any(v.variable is not None for v in user.inputs)
        )
        value = user.outputs[0]
    return False


def _narrows(part: Part, first: Part, last: Part) -> bool:
    """Is it a bottleneck, which makes a linear model of a lower rank?"""
    width, given, out = part.shape[-1:], first.given[-1:], last.shape[-1:]
    if not all(width + given + out) or len(width + given + out) < 3:
        return True  # not known
    return bool(width[0] < min(given[0], out[0]))  # type: ignore[operator, type-var]


RULE = LinearStack()
