"""Engine adapters: each fills the neutral trace from one framework's run."""

from __future__ import annotations

from typing import Any

from ..facts import recompute


def _gradtape() -> Any:
    """Lines of NumPy are computed again on gradtape's own tape, whichever engine ran them."""
    try:
        import gradtape
    except ImportError as error:
        raise recompute.Unknown("gradtape's engine is not installed") from error
    return gradtape


recompute.recorder = _gradtape
