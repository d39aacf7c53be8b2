"""GT708 frozen-rate: a learning rate with which no weight moves."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts import heads
from ...trace.finding import Finding
from ...trace.training import Training
from ..heads import HeadRule

STILL = 1e-7  # of a number in float32, what is lost when it is added
# Optimizers whose step is about the learning rate, however small the gradient is.
EVEN = frozenset({"Adam", "AdamW", "Adamax", "Nadam", "RMSprop"})


class FrozenRate(HeadRule):
    code, name = "GT708", "frozen-rate"
    title = "the learning rate is so small that the weights stay what they are"
    lesson = """\
A weight in float32 keeps seven digits. Adam and RMSprop move each weight by about the learning rate
in every step; where that is less than 1e-7 of the weight, the sum is rounded to the old value and
nothing is learned, however many steps there are. A rate of exactly 0 does the same with every
optimizer."""
    failing = """\
x = np.linspace(-1.0, 1.0, 64).reshape(64, 1).astype("float32")
y = 2.0 * x
model = tf.keras.Sequential([
    tf.keras.layers.Dense(8, activation="relu"),
    tf.keras.layers.Dense(1),
])
model.compile(optimizer=tf.keras.optimizers.Adam(1e-10), loss="mse")
model.fit(x, y, epochs=2, verbose=0)
"""
    cured = failing.replace("1e-10", "1e-3")
    ignore = "When the rate is raised later on, by a schedule of your own."

    def judge(self, training: Training) -> Iterator[Finding]:
        rate, sizes = training.rate, training.sizes
        if rate is None or not sizes:
            return
        least = min(sizes)
        if rate == 0:
            words = "the learning rate is 0, so the weights stay what they are."
        elif training.optimizer in EVEN and rate < STILL * least:
            words = (
                f"{training.optimizer} moves a weight by about {rate:.1g} a step, which is "
                f"{rate / least:.1g} of a weight of size {heads.number(least)}: in float32 it is "
                "rounded away."
            )
        else:
            return
        yield self.finding(
            training.compiled or training.place, words, "use a larger learning rate, such as 1e-3",
            None, [(training.place, "trained here")],
        )  # fmt: skip


RULE = FrozenRate()
