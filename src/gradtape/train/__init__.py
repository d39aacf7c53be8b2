"""`tf.train`: checkpoints, and the moving averages of variables."""

from ..framework.namespaces import namespace

_HOMES = {
    "averages": "ExponentialMovingAverage",
    "checkpoint": "Checkpoint CheckpointOptions",
    "manager": """
        CheckpointManager checkpoints_iterator get_checkpoint_state latest_checkpoint""",
    "reading": "list_variables load_checkpoint load_variable",
    "": "experimental",  # modules
}
__getattr__, __dir__, __all__ = namespace(__name__, _HOMES)
