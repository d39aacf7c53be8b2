"""`tf.config.experimental`: settings of devices, mostly of those that are not there."""

from __future__ import annotations

import types
from typing import Any, NoReturn

from ..framework.namespaces import lookup
from .devices import (
    LogicalDeviceConfiguration,
    get_logical_device_configuration,
    get_visible_devices,
    list_logical_devices,
    list_physical_devices,
    set_logical_device_configuration,
    set_visible_devices,
)  # fmt: skip

__getattr__ = lookup(__name__)

__all__ = [
    "VirtualDeviceConfiguration", "enable_op_determinism", "enable_tensor_float_32_execution",
    "get_device_details", "get_device_policy", "get_memory_growth", "get_memory_info",
    "get_memory_usage", "get_synchronous_execution", "get_virtual_device_configuration",
    "get_visible_devices", "list_logical_devices", "list_physical_devices", "reset_memory_stats",
    "set_device_policy", "set_memory_growth", "set_synchronous_execution",
    "set_virtual_device_configuration", "set_visible_devices",
    "tensor_float_32_execution_enabled",
]  # fmt: skip

VirtualDeviceConfiguration = LogicalDeviceConfiguration
get_virtual_device_configuration = get_logical_device_configuration
set_virtual_device_configuration = set_logical_device_configuration

_settings = types.SimpleNamespace(
    tensor_float=True, synchronous=True, policy="silent", determinism=False
)


def set_memory_growth(device: Any, enable: bool) -> NoReturn:
    """Memory growth is a setting of GPUs."""
    raise ValueError("Cannot set memory growth on non-GPU and non-Pluggable devices")


def get_memory_growth(device: Any) -> NoReturn:
    """Memory growth is a setting of GPUs."""
    raise KeyError(device)


def get_device_details(device: Any) -> dict[str, Any]:
    """What is known of a device: of the CPU nothing."""
    return {}


def get_memory_info(device: str) -> NoReturn:
    """The memory that a device has in use."""
    raise ValueError(f"Allocator stats not available for device '{device}'")


get_memory_usage = reset_memory_stats = get_memory_info


def enable_op_determinism() -> None:
    """Accepted: the ops are deterministic."""
    _settings.determinism = True


def disable_op_determinism() -> None:
    """Only what is asked for is forgotten."""
    _settings.determinism = False


def is_op_determinism_enabled() -> bool:
    """Whether it was asked for."""
    return _settings.determinism


def enable_tensor_float_32_execution(enabled: bool) -> None:
    """Accepted: a setting of GPUs."""
    _settings.tensor_float = bool(enabled)


def tensor_float_32_execution_enabled() -> bool:
    """The last setting."""
    return _settings.tensor_float


def get_synchronous_execution() -> bool:
    """The last setting."""
    return _settings.synchronous


def set_synchronous_execution(enable: bool) -> None:
    """Accepted: ops are done when they return."""
    _settings.synchronous = True if enable is None else bool(enable)


def get_device_policy() -> str:
    """The last setting."""
    return _settings.policy


def set_device_policy(device_policy: str | None) -> None:
    """Accepted: nothing is copied between devices."""
    if device_policy not in (None, "explicit", "warn", "silent", "silent_for_int32"):
        raise ValueError(f"Invalid argument `device_policy`: {device_policy!r}.")
    _settings.policy = device_policy or "silent"
