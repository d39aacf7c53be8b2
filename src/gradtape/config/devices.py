"""The devices that `tf.config` lists: one CPU."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

PhysicalDevice = namedtuple("PhysicalDevice", ["name", "device_type"])
LogicalDevice = namedtuple("LogicalDevice", ["name", "device_type"])


class LogicalDeviceConfiguration:
    """How to divide a physical device."""

    def __init__(
        self,
        memory_limit: Any = None,
        experimental_priority: Any = None,
        experimental_device_ordinal: Any = None,
    ) -> None:
        self.memory_limit = memory_limit
        self.experimental_priority = experimental_priority
        self.experimental_device_ordinal = experimental_device_ordinal


CPU = PhysicalDevice("/physical_device:CPU:0", "CPU")


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices of a kind, or all: there is one CPU."""
    return [CPU] if device_type in (None, "CPU") else []


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """The devices that ops can be placed on."""
    return [LogicalDevice("/device:CPU:0", "CPU")] if device_type in (None, "CPU") else []


def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices that may be used."""
    return list_physical_devices(device_type)


def set_visible_devices(devices: Any, device_type: str | None = None) -> None:
    """Hide devices: there are only some to hide that are not there."""
    chosen = list(devices) if isinstance(devices, list) else [devices]
    for device in chosen:
        if device != CPU:
            raise ValueError(f"Unrecognized device: {device!r}")
    if not chosen and device_type in (None, "CPU"):
        raise RuntimeError("Visible devices cannot be modified after being initialized")


def get_logical_device_configuration(device: Any) -> None:
    """How a device is divided: it is not."""
    _known(device)


def set_logical_device_configuration(device: Any, logical_devices: Any) -> None:
    """Divide a device.

    Differs from TensorFlow: there is one CPU, and it stays one.
    """
    _known(device)
    if len(logical_devices) != 1:
        raise RuntimeError("gradtape computes on one logical CPU: it cannot be divided.")


def _known(device: Any) -> None:
    if device != CPU:
        raise ValueError(f"Unrecognized device: {device!r}")
