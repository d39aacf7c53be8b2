"""The names of this namespace; written by `python -m tests.stubs` from `_HOMES`."""

from . import experimental as experimental
from .averages import ExponentialMovingAverage as ExponentialMovingAverage
from .checkpoint import Checkpoint as Checkpoint, CheckpointOptions as CheckpointOptions
from .manager import (
    CheckpointManager as CheckpointManager, checkpoints_iterator as checkpoints_iterator,
    get_checkpoint_state as get_checkpoint_state, latest_checkpoint as latest_checkpoint,
)  # fmt: skip
from .reading import (
    list_variables as list_variables, load_checkpoint as load_checkpoint, load_variable as
    load_variable,
)  # fmt: skip
