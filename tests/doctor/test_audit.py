"""The audit finds gradients that are not the derivative; kinks, draws and rounding are let be."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from gradtape.core.op import registry
from gradtape.ops.declare import elementwise

from .programs import PREAMBLE, diagnose, sketch

ON_PURPOSE = {
    "reversed": "return tf.identity(x), lambda g: -g",
    "scaled": "return tf.identity(x), lambda g: 0.1 * g",
    "clipped": "return tf.identity(x), lambda g: tf.clip_by_value(g, -0.01, 0.01)",
    "a step with a derivative": "return tf.cast(x > 0.7, tf.float32), lambda g: g * tf.sigmoid(x)",
    "guided": "return tf.nn.relu(x), lambda g: tf.nn.relu(g) * tf.cast(x > 0.0, tf.float32)",
}
PROGRAM = """\
@tf.custom_gradient
def changed(x):
    {body}

w = tf.Variable([0.5, -1.5, 2.0])
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(tf.sin(changed(w * 1.5)) * [-1.0, 2.0, -3.0])
grad = tape.gradient(loss, w)
"""
QUIET = {
    "kinks": """\
x = tf.Variable([0.0, 1.0, 1.0, -2.0])
with tf.GradientTape() as tape:
    y = tf.nn.relu(x) + tf.abs(x) + tf.maximum(x, 1.0) + tf.reduce_max(x)
    loss = tf.reduce_sum(y) + tf.reduce_sum(tf.clip_by_value(x, -1.0, 1.0) + tf.sign(x))
grad = tape.gradient(loss, x)
""",
    "draws": """\
w = tf.Variable(tf.ones([50, 4]))
with tf.GradientTape() as tape:
    noisy = tf.nn.dropout(w * 2.0, 0.3) + tf.random.normal([50, 4])
    alpha = tf.nn.softplus(w[0])
    loss = tf.reduce_sum(tf.square(noisy)) + tf.reduce_sum(tf.random.gamma([3], alpha))
grad = tape.gradient(loss, w)
""",
    "draws and NumPy under a gradient of their own": """\
@tf.custom_gradient
def sine(x):
    return tf.constant(np.sin(x.numpy())), lambda g: g * tf.cos(x)

tf.random.set_seed(38)
w = tf.Variable(tf.ones([4]))
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(sine(w)) + 5.0 * tf.reduce_sum(tf.random.gamma([3], tf.nn.softplus(w)))
grad = tape.gradient(loss, w)
""",
    "state": """\
w, seen = tf.Variable([1.0, 2.0]), tf.Variable(0.0)
for _ in range(3):
    with tf.GradientTape() as tape:
        seen.assign_add(tf.reduce_sum(w))
        loss = tf.reduce_sum(w * w) * seen
    w.assign_sub(0.001 * tape.gradient(loss, w))
""",
    "constants from NumPy, stopped parts, rounding": """\
w = tf.Variable([1.2, -0.7])
with tf.GradientTape() as tape:
    scale = np.linalg.norm(w.numpy())
    loss = tf.reduce_sum(w / scale) + tf.reduce_sum(tf.stop_gradient(w) * w * tf.round(w))
grad = tape.gradient(loss, w)
""",
    # Nearer to 0 the gradient is lost in rounding, and GT406 says so.
    "cancellation in float32": """\
x = tf.Variable([1e-2, 2e-2])
with tf.GradientTape() as tape:
    loss = tf.reduce_sum((1.0 - tf.cos(x)) / tf.square(x))
grad = tape.gradient(loss, x)
""",
    "half precision": """\
x = tf.Variable(np.linspace(-1, 1, 8), dtype=tf.float16)
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(tf.tanh(tf.cast(x, tf.float32) * 3.0))
grad = tape.gradient(loss, x)
""",
    "rows, second derivatives, Jacobians": """\
table = tf.Variable(tf.reshape(tf.range(12.0), [6, 2]) / 10.0)
with tf.GradientTape(persistent=True) as outer:
    with tf.GradientTape() as tape:
        rows = tf.gather(table, [1, 3, 3])
        loss = tf.reduce_sum(tf.sin(rows) * rows)
    grad = tf.convert_to_tensor(tape.gradient(loss, table))
second = outer.gradient(grad, table)
rows = outer.jacobian(grad, table)
""",
}


@pytest.mark.parametrize("body", ON_PURPOSE.values(), ids=list(ON_PURPOSE))
def test_changed_gradients_are_reported_by_the_audit_only(body: str) -> None:
    program = PREAMBLE + PROGRAM.format(body=body)
    assert list(diagnose(program).findings) == []
    (finding,) = diagnose(program, audit=True).findings.values()
    assert (finding.code, finding.state, finding.sources) == ("GT504", "wrong", ["w"])
    assert finding.place is not None
    assert finding.place.text in body
    assert [place.text for place, _ in finding.also] == ["changed(w * 1.5)"]
    assert not finding.sure


@pytest.mark.parametrize("program", QUIET.values(), ids=list(QUIET))
def test_what_is_right_is_left_alone(program: str) -> None:
    session = diagnose(PREAMBLE + program, audit=True)
    assert session.history.gradients
    assert [sketch(f) for f in session.findings.values()] == []


@pytest.fixture
def wrong_sine() -> Iterator[None]:
    elementwise("wrong_sine", np.sin, lambda g, a: g * np.sin(a))
    yield
    del registry["wrong_sine"]


def test_a_derivative_that_tensorflow_has_wrong() -> None:
    program = """\
x = tf.Variable([2.0, 0.0, 3.0])
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(tf.math.cumprod(x) * [1.0, 2.0, 3.0])
grad = tape.gradient(loss, x)
"""
    (finding,) = diagnose(PREAMBLE + program, audit=True).findings.values()
    assert finding.place is not None
    assert finding.place.text == "tf.math.cumprod(x)"
    assert finding.fix.endswith("the derivative of Cumprod is not right at these values")


def test_an_op_with_a_wrong_rule_is_found(wrong_sine: None) -> None:
    program = """\
w = tf.Variable([[0.3, -0.2], [0.8, 0.5]])
with tf.GradientTape() as tape:
    h = tf.tanh(w @ w)
    loss = tf.reduce_mean(tf.exp(sine.apply(h)) + h)
grad = tape.gradient(loss, w)
"""
    start = PREAMBLE + "from gradtape.core.op import registry\nsine = registry['wrong_sine']\n"
    (finding,) = diagnose(start + program, audit=True).findings.values()
    assert (finding.code, finding.state) == ("GT504", "wrong")
    assert finding.place is not None
    assert finding.place.text == "sine.apply(h)"
    assert "WrongSine" in finding.fix
