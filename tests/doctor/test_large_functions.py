"""Of a large function, some calls are played once more on gradtape: faults are found as before."""

import pytest

from gradtape.doctor.engines.gradtape import rarely

from .programs import PREAMBLE, diagnose, sketch

TRAINING = (
    PREAMBLE
    + """\
rng = np.random.RandomState(0)
kernel = tf.Variable(rng.randn(8, 8).astype("float32") * 0.1)
x = tf.constant(rng.randn(32, 8).astype("float32"))
@tf.function
def step(rate):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.tanh(x @ kernel) ** 2)
    kernel.assign_sub(rate * tape.gradient(loss, kernel))
    return loss
for k in range(40):
    step(tf.constant(RATE))
"""
)


@pytest.fixture(params=["each call", "some calls"])
def some(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Is the function taken for a large one?"""
    large = request.param == "some calls"
    monkeypatch.setattr(rarely, "LARGE", 1 if large else 1 << 60)
    return large


def test_sound_calls_are_counted_and_some_of_them_judged(some: bool) -> None:
    session = diagnose(TRAINING.replace("RATE", "0.01"))
    (record,) = session.history.records.values()
    assert record.steps == 40
    # The first three, and one of sixteen.
    assert record.checked == (5 if some else 40)
    assert record.lines[0].states == {"ok": 40}
    assert not session.findings


def test_a_fault_that_the_call_before_left_behind_is_found_there(some: bool) -> None:
    session = diagnose(TRAINING.replace("RATE", "np.float32(np.inf if k == 21 else 0.01)"))
    (record,) = session.history.records.values()
    assert record.steps == 40
    (finding,) = session.findings.values()
    # It shows in the step after the one with the infinite rate.
    assert finding.state == "nan"
    assert finding.steps[0] == 23
    assert finding.place is not None
    assert "np.inf if k == 21" in finding.place.text


FAILING = (
    PREAMBLE
    + """\
weights = [tf.Variable(tf.ones([SIZE])), tf.Variable(tf.ones([2]))]
x = tf.fill([SIZE], 0.5)
@tf.function
def train(weights):
    for step in range(2):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.tanh(x * weights[0])) + tf.reduce_sum(weights[1])
        grads = tape.gradient(loss, weights)
        weights = [w - 0.1 * g for w, g in zip(weights, grads)]
train(weights)
"""
)


@pytest.mark.parametrize("size", [8, 1 << 15])
def test_a_recording_that_fails_behind_a_query_is_explained_at_any_size(size: int) -> None:
    session = diagnose(FAILING.replace("SIZE", str(size)))
    (finding,) = session.findings.values()
    first = "GT116 variable-rebound: none of weights[0], weights[1], line 11: `w - 0.1 * g`"
    assert sketch(finding).splitlines()[0] == first
