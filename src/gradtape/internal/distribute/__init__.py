"""`tf.__internal__.distribute`: what optimizers ask of strategies."""

from ...framework.namespaces import lookup
from . import interim as interim

__getattr__ = lookup(__name__)

__all__ = ["interim", "strategy_supports_no_merge_call"]


def strategy_supports_no_merge_call() -> bool:
    """Yes: with one replica there is nothing to merge."""
    return True
