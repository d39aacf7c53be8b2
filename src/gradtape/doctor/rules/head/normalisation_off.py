"""GT715 normalisation-off: batch normalisation that never normalises while the model is trained."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from ...facts import heads
from ...facts.case import Run
from ...source import edits
from ...source.place import Place
from ...trace.finding import Finding
from ...trace.training import Normalisation, Part, Training
from ..heads import HeadRule

STEPS = 3  # at least: one gradient is no training


class NormalisationOff(HeadRule):
    code, name = "GT715", "normalisation-off"
    title = "batch normalisation is called as for a prediction while the model is trained"
    lesson = """\
Batch normalisation has two modes. With training=True it subtracts the mean of the batch, divides by
its standard deviation, and remembers a moving average of both. With training=False it uses what it
remembers. A layer that is only ever called with training=False remembers what it began with, mean 0
and variance 1, and passes its input on as it is. In a loop of one's own, `model(x)` means
training=False; a layer with trainable=False does the same."""
    failing = """\
x = tf.constant(np.linspace(20.0, 40.0, 64).reshape(32, 2), tf.float32)
y = x[:, :1] / 10.0 - 3.0
model = tf.keras.Sequential([
    tf.keras.layers.Dense(8, activation="relu"),
    tf.keras.layers.BatchNormalization(),
    tf.keras.layers.Dense(1),
])
optimizer = tf.keras.optimizers.Adam(0.01)
for step in range(8):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
"""
    cured = failing.replace("model(x)", "model(x, training=True)")
    ignore = "When the layer has statistics of another training, which are to stay."

    def judge(self, training: Training) -> Iterator[Finding]:
        yield from ()

    def examine_run(self, run: Run) -> Iterable[Finding]:
        steps = run.trace.steps
        said: set[Place | None] = set()
        for layer in () if steps is None else steps.normalisations:
            if layer.on or not layer.fresh:
                continue
            # What is frozen, and called as for a prediction, is not what is trained.
            within = layer.within and (layer.frozen or layer.weight is None)
            taken = [o for o in steps.known if layer.weight in o.variables or within]
            most = max(taken, key=lambda known: known.steps, default=None)
            if most is None or most.steps < STEPS:
                continue
            finding = self._found(layer, most.steps)
            finding.place = finding.place or most.place
            if finding.place not in said:
                said.add(finding.place)
                yield finding

    def _found(self, layer: Normalisation, steps: int) -> Finding:
        part = Part("BatchNormalization", layer.name, "linear", {}, layer.made)
        what = "the batch normalisation" if not layer.frozen else "this layer"
        never = f"{heads.called(part, what)} does not normalise: "
        kept = (
            f"After {steps} steps the mean and variance that it uses are still 0 and 1, as at the "
            "start."
        )
        if layer.frozen:
            return self.finding(
                layer.made, f"{never}it has trainable=False. {kept}",
                "leave trainable as it is, True, for a layer that has not been trained yet", None,
                [(place, "it is called here") for place in layer.where[:1]],
            )  # fmt: skip
        place = _place(layer.where) or layer.made
        fix = "give training=True to the call in the training step"
        if place is not None and _told(place) is not None and place.function == "call":
            fix = "leave training=False out: Keras hands on what the model is called with"
        return self.finding(
            place, f"{never}it is called with training=False while the model is trained. {kept}",
            fix, _edit(place) if layer.where else None,
            [(layer.made, "the normalisation")],
        )  # fmt: skip


def _place(where: list[Place]) -> Place | None:
    """The call that says training=False itself, or the outermost, which decides for those inside
    of it."""
    for place in where:
        if _told(place) is not None:
            return place
    return where[-1] if where else None


def _told(place: Place) -> ast.expr | None:
    """`False` in `training=False`."""
    for word in place.node.keywords if isinstance(place.node, ast.Call) else ():
        false = isinstance(word.value, ast.Constant) and not word.value.value
        if word.arg == "training" and false:
            return word.value
    return None


def _edit(place: Place | None) -> str | None:
    call = None if place is None else place.node
    if place is None or not isinstance(call, ast.Call):
        return None
    told = _told(place)
    if told is not None and place.function == "call":
        return edits.without(place, "training")
    if told is not None:
        return edits.replaced(place, "True", told)
    if any(k.arg in (None, "training") for k in call.keywords):
        return None
    given = [edits.text(place, a) for a in call.args]
    given += [f"{k.arg}={edits.text(place, k.value)}" for k in call.keywords]
    function = edits.text(place, call.func)
    return edits.replaced(place, f"{function}({', '.join([*given, 'training=True'])})")


RULE = NormalisationOff()
