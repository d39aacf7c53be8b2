"""GT104 python-scalar: the value became a Python number and came back as a constant."""

from __future__ import annotations

from ...facts.case import Case
from ...facts.graph import Cut
from .left_the_tape import TakenOut, advice


class PythonScalar(TakenOut):
    scalar = True
    code, name = "GT104", "python-scalar"
    title = "float(), .item() or a function of math made a plain number of the tensor"
    lesson = """\
`float(x)`, `int(x)`, `x.numpy().item()` and `math.exp(x)` give Python numbers, which carry no
history: to a tape they are constants, and a number cannot be a target at all. Keep the tensor
for the tape, and take the number where it is printed or stored: `losses.append(float(loss))`
after the gradient."""
    failing = """\
theta = tf.Variable([0.5, -1.0])
with tf.GradientTape() as tape:
    energy = float(tf.reduce_sum(theta * theta))
grad = tape.gradient(energy, theta)
"""
    cured = """\
theta = tf.Variable([0.5, -1.0])
with tf.GradientTape() as tape:
    energy = tf.reduce_sum(theta * theta)
grad = tape.gradient(energy, theta)
print(float(energy))
"""
    ignore = """\
When the number is a constant on purpose, such as a threshold or a temperature that is not
trained."""

    def message(self, case: Case, cut: Cut) -> str:
        text, back = cut.place.text.splitlines()[0], cut.event.back
        if case.answer.state == "error":
            return (
                f"`{text}` turns the tensor into a Python number, so `{case.query.target_name}` "
                "has no history."
            )
        if back is None or back.contains(cut.place):
            return f"`{text}` turns the tensor into a Python number, a constant to the tape."
        return (
            f"`{text}` turns the tensor into a Python number, so line {back.line} gets a constant."
        )

    def fix(self, case: Case, cut: Cut) -> str:
        return advice(cut) + ", and convert to a number only to print or store it"


RULE = PythonScalar()
