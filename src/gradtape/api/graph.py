"""Names from TensorFlow's graphs and devices, which eager code passes through without effect."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Any, NoReturn

from ..autodiff.custom import suspended
from ..core import apply
from ..core.record import threads


def executing_eagerly() -> bool:
    """Whether code runs as it is read: yes, but in a function that is being recorded."""
    return threads.recording is None


def inside_function() -> bool:
    """Whether a function is being recorded."""
    return threads.recording is not None


def is_symbolic_tensor(tensor: Any) -> bool:
    """Whether a tensor belongs to a function that is being recorded."""
    return type(getattr(tensor, "_value", None)) is apply.Traced is not None


def no_op(name: str | None = None) -> None:
    """Do nothing."""


def group(*inputs: Any, **kwargs: Any) -> None:
    """Wait for all inputs: they are computed already."""
    kwargs.pop("name", None)
    if kwargs:
        raise ValueError(f"Unknown keyword arguments: {', '.join(kwargs)}.")


def tuple(tensors: Any, control_inputs: Any = None, name: str | None = None) -> list:
    """The tensors, once all of them are computed."""
    # As TensorFlow, which looks at nothing where ops run at once.
    return tensors


@contextlib.contextmanager
def nothing() -> Iterator[None]:
    """A block like any other."""
    yield


def control_dependencies(control_inputs: Any) -> Any:
    """A block whose ops run after these: they have run."""
    if callable(control_inputs):
        control_inputs()
    elif control_inputs is not None:
        iter(control_inputs)
    return nothing()


@contextlib.contextmanager
def init_scope() -> Iterator[None]:
    """A block outside of every function; tapes pause in it, as TensorFlow's do."""
    with suspended():
        yield


_PART = re.compile(
    r"(job:\w+|replica:(\d+|\*)|task:(\d+|\*)|(device:)?(CPU|GPU|TPU|XLA_CPU|XLA_GPU)(:(\d+|\*))?)",
    re.IGNORECASE,
)


class device:
    """A block whose ops run on a device: every one here runs on the CPU.

    Differs from TensorFlow: a device that is not there is no error; the CPU computes.
    """

    def __init__(self, device_name: Any) -> None:
        if callable(device_name):
            raise RuntimeError("tf.device does not support functions.")
        self._name = device_name

    def __enter__(self) -> None:
        name = self._name
        if name is None:
            return
        name = name.to_string() if hasattr(name, "to_string") else getattr(name, "name", name)
        if not isinstance(name, str):
            raise ValueError(f"Expecting a string device name. Got {type(name)}({name})")
        for part in name.split("/"):
            if part and not _PART.fullmatch(part):
                raise ValueError(
                    f"Unknown attribute '{part}' is encountered while parsing the device spec: "
                    f"'{name}'."
                )

    def __exit__(self, *exception: Any) -> None:
        pass


class Graph:
    """TensorFlow's graph of ops, which gradtape does not build.

    Differs from TensorFlow: it can be made, not entered.
    """

    def as_default(self) -> NoReturn:
        raise NotImplementedError(
            "gradtape runs eagerly and builds no tf.Graph: call the code directly, or decorate it "
            "with @tf.function."
        )


def hessians(
    ys: Any, xs: Any, gate_gradients: bool = False, aggregation_method: Any = None,
    name: str = "hessians",
) -> NoReturn:  # fmt: skip
    """Graphs only."""
    raise RuntimeError(
        "tf.hessians is not supported when eager execution is enabled. Use tf.GradientTape: "
        "tape.jacobian of a gradient."
    )
