"""A term of the target that left the tape is found; constants that are meant are not."""

from __future__ import annotations

import pytest

from .programs import PREAMBLE, diagnose, sketch

LOST = {
    "a penalty through NumPy": (
        """\
w = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    fit = tf.reduce_mean(tf.square(w - 1.0))
    penalty = np.sum(w.numpy() ** 2)
    loss = fit + 0.1 * penalty
grad = tape.gradient(loss, w)
""",
        """\
GT103 left-the-tape: wrong of w, line 6: `w.numpy()`
fix: leave out `.numpy()` and use `tf.reduce_sum` instead of `np.sum`
edit: penalty = tf.reduce_sum(w ** 2)
would be: [0.2, 1.4]""",
    ),
    "a term as a Python number": (
        """\
w = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    small = tf.reduce_sum(tf.abs(w))
    loss = tf.reduce_mean(tf.square(w - 1.0)) + 0.1 * float(small)
grad = tape.gradient(loss, w)
""",
        """\
GT104 python-scalar: wrong of w, line 6: `float(small)`
fix: leave out `float()`, and convert to a number only to print or store it
edit: loss = tf.reduce_mean(tf.square(w - 1.0)) + 0.1 * small
would be: [0.1, 1.1]""",
    ),
    "a penalty of a copy, in a function": (
        """\
def penalty(v):
    return tf.nn.l2_loss(tf.constant(v))

w = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(tf.square(w - 1.0)) + penalty(w)
grad = tape.gradient(loss, w)
""",
        """\
GT112 constant-copy: wrong of w, line 4: `tf.constant(v)`
fix: use `w` itself, or `tf.convert_to_tensor(w)`
edit: return tf.nn.l2_loss(tf.convert_to_tensor(v))
would be: [1.0, 3.0]""",
    ),
}
MEANT = {
    "a target of one's own": "loss = tf.nn.l2_loss(w * x - (1.0 + 0.9 * (w * x).numpy()))",
    "an advantage": "loss = tf.reduce_sum(tf.math.log(w) * (x - float(tf.reduce_mean(w))))",
    "a scale": "loss = tf.reduce_sum(tf.sin(w) / np.linalg.norm(w.numpy()))",
    "a largest value": "loss = tf.math.log(tf.reduce_sum(tf.exp(w - w.numpy().max())))",
    "old weights": "loss = tf.nn.l2_loss(w * x) + tf.nn.l2_loss(w - tf.constant(w) * 0.5)",
    "a log": "loss = tf.reduce_sum(tf.square(w)); print(float(loss), np.mean(w.numpy()))",
}


@pytest.mark.parametrize(("program", "expected"), LOST.values(), ids=list(LOST))
def test_a_lost_term(program: str, expected: str) -> None:
    (finding,) = diagnose(PREAMBLE + program).findings.values()
    head, said, *rest = sketch(finding).splitlines()
    assert "\n".join([head, *rest]) == expected
    text = finding.place.text if finding.place is not None else ""
    assert said == (
        f"likely: `{text}` is a constant to the tape, so this part of `loss` adds nothing to the "
        "gradient of `w`."
    )


@pytest.mark.parametrize("line", MEANT.values(), ids=list(MEANT))
def test_a_constant_that_is_meant(line: str) -> None:
    program = f"""\
w, x = tf.Variable([1.0, 2.5]), tf.constant([0.5, 1.5])
with tf.GradientTape() as tape:
    {line}
grad = tape.gradient(loss, w)
"""
    session = diagnose(PREAMBLE + program)
    assert session.history.gradients == 1
    assert [sketch(f) for f in session.findings.values()] == []
