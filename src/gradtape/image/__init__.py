"""`tf.image`: images as tensors, [height, width, channels] or a batch; their files are in `io`."""

from typing import TYPE_CHECKING

from ..framework.namespaces import lookup
from .boxes import (
    crop_and_resize,
    extract_patches,
    non_max_suppression,
    non_max_suppression_overlaps,
    non_max_suppression_with_scores,
)  # fmt: skip
from .chance import (
    random_brightness,
    random_contrast,
    random_crop,
    random_flip_left_right,
    random_flip_up_down,
    random_hue,
    random_saturation,
    stateless_random_brightness,
    stateless_random_contrast,
    stateless_random_crop,
    stateless_random_flip_left_right,
    stateless_random_flip_up_down,
    stateless_random_hue,
    stateless_random_saturation,
)  # fmt: skip
from .colour import (
    adjust_brightness,
    adjust_contrast,
    adjust_gamma,
    adjust_hue,
    adjust_saturation,
    convert_image_dtype,
    grayscale_to_rgb,
    hsv_to_rgb,
    per_image_standardization,
    rgb_to_grayscale,
    rgb_to_hsv,
    rgb_to_yiq,
    rgb_to_yuv,
    yiq_to_rgb,
    yuv_to_rgb,
)  # fmt: skip
from .layout import (
    central_crop,
    crop_to_bounding_box,
    flip_left_right,
    flip_up_down,
    pad_to_bounding_box,
    resize_with_crop_or_pad,
    rot90,
    transpose,
)  # fmt: skip
from .measures import (
    image_gradients,
    psnr,
    sobel_edges,
    ssim,
    ssim_multiscale,
    total_variation,
)  # fmt: skip
from .resizing import ResizeMethod, resize, resize_with_pad

if TYPE_CHECKING:
    from ..io.images import (
        decode_and_crop_jpeg,
        decode_bmp,
        decode_gif,
        decode_image,
        decode_jpeg,
        decode_png,
        encode_jpeg,
        encode_png,
        extract_jpeg_shape,
        is_jpeg,
    )  # fmt: skip

_FILES = """
    decode_and_crop_jpeg decode_bmp decode_gif decode_image decode_jpeg decode_png encode_jpeg
    encode_png extract_jpeg_shape is_jpeg"""
__getattr__ = lookup(__name__, {"..io.images": _FILES})

__all__ = [
    "ResizeMethod", "adjust_brightness", "adjust_contrast", "adjust_gamma", "adjust_hue",
    "adjust_saturation", "central_crop", "convert_image_dtype", "crop_and_resize",
    "crop_to_bounding_box", "decode_and_crop_jpeg", "decode_bmp", "decode_gif", "decode_image",
    "decode_jpeg", "decode_png", "encode_jpeg", "encode_png", "extract_jpeg_shape",
    "extract_patches", "flip_left_right", "flip_up_down",
    "grayscale_to_rgb", "hsv_to_rgb", "image_gradients", "is_jpeg", "non_max_suppression",
    "non_max_suppression_overlaps", "non_max_suppression_with_scores", "pad_to_bounding_box",
    "per_image_standardization", "psnr", "random_brightness", "random_contrast", "random_crop",
    "random_flip_left_right", "random_flip_up_down", "random_hue", "random_saturation", "resize",
    "resize_with_crop_or_pad", "resize_with_pad", "rgb_to_grayscale", "rgb_to_hsv", "rgb_to_yiq",
    "rgb_to_yuv", "rot90", "sobel_edges", "ssim", "ssim_multiscale",
    "stateless_random_brightness", "stateless_random_contrast", "stateless_random_crop",
    "stateless_random_flip_left_right", "stateless_random_flip_up_down", "stateless_random_hue",
    "stateless_random_saturation", "total_variation", "transpose", "yiq_to_rgb", "yuv_to_rgb",
]  # fmt: skip
