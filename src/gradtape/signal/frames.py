"""Signals cut into frames that may overlap, and put together again."""

from __future__ import annotations

from typing import Any

from .. import errors
from ..framework import convert
from ..framework.arguments import number
from ..ops import fourier as ops
from ..ops.pad import pad_with
from ..ops.shape import transpose
from .fourier import at_least


def frame(
    signal: Any, frame_length: Any, frame_step: Any, pad_end: bool = False, pad_value: Any = 0,
    axis: Any = -1, name: Any = None,
) -> Any:  # fmt: skip
    """The axis of samples cut into frames: two axes, of the frames and of the samples in each.

    >>> import gradtape as tf
    >>> tf.signal.frame([1, 2, 3, 4, 5], frame_length=3, frame_step=2).numpy().tolist()
    [[1, 2, 3], [3, 4, 5]]
    """
    x = convert.to_tensor(signal)
    at_least(x, 1)
    length, step = _steps(frame_length, frame_step, bool(pad_end))
    rank = x._value.ndim
    place = range(rank)[scalar(axis, "axis")]
    if place != rank - 1:
        x = transpose.apply(x, axes=(*range(place), *range(place + 1, rank), place))
    if pad_end:
        x = _padded(x, length, step, pad_value)
    size = x._value.shape[-1]
    count = 1 + (size - length) // step
    if step < 0 and count > 0 and (count > 1 or length > size):
        raise errors.invalid(
            f"frames of {length} samples at every {step} reach beyond the {size} samples there are "
            "[Op:GatherV2] name: "
        )
    frames = ops.frame.apply(x, length=length, step=step)
    if place != rank - 1:
        back = (*range(place), rank - 1, rank, *range(place, rank - 1))
        frames = transpose.apply(frames, axes=back)
    return frames


def _steps(frame_length: Any, frame_step: Any, padded: bool) -> tuple[int, int]:
    """Length and step of frames, which TensorFlow takes in one dtype only."""
    length, step = _count(frame_length, "frame_length"), _count(frame_step, "frame_step")
    own, other = (convert.to_tensor(v)._value.dtype for v in (frame_length, frame_step))
    op = "AddV2" if padded else "FloorDiv"
    if step == 0:
        raise errors.invalid(f"Integer division by zero: frame_step is 0 [Op:{op}] name: ")
    if own != other:
        raise errors.wrong_dtype(
            f"cannot compute {op} as input #1(zero-based) was expected to be a {own} tensor but is "
            f"a {other} tensor: frame_length and frame_step are of one dtype [Op:{op}] name: "
        )
    if step < 0 and padded:
        raise errors.invalid(f"Requires start <= limit: frame_step is {step} [Op:Range] name: ")
    return length, step


def _padded(x: Any, length: int, step: int, pad_value: Any) -> Any:
    """With what is missing to the last frame that begins within the signal."""
    fill = convert.to_tensor(pad_value, x._value.dtype)
    if fill._value.ndim:
        raise ValueError(f"Shape {fill.shape} must have rank 0: pad_value is one number.")
    size = x._value.shape[-1]
    more = max(0, length + step * (-(-size // step) - 1) - size)
    pads = ((0, 0),) * (x._value.ndim - 1) + ((0, more),)
    return pad_with.apply(x, fill, pads=pads)


def overlap_and_add(signal: Any, frame_step: Any, name: Any = None) -> Any:
    """The signal that frames make when each begins `frame_step` samples after the one before.

    >>> import gradtape as tf
    >>> tf.signal.overlap_and_add([[1, 2, 3], [10, 20, 30]], frame_step=2).numpy().tolist()
    [1, 2, 13, 20, 30]
    """
    x = convert.to_tensor(signal)
    at_least(x, 2)
    step = _count(frame_step, "frame_step", ValueError)
    frames, length = x._value.shape[-2:]
    if step == 0:
        raise errors.invalid("Paddings must be non-negative: frame_step is 0 [Op:Pad] name: ")
    return ops.overlap.apply(x, step=step, size=max(0, length + step * (frames - 1)))


def _count(value: Any, argument: str, error: Any = errors.invalid) -> int:
    array = convert.to_tensor(value)._value
    if array.dtype.kind not in "iu":
        raise error(f"{argument} must be an integer. Got {value!r}")
    return scalar(array, argument)


def scalar(value: Any, argument: str) -> int:
    """A whole number without axes."""
    array = convert.to_tensor(value)._value
    if array.ndim:
        raise ValueError(f"Shape {array.shape} must have rank 0: {argument} is one number.")
    return number(array)
