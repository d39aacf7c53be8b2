"""GT706 nothing-left: a layer that lets next to nothing of its input through."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts import heads
from ...trace.finding import Finding
from ...trace.training import Training
from ..heads import HeadRule

ALMOST = 0.95  # the share of numbers that dropout may take
DROPOUTS = frozenset({"Dropout", "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D",
                      "AlphaDropout", "GaussianDropout"})  # fmt: skip


class NothingLeft(HeadRule):
    code, name = "GT706", "nothing-left"
    supersedes = frozenset({"zero-mask", "constant-function", "zero-init"})
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

    def judge(self, training: Training) -> Iterator[Finding]:
        seen = set()
        for head in training.heads:
            for part in head.parts:
                rate = part.config.get("rate")
                if part.name in seen:
                    continue
                seen.add(part.name)
                if part.kind in DROPOUTS and isinstance(rate, float | int) and rate >= ALMOST:
                    kept = round(1 - rate, 6)
                    yield self.finding(
                        part.made,
                        f"{heads.called(part, 'this layer')}"
                        f" sets {heads.number(100 * rate)} % of its input to 0 and "
                        f"leaves {heads.number(100 * kept)} %.",
                        "the rate is the share that is dropped; 0.1 to 0.5 are usual",
                        heads.argument(part.made, "rate", 0, f"{kept:g}") if kept > 0 else None,
                    )  # fmt: skip
                alone = training.batch == 1 and len(part.given) == 2
                if part.kind == "BatchNormalization" and alone and training.method != "loop":
                    yield self.finding(
                        training.place,
                        f"{heads.called(part, 'this layer')}"
                        f" subtracts the mean of the batch, and a batch is 1 example: "
                        "what it passes on while training is the same for every input.",
                        "use batches of several examples, or LayerNormalization", None,
                        [(part.made, "the normalisation")],
                    )  # fmt: skip


RULE = NothingLeft()
