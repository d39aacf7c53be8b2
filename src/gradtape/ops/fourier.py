"""Fourier and cosine transforms, and frames: each op's derivative is the op that undoes it.

All transforms are linear; the pull of one is its adjoint, another transform with the other scaling.
Their rules take cotangents as they come (`real`). Axes are counted from the end, so that the rules
also serve stacks of cotangents.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.op import Op
from .declare import op
from .infer import as_complex, as_real, same
from .pad import pad
from .reasons import Missing

# Elements from which SciPy's transforms are used; importing them takes 0.1 s. On 1,000 x 400
# float32 they take 1.5 ms, NumPy's 11; on 512 both take 10 us.
_MANY = 1 << 14

Axes = tuple[int, ...]
_ADJOINT = {"backward": "forward", "forward": "backward", "ortho": "ortho"}


def _transform(name: str) -> Any:
    several = f"{name}n"

    def forward(a: Any, lengths: Axes, axes: Axes, norm: str = "backward") -> Any:
        if not a.size:
            return np.zeros(_shapes[name](a.shape, lengths, axes), _kinds[name](a.dtype))
        library: Any = np.fft
        if a.size >= _MANY:
            import scipy.fft

            library = scipy.fft
        if len(axes) == 1:
            return getattr(library, name)(a, lengths[0], axes[0], norm)
        return getattr(library, several)(a, lengths, axes, norm)

    forward.__name__ = name
    return forward


def _sizes(shape: Axes, lengths: Axes, axes: Axes, norm: str = "") -> Axes:
    sizes = list(shape)
    for n, axis in zip(lengths, axes, strict=True):
        sizes[axis] = n
    return tuple(sizes)


def _half(shape: Axes, lengths: Axes, axes: Axes, norm: str = "") -> Axes:
    n = lengths[-1]
    return _sizes(shape, (*lengths[:-1], n // 2 + 1 if n else 0), axes)


_shapes = {"fft": _sizes, "ifft": _sizes, "rfft": _half, "irfft": _sizes}
_kinds: dict[str, Any] = {
    "fft": same,
    "ifft": same,
    "rfft": as_complex,
    "irfft": as_real,
}


def _fit(g: Any, shape: Axes, axes: Axes) -> Any:
    """Cut or fill up with zeros at the end of the axes, as the transform did the other way."""
    cuts, pads = [slice(None)] * len(shape), [(0, 0)] * g.ndim
    for axis in axes:
        if g.shape[axis] > shape[axis]:
            cuts[axis] = slice(shape[axis])
        pads[axis] = (0, max(shape[axis] - g.shape[axis], 0))
    if any(cut.stop is not None for cut in cuts):
        g = g[(..., *cuts)]
    return pad(g, pads=tuple(pads)) if any(high for _, high in pads) else g


def _times(g: Any, n: int, axis: int, inner: float) -> Any:
    """The frequencies of a real signal that stand for two, theirs and the mirrored one's, times
    `inner`: all but the first and, of an even number, the last."""
    counts = np.full(n // 2 + 1, inner, g.dtype)
    counts[:1] = 1
    if n % 2 == 0:
        counts[-1:] = 1
    return g * np.reshape(counts, (-1,) + (1,) * (-axis - 1))


def _grad_of_fft(g: Any, a_shape: Axes, lengths: Axes, axes: Axes, norm: str) -> Any:
    return _fit(ifft(g, lengths=lengths, axes=axes, norm=_ADJOINT[norm]), a_shape, axes)


def _grad_of_ifft(g: Any, a_shape: Axes, lengths: Axes, axes: Axes, norm: str) -> Any:
    return _fit(fft(g, lengths=lengths, axes=axes, norm=_ADJOINT[norm]), a_shape, axes)


def _grad_of_rfft(g: Any, a_shape: Axes, lengths: Axes, axes: Axes, norm: str) -> Any:
    # x[n] -> Re sum over k <= n/2 of g[k] exp(2 pi i k n / N): irfft counts the inner k twice.
    g = _times(g, lengths[-1], axes[-1], 0.5)
    return _fit(irfft(g, lengths=lengths, axes=axes, norm=_ADJOINT[norm]), a_shape, axes)


def _grad_of_irfft(g: Any, a_shape: Axes, lengths: Axes, axes: Axes, norm: str) -> Any:
    g = rfft(g, lengths=lengths, axes=axes, norm=_ADJOINT[norm])
    return _fit(_times(g, lengths[-1], axes[-1], 2.0), a_shape, axes)


def _samples(turn: Any, last: int) -> Any:
    def samples(d: Any) -> list:
        one, two = {"axes": (-1,)}, {"axes": (-2, -1)}
        return [
            ([turn(d, 2, last)], {"lengths": (4,), "norm": "backward", **one}),
            ([turn(d, 5)], {"lengths": (5,), "norm": "ortho", **one}),
            ([turn(d, 2, 2)], {"lengths": (3, 4), "norm": "forward", **two}),
            ([turn(d, 4, 4)], {"lengths": (3, 5), "norm": "backward", **two}),
            ([turn(d, 3, 2)], {"lengths": (2,), "norm": "backward", "axes": (-2,)}),
        ]

    return samples


_complex = _samples(lambda d, *shape: d(*shape) + 1j * d(*shape), 3)
_real = _samples(lambda d, *shape: d(*shape), 4)
_LINEAR: dict[str, Any] = {
    "params": ("lengths", "axes", "norm"), "push": "linear", "batches": True, "real": True,
}  # fmt: skip

fft: Op = op("fft", _transform("fft"), _grad_of_fft, shape=_sizes, label="FFT", takes="c",
             sample=_complex, **_LINEAR)  # fmt: skip
ifft: Op = op("ifft", _transform("ifft"), _grad_of_ifft, shape=_sizes, label="IFFT", takes="c",
              sample=_complex, **_LINEAR)  # fmt: skip
rfft: Op = op("rfft", _transform("rfft"), _grad_of_rfft, shape=_half, dtype=as_complex,
              label="RFFT", takes="f", sample=_real, **_LINEAR)  # fmt: skip
irfft: Op = op("irfft", _transform("irfft"), _grad_of_irfft, shape=_sizes, dtype=as_real,
               label="IRFFT", takes="c", sample=_complex, **_LINEAR)  # fmt: skip

_WHY = (
    "TensorFlow has no derivative for a real transform of three axes; tf.signal.{}nd has one here"
)
_three = {"lengths": (2, 2, 2), "axes": (-3, -2, -1)}
rfft3d = op(
    "rfft3d", _transform("rfft"), Missing(_WHY.format("rfft")), shape=_half, dtype=as_complex,
    label="RFFT3D", takes="f", params=("lengths", "axes"),
    sample=lambda d: [([d(2, 2, 2)], _three)],
)  # fmt: skip
irfft3d = op(
    "irfft3d", _transform("irfft"), Missing(_WHY.format("irfft")), shape=_sizes, dtype=as_real,
    label="IRFFT3D", takes="c", params=("lengths", "axes"),
    sample=lambda d: [([d(2, 2, 2) + 1j * d(2, 2, 2)], _three)],
)  # fmt: skip


# --- cosines --------------------------------------------------------------------------------------
def _dct(a: Any, kind: int, norm: str | None = None) -> Any:
    if not a.size or (kind == 1 and a.shape[-1] == 1):
        return a
    import scipy.fft

    return scipy.fft.dct(a, kind, norm=norm).astype(a.dtype, copy=False)


def _ends(n: int, dtype: Any, first: float, inner: float, last: float) -> Any:
    weights = np.full(n, inner, dtype)
    weights[-1], weights[0] = last, first
    return weights


def _grad_of_dct(g: Any, kind: int, norm: str | None) -> Any:
    n = g.shape[-1]
    if kind == 4 or norm:  # an orthogonal matrix, or a symmetric one
        return dct(g, kind={2: 3, 3: 2, 4: 4}[kind], norm=norm)
    if kind == 1:
        inner = dct(g * _ends(n, g.dtype, 1.0, 0.5, 1.0), kind=1, norm=None)
        return inner * _ends(n, g.dtype, 1.0, 2.0, 1.0)
    if kind == 2:  # 2 sum g[k] cos(pi k (2n + 1) / 2N); type 3 has the term of k = 0 only once
        return dct(g * _ends(n, g.dtype, 2.0, 1.0, 1.0), kind=3, norm=None)
    return dct(g, kind=2, norm=None) * _ends(n, g.dtype, 0.5, 1.0, 1.0)


dct: Op = op(
    "dct", _dct, _grad_of_dct, shape=same, label="RFFT", kind="DCT", takes="f",
    params=("kind", "norm"), push="linear", batches=True,
    sample=lambda d: [
        *[([d(2, 5)], {"kind": kind, "norm": None}) for kind in (1, 2, 3, 4)],
        *[([d(4)], {"kind": kind, "norm": "ortho"}) for kind in (2, 3, 4)],
        ([d(2, 1)], {"kind": 2, "norm": None}), ([d(2, 1)], {"kind": 3, "norm": None}),
    ],
)  # fmt: skip


# --- frames: windows that step along the last axis, and their sum where they overlap --------------
def _frame(a: Any, length: int, step: int) -> Any:
    shape = _frame_shape(a.shape, length, step)
    strides = (*a.strides[:-1], a.strides[-1] * step, a.strides[-1])
    # A view: nothing is copied before the frames are used.
    return np.lib.stride_tricks.as_strided(a, shape, strides, writeable=False)


def _frame_shape(a: Any, length: int, step: int) -> Any:
    count = None if a[-1] is None else max(0, 1 + (a[-1] - length) // step)
    return (*a[:-1], count, length)


def _overlap(a: Any, step: int, size: int) -> Any:
    *lead, frames, length = a.shape
    parts = -(-length // step)  # of a frame, each as long as a step
    rows = max(frames - 1 + parts, -(-size // step), 0)
    out = np.zeros((*lead, rows, step), a.dtype)
    if parts <= frames:
        for k in range(parts):
            part = a[..., k * step : (k + 1) * step]
            out[..., k : k + frames, : part.shape[-1]] += part
    flat = out.reshape(*lead, rows * step)
    if parts > frames:
        for k in range(frames):
            flat[..., k * step : k * step + length] += a[..., k, :]
    return flat[..., :size]


frame: Op = op(
    "frame", _frame,
    lambda g, a_shape, step: overlap(g, step=step, size=a_shape[-1]),
    shape=_frame_shape, label="GatherV2", kind="Frame", params=("length", "step"),
    push="linear", batches=True,
    sample=lambda d: [
        ([d(2, 7)], {"length": 3, "step": 2}), ([d(5)], {"length": 2, "step": 3}),
        ([d(5)], {"length": 4, "step": 1}),
    ],
)  # fmt: skip
overlap: Op = op(
    "overlap", _overlap,
    lambda g, a_shape, step: frame(g, length=a_shape[-1], step=step),
    shape=lambda a, step, size: (*a[:-2], size), label="Sum", kind="OverlapAndAdd",
    params=("step", "size"), push="linear", batches=True,
    sample=lambda d: [
        ([d(2, 3, 5)], {"step": 2, "size": 9}), ([d(2, 3)], {"step": 4, "size": 7}),
        ([d(2, 5)], {"step": 1, "size": 6}),
    ],
)  # fmt: skip
