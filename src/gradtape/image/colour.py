"""Colours of images from one description to another, and their adjustment."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes, errors
from ..arrays.gathering import where
from ..arrays.reshaping import broadcast_to, stack
from ..arrays.values import cast, saturate_cast
from ..core.apply import tensor
from ..framework import convert
from ..framework.arguments import defaulted
from ..linalg.products import tensordot
from ..math.elementwise import abs, add, floormod, maximum, minimum, multiply, pow, subtract
from ..math.reductions import reduce_max, reduce_mean, reduce_min, reduce_std
from .layout import picture

_GREY = [0.2989, 0.5870, 0.1140]
_YIQ = [
    [0.299, 0.59590059, 0.2115],
    [0.587, -0.27455667, -0.52273617],
    [0.114, -0.32134392, 0.31119955],
]
_RGB_OF_YIQ = [
    [1.0, 1.0, 1.0],
    [0.95598634, -0.27201283, -1.10674021],
    [0.6208248, -0.64720424, 1.70423049],
]
_YUV = [
    [0.299, -0.14714119, 0.61497538],
    [0.587, -0.28886916, -0.51496512],
    [0.114, 0.43601035, -0.10001026],
]
_RGB_OF_YUV = [[1.0, 1.0, 1.0], [0.0, -0.394642334, 2.03206185], [1.13988303, -0.58062185, 0.0]]


# --- numbers --------------------------------------------------------------------------------------
def convert_image_dtype(
    image: Any, dtype: Any, saturate: bool = False, name: str | None = None
) -> Any:
    """An image in another dtype: floating-point ones go from 0 to 1, the others over their range.

    >>> import gradtape as tf
    >>> tf.image.convert_image_dtype(tf.constant([0, 255], tf.uint8), tf.float32)
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([0., 1.], dtype=float32)>
    """
    x, wanted = convert.to_tensor(image), dtypes.as_dtype(dtype)
    own = x.dtype
    if not (wanted.is_floating or wanted.is_integer):
        raise AttributeError("dtype must be either floating point or integer")
    if not (own.is_floating or own.is_integer):
        raise AttributeError(f"image dtype must be either floating point or integer, got {own!r}")
    if own == wanted:
        return x
    if own.is_integer and wanted.is_integer:
        high, low = own.max, wanted.max
        if high > low:
            part = x._value.dtype.type((high + 1) // (low + 1))
            scaled = tensor(convert.computed(lambda v: v // part, x._value))
            return (saturate_cast if saturate else cast)(scaled, wanted)
        made = (saturate_cast if saturate else cast)(x, wanted)
        return made * ((low + 1) // (high + 1))
    if own.is_floating and wanted.is_floating:
        return cast(x, wanted)
    if own.is_integer:
        return cast(x, wanted) * (1.0 / own.max)
    scaled = x * (wanted.max + 0.5)
    return (saturate_cast if saturate else cast)(scaled, wanted)


def _in_floats(image: Any, change: Any, saturate: bool = True) -> Any:
    """Change an image in floating point and give it back in its own dtype."""
    x = convert.to_tensor(image)
    own = x.dtype
    # As TensorFlow, float16 is good enough.
    flt = x if own.name in ("float16", "float32") else convert_image_dtype(x, dtypes.float32)
    return convert_image_dtype(change(flt), own, saturate=saturate)


# --- descriptions of colours ----------------------------------------------------------------------
def _channels(images: Any, label: str) -> Any:
    x = _at_least_3d(convert.to_tensor(images), label)
    if x._value.shape[-1] != 3:
        raise errors.invalid(
            f"input must have 3 channels, the colours; got {x.shape} [Op:{label}] name: "
        )
    return x


def _at_least_3d(x: Any, label: str) -> Any:
    if x._value.ndim < 3:
        shape = list(x._value.shape)
        raise errors.invalid(f"input must be at least 3-D, got shape{shape} [Op:{label}] name: ")
    return x


def _factor(value: Any, label: str) -> Any:
    """A float32 that is the second argument of an op."""
    if convert.is_tensor_like(value):
        found = convert.to_tensor(value)
        if found._value.dtype != np.float32:
            raise errors.wrong_dtype(
                f"cannot compute {label} as input #1(zero-based) was expected to be a float tensor "
                f"but is a {convert.c_name(found._value.dtype)} tensor [Op:{label}] name: "
            )
    else:
        found = convert.to_tensor(value, np.dtype(np.float32))
    if found._value.ndim:
        raise errors.invalid(f"{label}: the factor must be scalar: {found.shape} [Op:{label}]")
    return found


def rgb_to_grayscale(images: Any, name: str | None = None) -> Any:
    """The brightness of colours, in one channel."""
    x = convert.to_tensor(images)
    own = x.dtype
    flt = convert_image_dtype(x, dtypes.float32)
    grey = tensordot(flt, tensor(np.array(_GREY, flt._value.dtype)), [[-1], [-1]])
    return convert_image_dtype(grey[..., None], own)


def grayscale_to_rgb(images: Any, name: str | None = None) -> Any:
    """Three equal channels of one."""
    x = convert.to_tensor(images)
    if not x._value.ndim or x._value.shape[-1] != 1:
        raise ValueError(f"Last dimension of a grayscale image should be size 1, got {x.shape}.")
    return broadcast_to(x, (*x._value.shape[:-1], 3))


def _mixed(images: Any, matrix: list[list[float]]) -> Any:
    x = convert.to_tensor(images)
    kernel = convert.to_tensor(matrix, x._value.dtype)
    return tensordot(x, kernel, [[x._value.ndim - 1], [0]])


def rgb_to_yiq(images: Any) -> Any:
    """Red, green and blue as brightness and the two differences of colour of American TV."""
    return _mixed(images, _YIQ)


def yiq_to_rgb(images: Any) -> Any:
    """The inverse of rgb_to_yiq."""
    return _mixed(images, _RGB_OF_YIQ)


def rgb_to_yuv(images: Any) -> Any:
    """Red, green and blue as brightness and the two differences of colour of European TV."""
    return _mixed(images, _YUV)


def yuv_to_rgb(images: Any) -> Any:
    """The inverse of rgb_to_yuv."""
    return _mixed(images, _RGB_OF_YUV)


def rgb_to_hsv(images: Any, name: str | None = None) -> Any:
    """Red, green and blue as hue, saturation and value, each from 0 to 1."""
    x = _hsv_input(images, "RGBToHSV")
    r, g, b = x[..., 0], x[..., 1], x[..., 2]
    value = reduce_max(x, -1)
    spread = value - reduce_min(x, -1)
    some = spread > 0
    # A harmless number where there is nothing to divide by, whose derivative would not be finite.
    safe, bright = where(some, spread, 1.0), where(value > 0, value, 1.0)
    norm = 1.0 / (6.0 * safe)
    by_red = norm * (g - b)
    by_green = norm * (b - r) + 2.0 / 6.0
    by_blue = norm * (r - g) + 4.0 / 6.0
    hue = where(value == r, by_red, where(value == g, by_green, by_blue))
    hue = where(some, hue, 0.0)
    hue = where(hue < 0.0, hue + 1.0, hue)
    return stack([hue, where(value > 0, spread / bright, 0.0), value], -1)


def _hsv_input(images: Any, label: str) -> Any:
    if isinstance(images, int):
        x = convert.to_tensor(images, np.dtype(np.float32))
    else:
        x = defaulted(images, np.float32)
    if x._value.dtype.kind not in "fV":
        raise errors.wrong_dtype(
            f"Value for attr 'T' of {convert.c_name(x._value.dtype)} is not in the list of allowed "
            f"values: half, bfloat16, float, double; tf.image.convert_image_dtype [Op:{label}]"
        )
    if not x._value.ndim:
        raise errors.invalid(f"input must be at least 1D[] [Op:{label}] name: ")
    if x._value.shape[-1] != 3:
        raise errors.FailedPreconditionError(
            None, None,
            f"input must have 3 channels but instead has {list(x._value.shape)} [Op:{label}]",
        )  # fmt: skip
    return x


def hsv_to_rgb(images: Any, name: str | None = None) -> Any:
    """The inverse of rgb_to_hsv.

    Differs from TensorFlow: it has a gradient.
    """
    x = _hsv_input(images, "HSVToRGB")
    h, s, v = x[..., 0], x[..., 1], x[..., 2]
    return stack([((1.0 - s) + s * part) * v for part in _wheel(h)], -1)


def _wheel(hue: Any) -> list[Any]:
    """Red, green and blue of a full colour, each from 0 to 1."""
    six = hue * 6.0
    parts = abs(six - 3.0) - 1.0, 2.0 - abs(six - 2.0), 2.0 - abs(six - 4.0)
    return [minimum(maximum(part, 0.0), 1.0) for part in parts]


# --- adjustment -----------------------------------------------------------------------------------
def adjust_brightness(image: Any, delta: Any) -> Any:
    """The image with a number added to all pixels, of which whole ones count in parts of 1."""
    return _in_floats(image, lambda x: add(x, cast(convert.to_tensor(delta), x.dtype)))


def adjust_contrast(images: Any, contrast_factor: Any) -> Any:
    """(x - mean) * factor + mean, by channel.

    Differs from TensorFlow: it has a gradient.
    """
    x = convert.to_tensor(images)

    def change(x: Any) -> Any:
        factor = _factor(contrast_factor, "AdjustContrastv2")
        mean = reduce_mean(_at_least_3d(x, "AdjustContrastv2"), [-3, -2], keepdims=True)
        return (x - mean) * cast(factor, x.dtype) + mean

    return _in_floats(x, change)


def adjust_gamma(image: Any, gamma: Any = 1, gain: Any = 1) -> Any:
    """gain * x**gamma."""
    if not convert.is_tensor_like(gamma) and gamma < 0:
        raise ValueError("Gamma should be a non-negative real number.")
    if convert.is_tensor_like(gamma):
        convert.examine(_check_gamma, convert.to_tensor(gamma)._value)
    return _in_floats(image, lambda x: gain * pow(x, gamma))


def _check_gamma(gamma: Any) -> None:
    if np.any(gamma < 0):
        raise errors.invalid("Gamma should be a non-negative real number.")


def adjust_hue(image: Any, delta: Any, name: str | None = None) -> Any:
    """The image with its colours turned by a part of the circle, -1 to 1.

    Differs from TensorFlow: it has a gradient.
    """
    convert.examine(_check_turn, convert.to_tensor(delta)._value)

    def change(x: Any) -> Any:
        turn = _factor(delta, "AdjustHue")
        hsv = rgb_to_hsv(_channels(x, "AdjustHue"))
        hue = floormod(hsv[..., 0] + cast(turn, hsv.dtype), 1.0)
        # Between the least and the greatest channel, which stay: also where they are negative.
        least = reduce_min(x, -1)
        spread = hsv[..., 2] - least
        return stack([least + spread * part for part in _wheel(hue)], -1)

    return _in_floats(image, change)


def _check_turn(delta: Any) -> None:
    if np.any((delta < -1) | (delta > 1)):
        raise ValueError("delta must be in the interval [-1, 1]")


def adjust_saturation(image: Any, saturation_factor: Any, name: str | None = None) -> Any:
    """The image with its saturation multiplied, to at most 1.

    Differs from TensorFlow: it has a gradient.
    """

    def change(x: Any) -> Any:
        factor = _factor(saturation_factor, "AdjustSaturation")
        hsv = rgb_to_hsv(_channels(x, "AdjustSaturation"))
        factor = cast(factor, hsv.dtype)
        full = minimum(maximum(multiply(hsv[..., 1], factor), 0.0), 1.0)
        return hsv_to_rgb(stack([hsv[..., 0], full, hsv[..., 2]], -1))

    return _in_floats(image, change)


def per_image_standardization(image: Any) -> Any:
    """Each image less its mean, divided by its deviation, which is at least 1 / sqrt(pixels)."""
    x, _ = picture(image)
    flt = cast(x, dtypes.float32)
    count = float(np.prod(flt._value.shape[-3:]))
    mean = reduce_mean(flt, [-3, -2, -1], keepdims=True)
    deviation = reduce_std(flt, [-3, -2, -1], keepdims=True)
    least = tensor(flt._value.dtype.type(1.0 / np.sqrt(count)))
    return subtract(flt, mean) / maximum(deviation, least)
