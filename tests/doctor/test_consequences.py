"""A gradient that is not finite breaks the weights: the steps after that are no findings."""

from __future__ import annotations

import pytest

from .programs import PREAMBLE, diagnose, sketch

PROGRAM = """\
w = tf.Variable([[0.0, 0.0]])
v = tf.Variable([[0.5], [0.3]])
for step in range(6):
    with tf.GradientTape() as tape:
        h = tf.norm(w, axis=1) + tf.reduce_sum((w + 1.0) @ v, axis=1)
        loss = tf.reduce_sum(tf.square(h - 1.0))
    a, b = tape.gradient(loss, [w, v])
    {update}
"""
UPDATES = {
    "by assign_sub": "w.assign_sub(0.1 * a); v.assign_sub(0.1 * b)",
    "by numbers from outside": "w.assign(w.numpy() - 0.1 * a.numpy())",
}


@pytest.mark.parametrize("update", UPDATES.values(), ids=list(UPDATES))
def test_only_the_first_step_is_explained(update: str) -> None:
    session = diagnose(PREAMBLE + PROGRAM.format(update=update))
    assert session.history.states["nan"] > 6
    (finding,) = session.findings.values()
    assert sketch(finding).startswith("GT303 norm-at-zero: nan of w, line 7: `tf.norm(w, axis=1)`")
    assert finding.steps == [1]


def test_a_variable_that_starts_so_is_a_finding() -> None:
    program = """\
w = tf.Variable(float("nan"))
with tf.GradientTape() as tape:
    loss = w * w
grad = tape.gradient(loss, w)
"""
    (finding,) = diagnose(PREAMBLE + program).findings.values()
    assert (finding.code, finding.name) == ("GT309", "nan-input")


TWO_FAULTS = """\
rng = np.random.default_rng(0)
x = rng.normal(size=(64, 3)).astype("float32")
y = (200.0 + 100.0 * x[:, :1]).astype("float32")
model = tf.keras.Sequential([
    tf.keras.layers.Dense(8, activation="relu"),
    tf.keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer="adam", loss="mse")
model.fit(x, y, epochs=2, verbose=0)
w = tf.Variable([[80.0], [95.0]])
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(tf.square(tf.sigmoid(w)))
grad = tape.gradient(loss, w)
"""


def test_a_fault_of_a_model_hides_nothing_that_it_does_not_account_for() -> None:
    """Targets beyond a sigmoid account for that sigmoid at its bounds, not for another one."""
    found = diagnose(PREAMBLE + TWO_FAULTS).findings.values()
    assert {f.name for f in found} == {"target-out-of-reach", "saturated-activation"}


def test_what_an_early_step_broke_lasts_to_the_end() -> None:
    """Steps that are looked into later find NaN everywhere, and not where it came from."""
    (finding,) = diagnose(
        PREAMBLE
        + """\
w = tf.Variable([1.0, 0.0])
for i in range(70):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.sqrt(tf.abs(w) * 0.0 if i >= 20 else tf.abs(w) + 1e-3))
    w.assign_sub(0.001 * tape.gradient(loss, w))
"""
    ).findings.values()
    assert finding.name == "sqrt-at-zero"
    assert finding.steps == [*range(21, 71)]
