"""Who moves a variable: the optimizer that takes the steps, or an update of the user's own."""

from __future__ import annotations

from ..trace import Trace, Variable
from ..trace.training import Optimisation

# Optimizers whose step is about the learning rate, however small the gradient is.
EVEN = frozenset({"Adam", "AdamW", "Adamax", "Nadam", "RMSprop"})


def optimizer(trace: Trace, variable: Variable | None) -> Optimisation | None:
    """The optimizer of a library's that moves a variable."""
    if trace.steps is None or variable is None:
        return None
    own = id(variable.owner)
    return next((known for known in trace.steps.known if own in known.variables), None)
