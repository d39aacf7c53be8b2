"""Files of images, which need Pillow."""

from __future__ import annotations

import base64

from tests.tensorflow.cases._images import FILES
from tests.tensorflow.harness import attempt, case, cases


def image(name):
    return base64.b64decode(FILES[name])


def kind(given):
    return type(given).__name__ if isinstance(given, Exception) else given


COLOURS = {"any": 0, "grey": 1, "rgb": 3, "rgba": 4}


@cases(name=[name for name in FILES if name.startswith("png")], channels=COLOURS)
def png(tf, name, channels):
    return tf.io.decode_png(image(name), channels=channels)


@cases(name=["png", "png_grey", "png_16"])
def png_of_16_bits(tf, name):
    return tf.image.decode_png(image(name), dtype=tf.uint16)


@cases(name=["jpeg", "jpeg_grey"], channels={"any": 0, "grey": 1, "rgb": 3})
def jpeg(tf, name, channels):
    return tf.io.decode_jpeg(image(name), channels=channels, dct_method="INTEGER_ACCURATE")


# Not JPEG: by default, TensorFlow takes a transform that is less exact.
PLAIN = [name for name in FILES if name != "webp" and "jpeg" not in name]


@cases(name=PLAIN, dtype=["uint8", "uint16", "float32"])
def any_image(tf, name, dtype):
    return tf.io.decode_image(image(name), dtype=dtype)


@cases(
    given={
        "gif": lambda tf: tf.io.decode_gif(image("gif")),
        "gif_moving": lambda tf: tf.io.decode_gif(image("gif_moving")),
        "gif_first": lambda tf: tf.io.decode_image(image("gif_moving"), expand_animations=False),
        "bmp": lambda tf: tf.io.decode_bmp(image("bmp")),
        "bmp_rgb": lambda tf: tf.io.decode_bmp(image("bmp"), channels=3),
        "bmp_other": lambda tf: tf.io.decode_bmp(image("bmp"), channels=4),
        "png_as_jpeg": lambda tf: tf.io.decode_jpeg(image("png")),
        "jpeg_as_png": lambda tf: tf.io.decode_png(image("jpeg")).shape,
        "gif_as_png": lambda tf: tf.io.decode_png(image("gif_moving")),
        "grey": lambda tf: tf.io.decode_image(image("png"), channels=1),
        "garbage": lambda tf: tf.io.decode_image("garbage"),
        "garbage_png": lambda tf: tf.io.decode_png("garbage"),
        "cut": lambda tf: tf.io.decode_png(image("png")[:60]),
        "empty": lambda tf: tf.io.decode_jpeg(""),
        "channels": lambda tf: tf.io.decode_jpeg(image("jpeg"), channels=4),
        "dtype": lambda tf: tf.io.decode_image(image("png"), dtype=tf.int32),
        "several": lambda tf: tf.io.decode_png([image("png")]),
        "is_jpeg": lambda tf: [tf.io.is_jpeg(image(name)) for name in ("png", "jpeg")],
        "shape": lambda tf: tf.io.extract_jpeg_shape(image("jpeg")),
        "shape_grey": lambda tf: tf.image.extract_jpeg_shape(image("jpeg_grey"), tf.int64),
        "crop": lambda tf: tf.io.decode_and_crop_jpeg(
            image("jpeg_grey"), [1, 2, 3, 4], dct_method="INTEGER_ACCURATE"
        ),
        "crop_outside": lambda tf: tf.io.decode_and_crop_jpeg(image("jpeg"), [1, 2, 30, 4]),
        "encoded": lambda tf: [
            tf.io.decode_png(tf.io.encode_png(tf.cast(tf.reshape(tf.range(24), [2, -1, k]), d)))
            for k in (1, 2, 3, 4) for d in ("uint8",)
        ],
        "encoded_16": lambda tf: tf.io.decode_png(
            tf.io.encode_png(tf.cast(tf.reshape(tf.range(24) * 1000, [2, 12, 1]), tf.uint16)),
            dtype=tf.uint16,
        ),
        "encoded_several": lambda tf: tf.io.encode_png(tf.zeros([2, 3, 4, 1], tf.uint8)).shape,
        "encoded_wrong": lambda tf: tf.io.encode_png(tf.zeros([2, 3, 5], tf.uint8)),
        "encoded_flat": lambda tf: tf.io.encode_png(tf.zeros([2, 3], tf.uint8)),
        "jpeg_encoded": lambda tf: tf.io.decode_jpeg(
            tf.io.encode_jpeg(tf.fill([9, 9, 3], tf.constant(77, tf.uint8)))
        ),
        "jpeg_encoded_wrong": lambda tf: tf.io.encode_jpeg(tf.zeros([2, 3, 4], tf.uint8)),
    }
)  # fmt: skip
def images(tf, given):
    return kind(attempt(lambda: given(tf)))


@case
def images_in_a_function(tf):
    decode = tf.function(lambda data: tf.image.decode_image(data, expand_animations=False))
    return [decode(tf.constant(image(name))) for name in ("png", "png_grey", "gif", "png")]
