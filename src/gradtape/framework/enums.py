"""The small sets of choices in TensorFlow's API."""

from __future__ import annotations

import enum


class UnconnectedGradients(enum.Enum):
    """What `gradient` answers for a source without a path to the target."""

    NONE = "none"
    ZERO = "zero"


class VariableSynchronization(enum.Enum):
    """How the copies of a variable are kept alike (there is one copy here)."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation(enum.Enum):
    """How the copies of a variable are combined (there is one copy here)."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3
