"""What TensorFlow's top level has around its ops: device names, loggers, conversions, creators."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .. import dtypes
from ..arrays.tensor_array import TensorArray
from ..framework import convert, variable
from ..framework.name_scopes import get_name_scope
from ..framework.shapes import TensorShape, TypeSpec


def get_logger() -> logging.Logger:
    """The logger that gradtape's warnings go to."""
    return logging.getLogger("gradtape")


def get_current_name_scope() -> str:
    """The names of the scopes that are open here, joined by `/`.

    >>> import gradtape as tf
    >>> with tf.name_scope("layer"):
    ...     tf.get_current_name_scope()
    'layer'
    """
    return get_name_scope()


def no_gradient(op_type: str) -> None:
    """Declares an op without a gradient: nothing to do, as ops are declared in gradtape alone."""
    if not isinstance(op_type, str):
        raise TypeError("op_type must be a string")


class AggregationMethod:
    """How gradients that meet are added: always one after the other."""

    ADD_N = 0
    DEFAULT = ADD_N
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


# --- conversions and creators ---------------------------------------------------------------------
def register_tensor_conversion_function(
    base_type: Any, conversion_func: Callable[..., Any], priority: int = 100
) -> None:
    """Let `conversion_func(value, dtype, name, as_ref)` make tensors of objects of a type.

    >>> import gradtape as tf
    >>> class Celsius:
    ...     degrees = 20.0
    >>> def kelvin(value, dtype=None, name=None, as_ref=False):
    ...     return tf.constant(value.degrees + 273.15, dtype)
    >>> tf.register_tensor_conversion_function(Celsius, kelvin)
    >>> tf.math.round(Celsius())
    <tf.Tensor: shape=(), dtype=float32, numpy=293.0>
    """
    types = base_type if isinstance(base_type, tuple) else (base_type,)
    if not all(isinstance(kind, type) for kind in types):
        raise TypeError(
            f"Argument `base_type` must be a type or a tuple of types. Obtained: {base_type}"
        )
    if any(issubclass(kind, (int, float, complex, np.generic, np.ndarray)) for kind in types):
        raise TypeError(
            "Cannot register conversions for Python numeric types and NumPy scalars and arrays."
        )
    if not callable(conversion_func):
        raise TypeError(f"Argument `conversion_func` must be callable. Received {conversion_func}.")
    convert.REGISTERED.append((priority, types, conversion_func))
    convert.REGISTERED.sort(key=lambda entry: entry[0])


@contextmanager
def variable_creator_scope(variable_creator: Callable[..., Any]) -> Iterator[None]:
    """Within it, `variable_creator(next_creator, **kwargs)` makes the variables.

    >>> import gradtape as tf
    >>> def frozen(next_creator, **kwargs):
    ...     return next_creator(**{**kwargs, "trainable": False})
    >>> with tf.variable_creator_scope(frozen):
    ...     v = tf.Variable(1.0)
    >>> v.trainable
    False
    """
    variable.creators.append(variable_creator)
    try:
        yield
    finally:
        variable.creators.remove(variable_creator)


# --- descriptions ---------------------------------------------------------------------------------
class TensorArraySpec(TypeSpec):
    """The dtype of a TensorArray and the shape of its entries."""

    __slots__ = ("_dtype", "_dynamic_size", "_infer_shape", "_shape")

    def __init__(
        self, element_shape: Any = None, dtype: Any = dtypes.float32, dynamic_size: bool = False,
        infer_shape: bool = True,
    ) -> None:  # fmt: skip
        self._shape, self._dtype = TensorShape(element_shape), dtypes.as_dtype(dtype)
        self._dynamic_size, self._infer_shape = dynamic_size, infer_shape

    @property
    def value_type(self) -> type:
        return TensorArray

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._dynamic_size, self._infer_shape

    @property
    def _component_specs(self) -> Any:
        return []

    def _to_components(self, value: Any) -> Any:
        return [value.stack()]

    def _from_components(self, components: Any) -> Any:
        made = TensorArray(self._dtype, size=len(components[0]), dynamic_size=self._dynamic_size)
        return made.unstack(components[0])

    @staticmethod
    def from_value(value: Any) -> TensorArraySpec:
        """The description of a TensorArray."""
        return TensorArraySpec(value.element_shape, value.dtype)


class DeviceSpec:
    """The parts of a device's name.

    >>> import gradtape as tf
    >>> tf.DeviceSpec.from_string("/job:worker/gpu:1").to_string()
    '/job:worker/device:GPU:1'
    """

    _FIELDS = ("job", "replica", "task", "device_type", "device_index")

    def __init__(
        self, job: Any = None, replica: Any = None, task: Any = None, device_type: Any = None,
        device_index: Any = None,
    ) -> None:  # fmt: skip
        self._parts = (
            job,
            None if replica is None else int(replica),
            None if task is None else int(task),
            device_type.upper() if device_type in ("cpu", "gpu") else device_type,
            None if device_index is None else int(device_index),
        )

    @classmethod
    def from_string(cls, spec: str) -> DeviceSpec:
        """Of a name such as "/job:ps/replica:0/task:0/device:CPU:0"."""
        found: dict[str, Any] = {}
        for part in spec.split("/"):
            key, *rest = part.split(":")
            if not part:
                continue
            if key in ("job", "replica", "task") and len(rest) == 1:
                found[key] = rest[0]
            elif key.upper() in ("CPU", "GPU") and len(rest) <= 1:
                found["device_type"] = key.upper()
                found["device_index"] = rest[0] if rest and rest[0] != "*" else None
            elif key == "device" and rest:
                found["device_type"] = rest[0]
                found["device_index"] = rest[1] if len(rest) > 1 and rest[1] != "*" else None
            else:
                raise ValueError(
                    f"Unknown attribute '{key}' is encountered while parsing the device spec: "
                    f"'{spec}'."
                )
        return cls(**found)

    def parse_from_string(self, spec: str) -> DeviceSpec:
        """A new one, of a name."""
        return self.from_string(spec)

    def make_merged_spec(self, dev: DeviceSpec) -> DeviceSpec:
        """A new one with the parts of `dev` and, where it has none, of this one."""
        pairs = zip(dev._parts, self._parts, strict=True)
        return DeviceSpec(*[own if theirs is None else theirs for theirs, own in pairs])

    def replace(self, **kwargs: Any) -> DeviceSpec:
        """A new one with some other parts."""
        return DeviceSpec(**{**dict(zip(self._FIELDS, self._parts, strict=True)), **kwargs})

    def to_string(self) -> str:
        """The name."""
        job, replica, task, kind, index = self._parts
        text = "" if job is None else f"/job:{job}"
        text += "" if replica is None else f"/replica:{replica}"
        text += "" if task is None else f"/task:{task}"
        if kind is not None:
            text += f"/device:{kind}:{'*' if index is None else index}"
        return text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeviceSpec) and self._parts == other._parts

    def __hash__(self) -> int:
        return hash(self._parts)

    def __repr__(self) -> str:
        pairs = zip(self._FIELDS, self._parts, strict=True)
        return f"<DeviceSpec({', '.join(f'{name}={part}' for name, part in pairs)})>"

    job = property(lambda self: self._parts[0])
    replica = property(lambda self: self._parts[1])
    task = property(lambda self: self._parts[2])
    device_type = property(lambda self: self._parts[3])
    device_index = property(lambda self: self._parts[4])
