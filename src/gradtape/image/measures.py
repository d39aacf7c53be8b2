"""How much images differ, vary and change from pixel to pixel."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes, errors
from ..arrays.reshaping import concat, pad, reshape, stack
from ..core.apply import tensor
from ..framework import convert
from ..math.elementwise import abs, log
from ..math.reductions import reduce_mean, reduce_prod, reduce_sum
from ..nn.convolutions import depthwise_conv2d
from ..nn.pooling import avg_pool2d
from ..ops import shape
from ..ops.neural import relu
from .colour import convert_image_dtype
from .layout import picture


def _pair(a: Any, b: Any, max_val: Any) -> tuple[Any, Any, Any]:
    x, y = convert.to_tensor(a), convert.to_tensor(b)
    for given in (x, y):
        if given._value.ndim < 3:
            raise ValueError(f"Shapes of images must have at least 3 dimensions, got {given.shape}")
    try:
        np.broadcast_shapes(x._value.shape[:-3], y._value.shape[:-3])
        fits = x._value.shape[-3:] == y._value.shape[-3:]
    except ValueError:
        fits = False
    if not fits:
        raise errors.invalid(f"Two images are not compatible: {x.shape} and {y.shape}")
    limit = shape.cast.apply(convert.to_tensor(max_val), dtype=x._value.dtype)._value
    top = convert_image_dtype(tensor(limit[()]), dtypes.float32)
    floats = [convert_image_dtype(part, dtypes.float32) for part in (x, y)]
    return floats[0], floats[1], top


def psnr(a: Any, b: Any, max_val: Any, name: str | None = None) -> Any:
    """The peak signal-to-noise ratio of each pair of images, in decibels."""
    x, y = convert.to_tensor(a), convert.to_tensor(b)
    limit = convert.to_tensor(max_val)
    for given, what in ((limit, "max_val"), (x, "a"), (y, "b")):
        if given._value.dtype.kind == "O":
            raise errors.UnimplementedError(None, None, f"Cast string to float: `{what}` of psnr")
    # Where both are of a small rank, the mean complains before their shapes are compared.
    if max(x._value.ndim, y._value.ndim) < 3:
        raise errors.invalid(
            "Invalid reduction dimension -3: images have at least 3 axes, got the shapes "
            f"{list(x._value.shape)} and {list(y._value.shape)} [Op:Mean] name: "
        )
    try:
        np.broadcast_shapes(x._value.shape, y._value.shape)
    except ValueError:
        raise errors.invalid(
            f"Incompatible shapes: {list(x._value.shape)} vs. {list(y._value.shape)} "
            "[Op:SquaredDifference] name: "
        ) from None
    x, y, top = _pair(x, y, limit)
    error = reduce_mean((x - y) ** 2, [-3, -2, -1])
    ten = tensor(np.float32(np.log(10.0)))
    return 20.0 * log(top) / ten - np.float32(10.0 / np.log(10.0)) * log(error)


def total_variation(images: Any, name: str | None = None) -> Any:
    """The absolute differences of neighbouring pixels, added up for each image."""
    x, batch = picture(images, "images")
    down, across = abs(x[..., 1:, :, :] - x[..., :-1, :, :]), abs(x[..., 1:, :] - x[..., :-1, :])
    axes = [1, 2, 3] if batch else None
    return reduce_sum(down, axes) + reduce_sum(across, axes)


def image_gradients(image: Any) -> tuple[Any, Any]:
    """The differences of neighbouring pixels, down and across; the last are 0."""
    x = convert.to_tensor(image)
    if x._value.ndim != 4:
        raise ValueError(
            "image_gradients expects a 4D tensor [batch_size, h, w, d], not "
            f"{x.shape}."
        )  # fmt: skip
    down, across = x[:, 1:] - x[:, :-1], x[:, :, 1:] - x[:, :, :-1]
    none = (0, 0)
    return pad(down, [none, (0, 1), none, none]), pad(across, [none, none, (0, 1), none])


def sobel_edges(image: Any) -> Any:
    """Sobel's derivatives, down and across, along a new last axis."""
    x = convert.to_tensor(image)
    if x._value.ndim != 4:
        raise errors.invalid(
            f"sobel_edges takes images [batch, height, width, channels], got {x.shape} "
            "[Op:MirrorPad]"
        )
    kernel = np.array([[-1, -2, -1], [0, 0, 0], [1, 2, 1]], np.int8).astype(x._value.dtype)
    depth = x._value.shape[-1]
    both = np.stack([kernel, kernel.T], axis=-1)[:, :, None, :]
    framed = pad(x, [(0, 0), (1, 1), (1, 1), (0, 0)], mode="REFLECT")
    y = depthwise_conv2d(framed, tensor(np.tile(both, (1, 1, depth, 1))), [1, 1, 1, 1], "VALID")
    return reshape(y, (*x._value.shape, 2))


# --- structural similarity ------------------------------------------------------------------------
def _window(size: int, sigma: float, channels: int) -> Any:
    place = np.arange(size, dtype=np.float32) - np.float32((size - 1) / 2)
    bell = place**2 * np.float32(-0.5 / sigma**2)
    grid = np.exp(bell[:, None] + bell - (bell[:, None] + bell).max())
    grid = (grid / grid.sum()).astype(np.float32)
    return tensor(np.tile(grid[:, :, None, None], (1, 1, channels, 1)))


def _similar(x: Any, y: Any, top: Any, size: int, sigma: float, k1: float, k2: float) -> Any:
    """Similarity, and the part of it that is contrast and structure, at each place."""
    for part in (x, y):
        if min(part._value.shape[-3:-1]) < size:
            raise errors.invalid(
                f"images of {list(part._value.shape[-3:-1])} are smaller than the filter of "
                f"{size} by {size}"
            )
    channels = x._value.shape[-1]
    window = _window(size, sigma, channels)

    def blurred(part: Any) -> Any:
        shape = part._value.shape
        flat = reshape(part, (-1, *shape[-3:]))
        y = depthwise_conv2d(flat, window, [1, 1, 1, 1], "VALID")
        return reshape(y, (*shape[:-3], *y._value.shape[1:]))

    c1, c2 = (k1 * top) ** 2, (k2 * top) ** 2
    mean_x, mean_y = blurred(x), blurred(y)
    both, squares = mean_x * mean_y * 2.0, mean_x**2 + mean_y**2
    bright = (both + c1) / (squares + c1)
    cross, power = blurred(x * y) * 2.0, blurred(x**2 + y**2)
    structure = (cross - both + c2) / (power - squares + c2)
    return bright * structure, structure


def ssim(
    img1: Any, img2: Any, max_val: Any, filter_size: int = 11, filter_sigma: float = 1.5,
    k1: float = 0.01, k2: float = 0.03, return_index_map: bool = False,
) -> Any:  # fmt: skip
    """The structural similarity of each pair of images, or of each place in them."""
    x, y, top = _pair(img1, img2, max_val)
    found, _ = _similar(x, y, top, filter_size, filter_sigma, k1, k2)
    return reduce_mean(found, [-1] if return_index_map else [-3, -2, -1])


def ssim_multiscale(
    img1: Any, img2: Any, max_val: Any,
    power_factors: Any = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333), filter_size: int = 11,
    filter_sigma: float = 1.5, k1: float = 0.01, k2: float = 0.03,
) -> Any:  # fmt: skip
    """The structural similarity of each pair of images at several sizes, each half the last."""
    x, y, top = _pair(img1, img2, max_val)
    parts = []
    for k in range(len(power_factors)):
        if k:
            x, y = _halved(x), _halved(y)
        found, structure = _similar(x, y, top, filter_size, filter_sigma, k1, k2)
        last = k == len(power_factors) - 1
        parts.append(relu.apply(reduce_mean(found if last else structure, [-3, -2])))
    weights = tensor(np.array(power_factors, np.float32))
    return reduce_mean(reduce_prod(stack(parts, -1) ** weights, [-1]), [-1])


def _halved(x: Any) -> Any:
    shape = x._value.shape
    x = reshape(x, (-1, *shape[-3:]))
    for axis in (1, 2):
        if x._value.shape[axis] % 2:
            edge = x[:, -1:] if axis == 1 else x[:, :, -1:]
            x = concat([x, edge], axis)
    x = avg_pool2d(x, 2, 2, "VALID")
    return reshape(x, (*shape[:-3], *x._value.shape[1:]))
