"""For tests of programs that learn: gradients must arrive, and if one does not, the reason is told.

With pytest, `--gradtape-doctor` looks at every gradient that a test asks for, without any change
to the tests; see `gradtape.testing.plugin`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["assert_gradients_flow"]

BROKEN = {"none": "missing (None)", "zero": "all zeros", "nan": "not a number", "inf": "infinite"}


def assert_gradients_flow(loss_fn: Callable[[], Any], variables: Any) -> Any:
    """Run a loss under a tape and return its gradients; fail, with the reasons, if one is broken.

    Broken is a gradient that is missing (None), all zeros, or not finite. `variables` is a list or
    any other structure of variables, or of tensors, which are watched; the gradients have the same.

    >>> import gradtape as tf
    >>> from gradtape.testing import assert_gradients_flow
    >>> w = tf.Variable([1.0, 2.0])
    >>> assert_gradients_flow(lambda: tf.reduce_sum(w * w), w)
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([2., 4.], dtype=float32)>
    """
    from .. import doctor, nest
    from ..autodiff.tape import GradientTape
    from ..framework.variable import Variable

    __tracebackhide__ = True  # pytest shows the test's line, and the report
    with doctor.watch() as report:
        with GradientTape() as tape:
            tape.watch([v for v in nest.flatten(variables) if not isinstance(v, Variable)])
            loss = loss_fn()
        gradients = tape.gradient(loss, variables)
    lines = [line for record in report.history.records.values() for line in record.lines]
    broken = [f"`{line.name}` is {BROKEN[line.state]}" for line in lines if line.state in BROKEN]
    if broken:
        raise AssertionError(f"the gradient of {', of '.join(broken)}\n\n{report.to_text()}")
    return gradients
