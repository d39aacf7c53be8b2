"""GT708 frozen-rate: a learning rate with which no weight moves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from ...facts import heads
from ...facts.case import Run
from ...facts.steps import EVEN, optimizer
from ...trace import Answer, Event, Trace, Variable
from ...trace.finding import Finding
from ...trace.training import Optimisation, Training
from ..heads import HeadRule

STILL = 1e-7  # of a number in float32, what is lost when it is added
FAR = 1e-6  # of a weight, what it may come in all steps and still be where it was
SLOW = 1e-6  # a learning rate that may be the reason
STEPS = 3  # of a loop of the user's own, at least
LITTLE = 1e-6  # a gradient that is smaller has come to its end


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
        yield from ()

    def examine_run(self, run: Run) -> Iterable[Finding]:
        known = [] if run.trace.steps is None else run.trace.steps.known
        found = [*map(self._still, known), *self._by_hand(run)]
        return [finding for finding in found if finding is not None]

    def _still(self, known: Optimisation) -> Finding | None:
        """An optimizer whose weights are where they were."""
        rate, steps = known.rate, known.steps
        if rate is None or rate >= SLOW or not steps or not known.moves:
            return None
        if any(way > FAR * size for size, way in known.moves):
            return None
        least = min(size for size, _ in known.moves)
        share = max(way / size for size, way in known.moves)
        words = f"after {steps} steps no weight has moved by more than {share:.1g} of its size."
        if not share:
            words = f"after {steps} steps no weight has changed."
        if rate == 0:
            words = f"the learning rate is 0, and {words}"
        elif known.kind in EVEN:
            words = (
                f"{known.kind} moves a weight by about {rate:.1g} a step, which is "
                f"{rate / least:.1g} of a weight of magnitude {heads.number(least)}: in float32 it "
                "is rounded away."
            )
        else:
            words = f"the learning rate is {rate:.1g}, and {words}"
        usual = "1e-3" if known.kind in EVEN else "0.01"
        return self.finding(
            known.made or known.place, words,
            f"use a larger learning rate, such as {usual}", None,
            [(known.place, "the steps are taken here")],
        )  # fmt: skip

    def _by_hand(self, run: Run) -> Iterator[Finding]:
        """Steps of the user's own that are rounded away."""
        trace = run.trace
        for record in run.history.records.values():
            queries = [q for q in trace.queries if q.place == record.place]
            if record.steps < STEPS or not queries:
                continue
            moved = [(a.source, a) for a in queries[-1].answers if isinstance(a.source, Variable)]
            steps = [_step(trace, v, a) for v, a in moved if optimizer(trace, v) is None]
            found = [step for step in steps if step is not None]
            if found and len(found) == len(steps) and all(share < STILL for _, share in found):
                event, share = max(found, key=lambda step: step[1])
                named = ", ".join(f"`{line.name}`" for line in record.lines[:3])
                yield self.finding(
                    event.place,
                    f"a step moves {named} by no more than {share:.1g} of the size: in float32, "
                    "which keeps seven digits, it is rounded away.",
                    "use a larger learning rate",
                )  # fmt: skip


def _step(trace: Trace, variable: Variable, answer: Answer) -> tuple[Event, float] | None:
    """The last step of a variable by what is subtracted or added, and its share of the size."""
    event = trace.update(variable)
    if event is None or event.kind not in ("assign_sub", "assign_add") or answer.array is None:
        return None
    before = [v for v in event.inputs if v.variable is variable]
    steps = [v for v in event.inputs if v.variable is None]
    if not before or not steps or before[0].array is None or steps[0].array is None:
        return None
    if not _slow(steps[0].maker):
        return None  # of Newton's method, which has come to its end
    size = float(np.abs(np.asarray(before[0].array, np.float64)).mean())
    step = float(np.abs(np.asarray(steps[0].array, np.float64)).max())
    there = np.isfinite(answer.array).all() and np.abs(answer.array).max() > LITTLE
    return (event, step / size) if size and step and there else None


def _slow(event: Event | None) -> bool:
    """Is it a product with a number that is written down, and next to nothing?"""
    if event is None or event.kind != "Mul":
        return False
    rates = [v.array for v in event.inputs if v.maker is None and np.size(v.array) == 1]
    return any(abs(float(np.ravel(rate)[0])) < SLOW for rate in rates)


RULE = FrozenRate()
