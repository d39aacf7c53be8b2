"""`tf.config`: one CPU, and settings that are accepted and remembered."""

from __future__ import annotations

from ..framework.namespaces import lookup
from . import experimental, optimizer, threading
from .devices import (
    LogicalDevice,
    LogicalDeviceConfiguration,
    PhysicalDevice,
    get_logical_device_configuration,
    get_visible_devices,
    list_logical_devices,
    list_physical_devices,
    set_logical_device_configuration,
    set_visible_devices,
)  # fmt: skip

__getattr__ = lookup(__name__)

__all__ = [
    "LogicalDevice", "LogicalDeviceConfiguration", "PhysicalDevice", "experimental",
    "experimental_functions_run_eagerly", "experimental_run_functions_eagerly",
    "functions_run_eagerly", "get_logical_device_configuration", "get_soft_device_placement",
    "get_visible_devices", "list_logical_devices", "list_physical_devices", "optimizer",
    "run_functions_eagerly", "set_logical_device_configuration", "set_soft_device_placement",
    "set_visible_devices", "threading",
]  # fmt: skip

_settings = {"eagerly": False, "soft": True}


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Whether `tf.function` is to run plain Python."""
    _settings["eagerly"] = bool(run_eagerly)


def functions_run_eagerly() -> bool:
    """The last setting."""
    return _settings["eagerly"]


experimental_run_functions_eagerly = run_functions_eagerly
experimental_functions_run_eagerly = functions_run_eagerly


def set_soft_device_placement(enabled: bool) -> None:
    """Accepted: every op runs on the CPU."""
    _settings["soft"] = bool(enabled)


def get_soft_device_placement() -> bool:
    """The last setting."""
    return _settings["soft"]
