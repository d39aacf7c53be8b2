"""Images: layout, sizes, colours, measures, boxes and chance."""

from __future__ import annotations

import numpy as np

from tests.tensorflow.cases._common import fill, first_only, grads, tensor
from tests.tensorflow.harness import attempt, cases


def picture(tf, shape=(5, 4, 3), dtype="float32", seed=0):
    if dtype.startswith(("uint", "int")):
        return tf.constant(np.random.RandomState(seed).randint(0, 200, shape).astype(dtype))
    return tensor(tf, fill(shape, 0.05, 0.95, seed), dtype)


# ------------------------------------------------------------------------------------- layout

LAYOUT = {
    "flip_left_right": lambda tf, x: tf.image.flip_left_right(x),
    "flip_up_down": lambda tf, x: tf.image.flip_up_down(x),
    "transpose": lambda tf, x: tf.image.transpose(x),
    "rot90": lambda tf, x: tf.image.rot90(x),
    "rot180": lambda tf, x: tf.image.rot90(x, k=2),
    "rot270": lambda tf, x: tf.image.rot90(x, 3),
    "rot0": lambda tf, x: tf.image.rot90(x, 4),
    "crop": lambda tf, x: tf.image.crop_to_bounding_box(x, 1, 0, 3, 2),
    "crop_wide": lambda tf, x: tf.image.crop_to_bounding_box(x, 1, 0, 3, 9),
    "crop_negative": lambda tf, x: tf.image.crop_to_bounding_box(x, -1, 0, 3, 2),
    "pad": lambda tf, x: tf.image.pad_to_bounding_box(x, 1, 2, 8, 7),
    "pad_small": lambda tf, x: tf.image.pad_to_bounding_box(x, 1, 2, 3, 3),
    "central": lambda tf, x: tf.image.central_crop(x, 0.5),
    "central_part": lambda tf, x: tf.image.central_crop(x, 0.7),
    "central_all": lambda tf, x: tf.image.central_crop(x, 1.0),
    "central_none": lambda tf, x: tf.image.central_crop(x, 0.0),
    "crop_or_pad": lambda tf, x: tf.image.resize_with_crop_or_pad(x, 3, 7),
    "pad_or_crop": lambda tf, x: tf.image.resize_with_crop_or_pad(x, 8, 3),
    "vector": lambda tf, x: tf.image.flip_left_right(tf.constant([1.0])),
}


@cases(given=LAYOUT, shape={"one": (5, 4, 3), "batch": (2, 4, 5, 1)})
def layout(tf, given, shape):
    return first_only(tf, lambda x: given(tf, x), picture(tf, shape))


# -------------------------------------------------------------------------------------- sizes

METHODS = [
    "bilinear", "nearest", "bicubic", "lanczos3", "lanczos5", "gaussian", "mitchellcubic",
]  # fmt: skip


@cases(
    method=METHODS,
    antialias=[False, True],
    size={"smaller": [3, 2], "larger": [9, 7], "mixed": [8, 3]},
    tolerance=1e-4,
)
def resize(tf, method, antialias, size):
    x = picture(tf, (1, 6, 5, 2))
    return first_only(tf, lambda x: tf.image.resize(x, size, method, antialias=antialias), x)


@cases(
    method=[*METHODS, "area"],
    antialias=[False, True],
    size={"smaller": [3, 2], "larger": [9, 7]},
    odd=[float("inf"), float("nan")],
    tolerance=1e-4,
)
def resize_infinities(tf, method, antialias, size, odd):
    """How far a pixel that is not finite reaches, and a cotangent."""
    image = fill((1, 6, 5, 1))
    image.flat[17] = odd
    x = tf.Variable(image, dtype="float32")
    with tf.GradientTape() as tape:
        y = tf.image.resize(x, size, method, antialias=antialias)
    if method == "area":  # TensorFlow has no gradient of it
        return y
    slopes = fill((1, *size, 1), seed=1)
    slopes.flat[-2] = odd
    return y, tape.gradient(y, x, tf.constant(slopes, "float32"))


@cases(size={"smaller": [3, 2], "larger": [9, 7], "mixed": [8, 3]})
def resize_by_area(tf, size):
    return tf.image.resize(picture(tf, (1, 6, 5, 2)), size, tf.image.ResizeMethod.AREA)


@cases(
    dtype=["float16", "float64", "uint8", "int32"],
    method=["bilinear", "nearest", "bicubic", "area"],
)
def resize_dtypes(tf, dtype, method):
    x = picture(tf, (4, 4, 1), dtype)
    return tf.image.resize(x, [3, 5], method), tf.image.resize(x, [4, 4], method)


@cases(
    given={
        "keep": lambda tf, x: tf.image.resize(x, [10, 10], preserve_aspect_ratio=True),
        "keep_small": lambda tf, x: tf.image.resize(x, [3, 9], preserve_aspect_ratio=True),
        "with_pad": lambda tf, x: tf.image.resize_with_pad(x, 8, 8),
        "with_pad_small": lambda tf, x: tf.image.resize_with_pad(x, 3, 6, antialias=True),
        "with_pad_nearest": lambda tf, x: tf.image.resize_with_pad(x, 7, 3, method="nearest"),
        "method": lambda tf, x: tf.image.resize(x, [3, 3], method="cubic"),
        "size": lambda tf, x: tf.image.resize(x, [3]),
        "rank": lambda tf, x: tf.image.resize(x[0], [3, 3]),
        "size_tensor": lambda tf, x: tf.image.resize(x, tf.constant([3, 3])),
    }
)
def resize_arguments(tf, given):
    return first_only(tf, lambda x: given(tf, x), picture(tf))


# ------------------------------------------------------------------------------------ colours

COLOURS = {
    "grayscale": lambda tf, x: tf.image.rgb_to_grayscale(x),
    "from_grayscale": lambda tf, x: tf.image.grayscale_to_rgb(x[..., :1]),
    "from_grayscale_wrong": lambda tf, x: tf.image.grayscale_to_rgb(x),
    "yiq": lambda tf, x: tf.image.rgb_to_yiq(x),
    "from_yiq": lambda tf, x: tf.image.yiq_to_rgb(x),
    "yuv": lambda tf, x: tf.image.rgb_to_yuv(x),
    "from_yuv": lambda tf, x: tf.image.yuv_to_rgb(x),
    "hsv": lambda tf, x: tf.image.rgb_to_hsv(x),
    "brightness": lambda tf, x: tf.image.adjust_brightness(x, 0.1),
    "gamma": lambda tf, x: tf.image.adjust_gamma(x, 0.5, 2.0),
    "gamma_negative": lambda tf, x: tf.image.adjust_gamma(x, -1.0),
    "standardized": lambda tf, x: tf.image.per_image_standardization(x),
}


@cases(given=COLOURS, shape={"one": (3, 2, 3), "batch": (2, 3, 2, 3)})
def colours(tf, given, shape):
    return first_only(tf, lambda x: given(tf, x), picture(tf, shape))


# TensorFlow has no gradient of these.
@cases(
    given={
        "from_hsv": lambda tf, x: tf.image.hsv_to_rgb(x),
        "contrast": lambda tf, x: tf.image.adjust_contrast(x, 2.0),
        "hue": lambda tf, x: tf.image.adjust_hue(x, 0.2),
        "hue_back": lambda tf, x: tf.image.adjust_hue(x, -0.6),
        "hue_wrong": lambda tf, x: tf.image.adjust_hue(x, 2.0),
        "saturation": lambda tf, x: tf.image.adjust_saturation(x, 0.5),
        "saturation_more": lambda tf, x: tf.image.adjust_saturation(x, 5.0),
        "hsv_grey": lambda tf, x: tf.image.rgb_to_hsv(tf.stack([x[..., 0]] * 3, -1)),
        "hsv_black": lambda tf, x: tf.image.rgb_to_hsv(x * 0.0),
        "hsv_channels": lambda tf, x: tf.image.rgb_to_hsv(x[..., :2]),
    }
)
def colours_only(tf, given):
    return attempt(lambda: given(tf, picture(tf)))


@cases(
    given={
        "brightness": lambda tf, x: tf.image.adjust_brightness(x, 0.3),
        "contrast": lambda tf, x: tf.image.adjust_contrast(x, 1.5),
        "grayscale": lambda tf, x: tf.image.rgb_to_grayscale(x),
        "gamma": lambda tf, x: tf.image.adjust_gamma(x, 2.0),
        "standardized": lambda tf, x: tf.image.per_image_standardization(x),
        "float32": lambda tf, x: tf.image.convert_image_dtype(x, tf.float32),
        "uint8": lambda tf, x: tf.image.convert_image_dtype(x, tf.uint8),
        "uint8_saturate": lambda tf, x: tf.image.convert_image_dtype(x, tf.uint8, saturate=True),
        "int16": lambda tf, x: tf.image.convert_image_dtype(x, tf.int16),
        "int32": lambda tf, x: tf.image.convert_image_dtype(x, tf.int32),
        "float16": lambda tf, x: tf.image.convert_image_dtype(x, tf.float16),
        "bool": lambda tf, x: tf.image.convert_image_dtype(x, tf.bool),
    },
    dtype=["uint8", "int16", "float32", "float64"],
    tolerance=1e-6,
)
def colours_of_dtypes(tf, given, dtype):
    return attempt(lambda: given(tf, picture(tf, (2, 2, 3), dtype)))


# ----------------------------------------------------------------------------------- measures


@cases(
    given={
        "psnr": lambda tf, a, b: tf.image.psnr(a, b, max_val=1.0),
        "ssim": lambda tf, a, b: tf.image.ssim(a, b, 1.0, filter_size=5),
        "ssim_map": lambda tf, a, b: tf.image.ssim(a, b, 1.0, 5, 1.0, 0.02, 0.04, True),
        "ssim_large": lambda tf, a, b: tf.image.ssim(a, b, 1.0, filter_size=40),
        "multiscale": lambda tf, a, b: tf.image.ssim_multiscale(
            a, b, 1.0, power_factors=(0.4, 0.6), filter_size=5
        ),
        "psnr_shapes": lambda tf, a, b: tf.image.psnr(a, b[:, :4], 1.0),
    },
    tolerance=1e-3,
)
def likeness(tf, given):
    a = picture(tf, (2, 13, 12, 2))
    b = a + tensor(tf, fill((2, 13, 12, 2), -0.05, 0.05, 3))
    return first_only(tf, lambda a, b: given(tf, a, b), a, b)


@cases(op=["psnr", "ssim"])
def likeness_of_bytes(tf, op):
    a, b = (picture(tf, (12, 12, 1), "uint8", seed) for seed in (0, 1))
    return getattr(tf.image, op)(a, b, 255)


@cases(
    given={
        "variation": lambda tf, x: tf.image.total_variation(x),
        "variation_one": lambda tf, x: tf.image.total_variation(x[0]),
        "slopes": lambda tf, x: tf.image.image_gradients(x),
        "slopes_one": lambda tf, x: tf.image.image_gradients(x[0]),
        "sobel": lambda tf, x: tf.image.sobel_edges(x),
        "patches": lambda tf, x: tf.image.extract_patches(
            x, [1, 2, 2, 1], [1, 1, 2, 1], [1, 1, 1, 1], "VALID"
        ),
        "patches_same": lambda tf, x: tf.image.extract_patches(
            x, [1, 2, 3, 1], [1, 2, 2, 1], [1, 2, 1, 1], padding="SAME"
        ),
        "patches_batch": lambda tf, x: tf.image.extract_patches(
            x, [2, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "SAME"
        ),
    }
)
def neighbours(tf, given):
    return grads(tf, lambda x: given(tf, x), picture(tf, (2, 4, 5, 2)))


# -------------------------------------------------------------------------------------- boxes

BOXES = [[0.1, 0.2, 0.7, 0.9], [0.0, 0.0, 1.0, 1.0], [-0.2, 0.3, 0.5, 1.3], [0.8, 0.6, 0.2, 0.1]]


@cases(size=[(3, 4), (1, 1), (2, 1)], tolerance=1e-4)
def crops(tf, size):
    def call(x, boxes):
        return tf.image.crop_and_resize(x, boxes, [0, 1, 0, 1], size)

    return first_only(tf, call, picture(tf, (2, 6, 5, 2)), tf.constant(BOXES))


@cases(
    given={
        "nearest": lambda tf, x: tf.image.crop_and_resize(
            x, BOXES, [0, 1, 0, 1], [3, 4], method="nearest"
        ),
        "beyond": lambda tf, x: tf.image.crop_and_resize(
            x, BOXES, [0, 1, 0, 1], [3, 4], extrapolation_value=7.0
        ),
        "method": lambda tf, x: tf.image.crop_and_resize(x, BOXES, [0] * 4, [3, 4], "cubic"),
        "box_count": lambda tf, x: tf.image.crop_and_resize(x, BOXES, [0], [3, 4]),
        "integers": lambda tf, x: tf.image.crop_and_resize(
            tf.cast(x * 9.0, tf.int32), BOXES, [0, 1, 0, 1], [3, 4]
        ),
        "box_number": lambda tf, x: tf.image.crop_and_resize(x, BOXES, [0, 1, 0, 5], [3, 4]),
    }
)
def crop_arguments(tf, given):
    return attempt(lambda: given(tf, picture(tf, (2, 6, 5, 2))))


RIVALS = [
    [0.0, 0.0, 1.0, 1.0],
    [0.0, 0.1, 1.0, 1.1],
    [0.0, -0.1, 1.0, 0.9],
    [0.0, 10.0, 1.0, 11.0],
    [1.0, 11.1, 0.0, 10.1],
    [0.0, 100.0, 1.0, 101.0],
]
SCORES = [0.9, 0.75, 0.6, 0.95, 0.5, 0.3]


@cases(
    given={
        "plain": lambda tf: tf.image.non_max_suppression(RIVALS, SCORES, 3),
        "all": lambda tf: tf.image.non_max_suppression(RIVALS, SCORES, 30),
        "strict": lambda tf: tf.image.non_max_suppression(RIVALS, SCORES, 6, 0.9),
        "score": lambda tf: tf.image.non_max_suppression(RIVALS, SCORES, 6, 0.5, 0.55),
        "threshold": lambda tf: tf.image.non_max_suppression(RIVALS, SCORES, 3, 1.5),
        "columns": lambda tf: tf.image.non_max_suppression([[1.0, 2.0]], [0.5], 3),
        "scores": lambda tf: tf.image.non_max_suppression(RIVALS, [0.5], 3),
        "overlaps": lambda tf: tf.image.non_max_suppression_overlaps(
            [[1.0, 0.6, 0.1], [0.6, 1.0, 0.2], [0.1, 0.2, 1.0]], [0.5, 0.9, 0.7], 3
        ),
        "with_scores": lambda tf: tf.image.non_max_suppression_with_scores(RIVALS, SCORES, 6),
        "soft": lambda tf: tf.image.non_max_suppression_with_scores(
            RIVALS, SCORES, 6, iou_threshold=1.0, soft_nms_sigma=0.5
        ),
    }
)
def rivals(tf, given):
    return attempt(lambda: given(tf))


# ------------------------------------------------------------------------------------- chance


@cases(
    given={
        "flip": lambda tf, x, seed: tf.image.random_flip_left_right(x, seed),
        "flip_down": lambda tf, x, seed: tf.image.random_flip_up_down(x, seed=seed),
        "brightness": lambda tf, x, seed: tf.image.random_brightness(x, 0.3, seed),
        "contrast": lambda tf, x, seed: tf.image.random_contrast(x, 0.2, 0.8, seed),
        "crop": lambda tf, x, seed: tf.image.random_crop(x, [2, 2, 3], seed),
        "hue": lambda tf, x, seed: tf.image.random_hue(x, 0.3, seed),
        "saturation": lambda tf, x, seed: tf.image.random_saturation(x, 0.5, 1.5, seed),
        "negative": lambda tf, x, seed: tf.image.random_brightness(x, -0.3, seed),
        "order": lambda tf, x, seed: tf.image.random_contrast(x, 0.8, 0.2, seed),
        "too_large": lambda tf, x, seed: tf.image.random_crop(x, [9, 2, 3], seed),
    },
    seed={"none": None, "own": 7},
)
def chance(tf, given, seed):
    tf.random.set_seed(11)
    return attempt(lambda: [given(tf, picture(tf), seed) for _ in range(3)])


@cases(op=["random_flip_left_right", "random_flip_up_down"])
def chance_of_batches(tf, op):
    tf.random.set_seed(11)
    x = picture(tf, (4, 2, 2, 1))
    return getattr(tf.image, op)(x), getattr(tf.image, f"stateless_{op}")(x, [1, 2])


@cases(
    given={
        "flip": lambda tf, x, seed: tf.image.stateless_random_flip_left_right(x, seed),
        "flip_down": lambda tf, x, seed: tf.image.stateless_random_flip_up_down(x, seed),
        "brightness": lambda tf, x, seed: tf.image.stateless_random_brightness(x, 0.3, seed),
        "contrast": lambda tf, x, seed: tf.image.stateless_random_contrast(x, 0.2, 0.8, seed),
        "crop": lambda tf, x, seed: tf.image.stateless_random_crop(x, [2, 2, 3], seed),
        "hue": lambda tf, x, seed: tf.image.stateless_random_hue(x, 0.3, seed),
        "saturation": lambda tf, x, seed: tf.image.stateless_random_saturation(x, 0.5, 1.5, seed),
    }
)
def stateless_chance(tf, given):
    return [given(tf, picture(tf), (3, k)) for k in range(4)]
