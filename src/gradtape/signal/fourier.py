"""Fourier transforms over the last one, two or three axes, or over any; and their shifts."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import errors
from ..arrays.reshaping import roll
from ..core.op import Op
from ..framework import convert
from ..framework.shapes import TensorShape
from ..ops import fourier as ops

_INT32 = np.dtype(np.int32)
_COMPLEX64, _FLOAT32 = np.dtype(np.complex64), np.dtype(np.float32)


# --- complex numbers ------------------------------------------------------------------------------
def fft(input: Any, name: Any = None) -> Any:
    """The discrete Fourier transform over the last axis.

    >>> import gradtape as tf
    >>> tf.signal.fft([1.0, 2.0, 3.0, 4.0]).numpy().tolist()
    [(10+0j), (-2+2j), (-2+0j), (-2-2j)]
    """
    return _last(ops.fft, input, 1, "FFT")


def ifft(input: Any, name: Any = None) -> Any:
    """What `fft` makes this of: the inverse over the last axis."""
    return _last(ops.ifft, input, 1, "IFFT")


def fft2d(input: Any, name: Any = None) -> Any:
    """The discrete Fourier transform over the last two axes."""
    return _last(ops.fft, input, 2, "FFT2D")


def ifft2d(input: Any, name: Any = None) -> Any:
    """What `fft2d` makes this of: the inverse over the last two axes."""
    return _last(ops.ifft, input, 2, "IFFT2D")


def fft3d(input: Any, name: Any = None) -> Any:
    """The discrete Fourier transform over the last three axes."""
    return _last(ops.fft, input, 3, "FFT3D")


def ifft3d(input: Any, name: Any = None) -> Any:
    """What `fft3d` makes this of: the inverse over the last three axes."""
    return _last(ops.ifft, input, 3, "IFFT3D")


def _last(op: Op, value: Any, rank: int, label: str) -> Any:
    x = complex_input(value, label)
    shape = x._value.shape
    if len(shape) < rank:
        raise errors.invalid(
            f"Input must have rank of at least {rank} but got: {list(shape)} [Op:{label}] name: "
        )
    return op.apply(x, lengths=shape[-rank:], axes=tuple(range(-rank, 0)), norm="backward")


def complex_input(value: Any, label: str) -> Any:
    """The tensor of complex numbers that an op takes."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "US":
        return convert.to_tensor(value.astype(_COMPLEX64))  # or NumPy's error
    if isinstance(value, float):
        return convert.to_tensor(value, _COMPLEX64)
    x = convert.to_tensor(value)
    # Arrays and Python's numbers become complex64, but Python's complex ones complex128.
    if isinstance(value, np.ndarray) or (
        not convert.is_tensor_like(value) and x._value.dtype.kind in "iuf"
    ):
        x = convert.to_tensor(value, hint=_COMPLEX64)
    elif value is True or value is False:
        raise convert.cannot(value, _COMPLEX64)
    if x._value.dtype.kind != "c":
        raise errors.invalid(
            f"Value for attr 'Tcomplex' of {convert.c_name(x._value.dtype)} is not in the list of "
            "allowed values: complex64, complex128; tf.cast(x, tf.complex64) makes one "
            f"[Op:{label}] name: "
        )
    return x


# --- real numbers: only the frequencies that are not mirrored -------------------------------------
def rfft(input_tensor: Any, fft_length: Any = None, name: Any = None) -> Any:
    """The Fourier transform of a real signal: the first n / 2 + 1 frequencies.

    >>> import gradtape as tf
    >>> tf.signal.rfft([1.0, 2.0, 3.0, 4.0]).numpy().tolist()
    [(10+0j), (-2+2j), (-2+0j)]
    """
    return _real(ops.rfft, input_tensor, fft_length, 1, "RFFT")


def rfft2d(input_tensor: Any, fft_length: Any = None, name: Any = None) -> Any:
    """The Fourier transform of a real image, of the last axis only half the frequencies."""
    return _real(ops.rfft, input_tensor, fft_length, 2, "RFFT2D")


def rfft3d(input_tensor: Any, fft_length: Any = None, name: Any = None) -> Any:
    """The Fourier transform over the last three axes of real numbers; it has no gradient."""
    return _real(ops.rfft3d, input_tensor, fft_length, 3, "RFFT3D")


def irfft(input_tensor: Any, fft_length: Any = None, name: Any = None) -> Any:
    """The real signal of which these are the frequencies that `rfft` gives."""
    return _half(ops.irfft, input_tensor, fft_length, 1, "IRFFT")


def irfft2d(input_tensor: Any, fft_length: Any = None, name: Any = None) -> Any:
    """The real image of which these are the frequencies that `rfft2d` gives."""
    return _half(ops.irfft, input_tensor, fft_length, 2, "IRFFT2D")


def irfft3d(input_tensor: Any, fft_length: Any = None, name: Any = None) -> Any:
    """What `rfft3d` makes this of; it has no gradient."""
    return _half(ops.irfft3d, input_tensor, fft_length, 3, "IRFFT3D")


def _real(op: Op, value: Any, fft_length: Any, rank: int, label: str) -> Any:
    x = _real_tensor(value)
    at_least(x, rank)
    if fft_length is None:
        lengths = x._value.shape[-rank:]
    else:
        lengths = _lengths(fft_length, rank, label)
        _not_empty(x, lengths, label)
    return _apply(op, x, lengths, rank)


def _half(op: Op, value: Any, fft_length: Any, rank: int, label: str) -> Any:
    x = convert.to_tensor(value, hint=_COMPLEX64)
    at_least(x, rank)
    _half_tensor(x)
    if fft_length is None:
        lengths = _whole(x._value.shape[-rank:])
    else:
        lengths = _lengths(fft_length, rank, label)
        _not_empty(x, (*lengths[:-1], lengths[-1] // 2 + 1), label)
    return _apply(op, x, lengths, rank)


def _not_empty(x: Any, lengths: tuple[int, ...], label: str) -> None:
    """What has no numbers is not filled up with zeros, as in TensorFlow."""
    sizes = x._value.shape[-len(lengths) :]
    if not x._value.size and any(m < n for m, n in zip(sizes, lengths, strict=True)):
        raise errors.invalid(
            f"Input must be at least as long as fft_length, {list(lengths)}, if it is empty; got "
            f"{list(x._value.shape)} [Op:{label}] name: "
        )


def _apply(op: Op, x: Any, lengths: tuple[int, ...], rank: int) -> Any:
    more = {"norm": "backward"} if rank < 3 else {}
    return op.apply(x, lengths=lengths, axes=tuple(range(-rank, 0)), **more)


def _whole(sizes: tuple[int, ...]) -> tuple[int, ...]:
    return (*sizes[:-1], max(0, 2 * (sizes[-1] - 1)))


def _real_tensor(value: Any) -> Any:
    x = convert.to_tensor(value, hint=_FLOAT32)
    if x._value.dtype.char not in "fd":
        raise ValueError(
            f"RFFT requires tf.float32 or tf.float64 inputs, got: {x!r}. tf.cast makes it one; "
            "tf.signal.fft transforms complex numbers."
        )
    return x


def _half_tensor(x: Any) -> None:
    if x._value.dtype.kind != "c":
        raise ValueError(
            f"IRFFT requires tf.complex64 or tf.complex128 inputs, got: {x!r}. "
            "tf.cast(x, tf.complex64) makes it one."
        )


def at_least(x: Any, rank: int) -> None:
    """Complain of a tensor with too few axes, as TensorFlow's shapes do."""
    if x._value.ndim < rank:
        raise ValueError(f"Shape {x.shape} must have rank at least {rank}")


def _lengths(value: Any, rank: int, label: str) -> tuple[int, ...]:
    if isinstance(value, TensorShape):
        value = value.as_list()
    array = convert.to_tensor(value, _INT32 if np.size(value) else None)._value
    if array.ndim != 1:
        raise TypeError(f"fft_length of {label} must be a list of {rank}, got {value!r}.")
    if array.shape != (rank,):
        raise errors.invalid(
            f"fft_length must have shape [{rank}], got {list(array.shape)} [Op:{label}] name: "
        )
    for k, n in enumerate(array.tolist()):
        if n < 0:
            raise errors.invalid(f"fft_length[{k}] must >= 0, but got: {n} [Op:{label}] name: ")
    return tuple(array.tolist())


# --- any axes -------------------------------------------------------------------------------------
def fftnd(
    input_tensor: Any, fft_length: Any = None, axes: Any = None, norm: Any = None, name: Any = None
) -> Any:
    """The discrete Fourier transform over the given axes, or over all.

    Differs from TensorFlow: its CPU has no kernel for this; here it works and has gradients.
    """
    _ranked(input_tensor, axes)
    return over(ops.fft, complex_input(input_tensor, "FFTND"), fft_length, axes, norm)


def ifftnd(
    input_tensor: Any, fft_length: Any = None, axes: Any = None, norm: Any = None, name: Any = None
) -> Any:
    """What `fftnd` makes this of.

    Differs from TensorFlow: its CPU has no kernel for this; here it works and has gradients.
    """
    _ranked(input_tensor, axes)
    return over(ops.ifft, complex_input(input_tensor, "IFFTND"), fft_length, axes, norm)


def rfftnd(
    input_tensor: Any, fft_length: Any = None, axes: Any = None, norm: Any = None, name: Any = None
) -> Any:
    """The Fourier transform of real numbers over the given axes, of the last half the frequencies.

    Differs from TensorFlow: its CPU has no kernel for this; here it works and has gradients.
    """
    _ranked(input_tensor, axes)
    return over(ops.rfft, _real_tensor(input_tensor), fft_length, axes, norm)


def irfftnd(
    input_tensor: Any, fft_length: Any = None, axes: Any = None, norm: Any = None, name: Any = None
) -> Any:
    """What `rfftnd` makes this of.

    Differs from TensorFlow: its CPU has no kernel for this; here it works and has gradients.
    """
    _ranked(input_tensor, axes)
    x = convert.to_tensor(input_tensor, hint=_COMPLEX64)
    _half_tensor(x)
    return over(ops.irfft, x, fft_length, axes, norm)


def _ranked(value: Any, axes: Any) -> None:
    """An input has as many axes as are to be transformed, whatever its dtype."""
    if axes is not None:
        given = convert.to_tensor(axes, _INT32)._value
        if not given.ndim:
            raise ValueError(f"axes must be a list of axes, got the number {axes!r}.")
        at_least(convert.to_tensor(value), given.size)


def over(op: Op, x: Any, fft_length: Any, axes: Any, norm: Any = None) -> Any:
    """The transform over these axes, cut or filled up to these lengths."""
    shape = x._value.shape
    places = _axes(axes, len(shape), op.label)
    if fft_length is None:
        lengths = tuple(shape[k] for k in places)
        if op is ops.irfft and lengths:
            lengths = _whole(lengths)
    else:
        lengths = _lengths(fft_length, len(places), f"{op.label}ND")
    if norm not in (None, "backward", "ortho", "forward"):
        raise ValueError(f'norm must be None, "backward", "ortho" or "forward", got {norm!r}.')
    if not places:
        raise errors.invalid(f"{op.label}ND needs at least one axis [Op:{op.label}ND] name: ")
    return op.apply(x, lengths=lengths, axes=places, norm=norm or "backward")


def _axes(axes: Any, rank: int, label: str) -> tuple[int, ...]:
    if axes is None:
        return tuple(range(-rank, 0))
    found = []
    for k in np.reshape(convert.to_tensor(axes, _INT32)._value, -1).tolist():
        if not -rank <= k < rank or (k if k < 0 else k - rank) in found:
            raise errors.invalid(
                f"axes of {label}ND must be different ones from {-rank} to {rank - 1}, got {axes} "
                f"[Op:{label}ND] name: "
            )
        found.append(k if k < 0 else k - rank)
    return tuple(found)


# --- shifts ---------------------------------------------------------------------------------------
def fftshift(x: Any, axes: Any = None, name: Any = None) -> Any:
    """The frequency zero moved to the middle.

    >>> import gradtape as tf
    >>> tf.signal.fftshift([0, 1, 2, -2, -1]).numpy().tolist()
    [-2, -1, 0, 1, 2]
    """
    return _shift(x, axes, 1)


def ifftshift(x: Any, axes: Any = None, name: Any = None) -> Any:
    """The middle moved back to the front: what `fftshift` makes this of."""
    return _shift(x, axes, -1)


def _shift(x: Any, axes: Any, sign: int) -> Any:
    x = convert.to_tensor(x)
    shape = x._value.shape
    if axes is None:
        axes = list(range(len(shape)))
    elif not isinstance(axes, int):
        axes = np.asarray(convert.to_tensor(axes)._value).tolist()
        if np.ndim(axes) > 1:
            raise errors.invalid(f"shift must be a scalar or a 1-D vector, got {axes} [Op:Roll]")
    for k in [axes] if isinstance(axes, int) else axes:
        if not -len(shape) <= k < len(shape):
            raise errors.invalid(
                f"axis {k} is out of bounds: there are {len(shape)} axes [Op:Roll] name: "
            )
    if isinstance(axes, int):
        return roll(x, sign * (shape[axes] // 2), axes)
    return roll(x, [sign * (shape[k] // 2) for k in axes], axes)
