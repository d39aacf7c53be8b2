"""`tf.config.optimizer`: settings of TensorFlow's graph optimizer, accepted and remembered."""

from __future__ import annotations

from typing import Any

from ..framework.namespaces import lookup

__getattr__ = lookup(__name__)

_options: dict[str, Any] = {"disable_model_pruning": False, "disable_meta_optimizer": False}
_jit: list[str] = [""]


def get_jit() -> str:
    """The last setting."""
    return _jit[0]


def set_jit(enabled: bool | str) -> None:
    """Accepted and remembered, without effect."""
    if enabled not in (True, False, "autoclustering"):
        raise ValueError("enabled must be one of (True, False, 'autoclustering')")
    _jit[0] = "autoclustering" if enabled else ""


def get_experimental_options() -> dict[str, Any]:
    """The last settings."""
    return dict(_options)


def set_experimental_options(options: dict[str, Any]) -> None:
    """Accepted and remembered, without effect."""
    _options.update(options)
