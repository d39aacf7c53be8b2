"""GT706 nothing-left: a layer that lets next to nothing of its input through."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from ...facts import heads
from ...facts.case import Run
from ...source.place import Place
from ...trace import Trace
from ...trace.finding import Finding
from ...trace.training import Training
from ..heads import HeadRule

ALMOST = 0.95  # the share of numbers that dropout may take
DROPOUTS = frozenset({"Dropout", "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D",
                      "AlphaDropout", "GaussianDropout"})  # fmt: skip


class NothingLeft(HeadRule):
    code, name = "GT706", "nothing-left"
    supersedes = frozenset({
        "zero-mask", "constant-function", "zero-init", "dead-relu", "unused-variable",
        "unexplained",
    })  # fmt: skip
    title = "dropout takes nearly all, or batch normalisation sees one example at a time"
    lesson = """\
The rate of a Dropout layer is the share that is set to 0, not the share that is kept: of 100 units,
0.95 leaves 5 and 1.0 none. Batch normalisation subtracts the mean of the batch; in a batch of one
example the mean of a feature is that example, and what is left is 0 for every input. In both cases
the layers behind learn from noise or from nothing."""
    failing = """\
x = np.linspace(-1.0, 1.0, 64).reshape(32, 2).astype("float32")
y = x[:, :1] * 2.0
model = tf.keras.Sequential([
    tf.keras.layers.Dense(8, activation="relu"),
    tf.keras.layers.Dropout(0.98),
    tf.keras.layers.Dense(1),
])
model.compile(optimizer="adam", loss="mse")
model.fit(x, y, epochs=2, verbose=0)
"""
    cured = failing.replace("0.98", "0.02")
    ignore = "When so much noise is the point of an experiment."

    def examine_run(self, run: Run) -> Iterable[Finding]:
        found = [*super().examine_run(run)]
        said = {place for f in found for place in (f.place, *(p for p, _ in f.also))}
        for finding in (*self._dropped(run.trace), *self._alone(run.trace)):
            places = {finding.place, *(place for place, _ in finding.also)}
            if said.isdisjoint(places):
                said |= places
                found.append(finding)
        return found

    def accounts_for(self, finding: Finding, other: Finding) -> bool:
        """Of a loop of the user's own it is what was found at the same layer."""
        places = {finding.place, *(place for place, _ in finding.also)}
        return super().accounts_for(finding, other) or other.place in places

    def _dropped(self, trace: Trace) -> Iterator[Finding]:
        """Dropout in a computation of the user's own, by the draw that decides what stays."""
        for event in trace.events:
            if event.kind != "GreaterEqual" or not event.tapes or len(event.inputs) < 2:
                continue
            place = event.place if event.layer is None else event.layer.made
            bound = event.inputs[1].array
            if place is None or "dropout" not in place.text.lower() or np.size(bound) != 1:
                continue
            rate = round(float(np.ravel(bound)[0]), 6)
            if ALMOST <= rate <= 1:
                what = "this call" if event.layer is None else "this layer"
                yield self._drops(place, what, rate, None)

    def _alone(self, trace: Trace) -> Iterator[Finding]:
        """Normalisation of one example after the other, in a loop of the user's own."""
        for layer in () if trace.steps is None else trace.steps.normalisations:
            steps = [o.steps for o in trace.steps.known if layer.weight in o.variables]
            if layer.on and layer.alone == layer.on and layer.place and max(steps, default=0) > 1:
                yield self._lonely(layer.place[-1], "this layer", layer.made)

    def _drops(self, place: Place | None, what: str, rate: float, edit: str | None) -> Finding:
        kept = round(1 - rate, 6)
        left = f"leaves {heads.number(100 * kept)} %" if kept else "leaves nothing"
        return self.finding(
            place, f"{what} sets {heads.number(100 * rate)} % of its input to 0 and {left}.",
            "the rate is the share that is dropped; 0.1 to 0.5 are usual", edit,
        )  # fmt: skip

    def _lonely(self, place: Place, what: str, made: Place | None) -> Finding:
        return self.finding(
            place,
            f"{what} subtracts the mean of the batch, and a batch is 1 example: "
            "what it passes on while training is the same for every input.",
            "use batches of several examples, or LayerNormalization", None,
            [(made, "the normalisation")],
        )  # fmt: skip

    def judge(self, training: Training) -> Iterator[Finding]:
        seen = set()
        for head in training.heads:
            for part in head.parts:
                if part.name in seen:
                    continue
                seen.add(part.name)
                word = "dropout" if part.kind in heads.CELLS else "rate"
                rate = part.config.get(word)
                drops = part.kind in DROPOUTS | heads.CELLS
                if drops and isinstance(rate, float | int) and rate >= ALMOST:
                    position = 0 if part.kind in DROPOUTS else None
                    new = heads.argument(part.made, word, position, f"{round(1 - rate, 6):g}")
                    edit = new if rate < 1 else None
                    yield self._drops(part.made, heads.called(part, "this layer"), rate, edit)
                alone = training.batch == 1 and len(part.given) == 2 and not part.off
                if part.kind == "BatchNormalization" and alone and training.method != "loop":
                    yield self._lonely(training.place, heads.called(part, "this layer"), part.made)


RULE = NothingLeft()
