"""Files of images as tensors, read and written by Pillow: `pip install 'gradtape[image]'`."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .. import dtypes, errors
from ..framework import convert
from ..framework.arguments import allow, as_input, attribute_dtype, integer, real, truth
from .files import bytes_of, performed, string, text

_JPEG, _PNG, _BMP = b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"BM"
_GIF, _WEBP = b"GIF8", b"RIFF"
_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError as cause:
        raise ModuleNotFoundError(
            "Files of images are read and written by Pillow: pip install 'gradtape[image]'",
            name="PIL",
        ) from cause
    return Image


def _opened(data: bytes, label: str, *formats: str) -> Any:
    import io

    pillow = _pillow()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pillow.DecompressionBombWarning)
            return pillow.open(io.BytesIO(data), formats=formats or None)
    except (OSError, SyntaxError, ValueError, pillow.DecompressionBombError) as cause:
        raise errors.invalid(
            f"Invalid {formats[0] if formats else 'image'} data, size {len(data)} [Op:{label}]"
        ) from cause


def _loaded(image: Any, label: str) -> Any:
    try:
        image.load()
    except (OSError, SyntaxError, ValueError) as cause:
        raise errors.invalid(f"Invalid image data: {cause} [Op:{label}]") from cause
    return image


def _check_channels(channels: Any, allowed: tuple[int, ...], label: str) -> int:
    count = 0 if channels is None else integer(channels, "channels")
    if count not in allowed:
        words = ", ".join(map(str, allowed[:-1])) + f" or {allowed[-1]}"
        raise errors.invalid(f"channels must be {words}, got {count} [Op:{label}]")
    return count


# --- pixels ---------------------------------------------------------------------------------------
def _grey(pixels: Any) -> Any:
    """The brightness as libpng computes it, which rounds that of 16 bits only."""
    red, green, blue = (pixels[..., k].astype(np.int64) for k in range(3))
    half = 16384 if pixels.dtype == np.uint16 else 0
    grey = (9798 * red + 19235 * green + 3735 * blue + half) >> 15
    return grey.astype(pixels.dtype)


def _with_channels(pixels: Any, channels: int, opaque: int | None = None) -> Any:
    """Pixels [height, width, channels] with another number of channels, as libpng makes them."""
    have = pixels.shape[-1]
    if channels in (0, have):
        return pixels
    opaque = np.iinfo(pixels.dtype).max if opaque is None else opaque
    full = np.full((*pixels.shape[:-1], 1), opaque, pixels.dtype)
    alpha = pixels[..., -1:] if have in (2, 4) else full
    colours = pixels[..., : have - 1] if have in (2, 4) else pixels
    if channels <= 2 and colours.shape[-1] == 3:
        colours = _grey(colours)[..., None]
    elif channels >= 3 and colours.shape[-1] == 1:
        colours = np.repeat(colours, 3, -1)
    return np.concatenate([colours, alpha], -1) if channels in (2, 4) else colours


def _pixels(image: Any) -> Any:
    """Pixels as they are in the file, [height, width, channels]."""
    if image.mode == "P":
        image = image.convert("RGBA" if "transparency" in image.info else "RGB")
    elif image.mode == "1":
        image = image.convert("L")
    elif image.mode.startswith("I"):
        return np.asarray(image).astype(np.uint16)[..., None]
    elif image.mode not in _MODES.values():
        image = image.convert("RGB")
    found = np.asarray(image)
    return found if found.ndim == 3 else found[..., None]


def _in_dtype(pixels: Any, dtype: Any, factor: int = 256) -> Any:
    """Of 8 and 16 bits: the lower byte is dropped, or is 0."""
    if pixels.dtype == dtype:
        return pixels
    if dtype == np.uint16:
        return pixels.astype(np.uint16) * np.uint16(factor)
    return (pixels >> 8).astype(np.uint8)


# --- decoding -------------------------------------------------------------------------------------
def _png(data: bytes, channels: int, dtype: Any, label: str = "DecodePng") -> Any:
    image = _loaded(_opened(data, label, "PNG"), label)
    depth = data[24]
    if depth == 16 and dtype == np.uint16 and not image.mode.startswith("I"):
        raise errors.UnimplementedError(
            None, None, f"Pillow has no colours of 16 bits: decode to uint8 [Op:{label}]",
        )  # fmt: skip
    # A byte is repeated to make two of it; what is opaque is counted by the file's bits, which
    # for less than 8 of them is TensorFlow's own way.
    pixels = _in_dtype(_pixels(image), dtype, factor=257)
    return _with_channels(pixels, channels, (1 << depth) - 1 if depth < 8 else None)


def _jpeg(data: bytes, channels: int, ratio: int = 1, label: str = "DecodeJpeg") -> Any:
    image = _opened(data, label, "JPEG")
    wanted = "L" if channels == 1 or (not channels and image.mode == "L") else "RGB"
    size = tuple(-(-side // ratio) for side in image.size)
    if ratio > 1 or wanted == "L":
        image.draft(wanted, size)  # by the decoder, as TensorFlow's does it
    image = _loaded(image, label)
    pixels = np.asarray(image.convert(wanted))
    return pixels if pixels.ndim == 3 else pixels[..., None]


def _bmp(data: bytes, channels: int) -> Any:
    pixels = _pixels(_loaded(_opened(data, "DecodeBmp", "BMP"), "DecodeBmp"))
    if (channels, pixels.shape[-1]) == (4, 3):
        return _with_channels(pixels, 4)
    if channels and channels != pixels.shape[-1]:
        raise errors.invalid(
            f"channels attribute {channels} does not match bits per pixel from file "
            f"{8 * pixels.shape[-1]} [Op:DecodeBmp]"
        )
    return pixels


def _gif(data: bytes) -> Any:
    image = _opened(data, "DecodeGif", "GIF")
    frames = []
    for number in range(getattr(image, "n_frames", 1)):
        image.seek(number)
        frames.append(np.asarray(image.convert("RGB")))
    return np.stack(frames)


def decode_png(
    contents: Any, channels: int = 0, dtype: Any = dtypes.uint8, name: str | None = None
) -> Any:
    """The pixels of a PNG file, [height, width, channels], of uint8 or uint16."""
    count = _check_channels(channels, (0, 1, 2, 3, 4), "DecodePng")
    kind = _unsigned(dtype, "DecodePng")
    given = string(contents, "DecodePng")
    return performed(
        "decode_png", lambda data: _any(bytes_of(data), count, kind, "DecodePng"), given,
        like=lambda size: np.zeros((size, size, count or size), kind),
        exact=True,
    )  # fmt: skip


def decode_jpeg(
    contents: Any,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> Any:
    """The pixels of a JPEG file, [height, width, channels], of uint8; 1/`ratio` of the size.

    Differs from TensorFlow: the transform is the accurate one (`dct_method="INTEGER_ACCURATE"`)
    also by default, where TensorFlow takes one that is off by a few of 256 levels.
    """
    count = _check_channels(channels, (0, 1, 3), "DecodeJpeg")
    shrunk = 1 if ratio is None else integer(ratio, "ratio")
    truth(fancy_upscaling, "fancy_upscaling", True)
    truth(try_recover_truncated, "try_recover_truncated")
    real(acceptable_fraction, "acceptable_fraction", 1.0)
    if not isinstance(dct_method, (str, bytes, type(None))):
        raise TypeError(f"Expected string for argument 'dct_method' not {dct_method!r}.")
    if shrunk not in (1, 2, 4, 8):
        raise errors.invalid(f"ratio must be 1, 2, 4, or 8, got {shrunk} [Op:DecodeJpeg]")

    def decode(given: Any) -> Any:
        data = bytes_of(given)
        if data.startswith(_JPEG):
            return _jpeg(data, count, shrunk)
        return _any(data, count, np.dtype(np.uint8), "DecodeJpeg")

    if convert.is_tensor_like(contents):
        contents = convert.to_tensor(contents, np.dtype(object))  # or its error about another dtype
    return performed(
        "decode_jpeg", decode, string(contents, "DecodeJpeg"),
        like=lambda size: np.zeros((size, size, count or size), np.uint8),
        exact=True,
    )  # fmt: skip


def decode_and_crop_jpeg(
    contents: Any,
    crop_window: Any,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> Any:
    """The part [top, left, height, width] of the pixels of a JPEG file."""
    whole = decode_jpeg(
        contents, channels, ratio, fancy_upscaling, try_recover_truncated, acceptable_fraction,
        dct_method,
    )  # fmt: skip
    window = np.asarray(convert.to_tensor(crop_window)._value)
    top, left, height, width = window.tolist()
    limits = whole.shape
    if min(top, left) < 0 or top + height > limits[0] or left + width > limits[1]:
        raise errors.invalid(
            "Invalid crop window: it is not inside of the image [Op:DecodeAndCrop]"
        )
    return whole[top : top + height, left : left + width]


def decode_bmp(contents: Any, channels: int = 0, name: str | None = None) -> Any:
    """The pixels of a BMP file, [height, width, channels], of uint8."""
    count = _check_channels(channels, (0, 1, 3, 4), "DecodeBmp")
    given = string(contents, "DecodeBmp")
    return performed(
        "decode_bmp", lambda data: _bmp(bytes_of(data), count), given,
        like=lambda size: np.zeros((size, size, count or size), np.uint8), exact=True,
    )  # fmt: skip


def decode_gif(contents: Any, name: str | None = None) -> Any:
    """The frames of a GIF file, [frames, height, width, 3], of uint8."""
    given = string(contents, "DecodeGif")
    return performed(
        "decode_gif", lambda data: _gif(bytes_of(data)), given,
        like=lambda size: np.zeros((size, size, size, 3), np.uint8), exact=True,
    )  # fmt: skip


def decode_webp(
    contents: Any, channels: int = 0, dtype: Any = dtypes.uint8, name: str | None = None
) -> Any:
    """The pixels of a WebP file, [frames, height, width, channels], of uint8."""
    count = _check_channels(channels, (0, 3, 4), "DecodeWebP")
    given = string(contents, "DecodeWebP")
    return performed(
        "decode_webp", lambda data: _webp(bytes_of(data), count)[None], given,
        like=lambda size: np.zeros((size, size, size, count or size), np.uint8), exact=True,
    )  # fmt: skip


def _webp(data: bytes, channels: int) -> Any:
    image = _loaded(_opened(data, "DecodeWebP", "WEBP"), "DecodeWebP")
    return _with_channels(_pixels(image), channels)


def _any(data: bytes, channels: int, kind: Any, label: str, frames: bool = False) -> Any:
    """Pixels of a file of whatever format, as TensorFlow's one kernel for all of them."""
    if data.startswith(_PNG):
        return _png(data, channels, kind, label)
    if data.startswith(_JPEG):
        return _in_dtype(_jpeg(data, channels), kind)
    if data.startswith(_GIF):
        found = _in_dtype(_gif(data), kind)
        if not frames and len(found) > 1 and label != "DecodeImage":
            raise errors.invalid(
                f"Got {len(found)} frames, but animated gifs can only be decoded by "
                f"tf.io.decode_gif or tf.io.decode_image [Op:{label}]"
            )
        return found if frames else found[0]
    if data.startswith(_BMP):
        return _in_dtype(_bmp(data, channels), kind)
    if data.startswith(_WEBP) and data[8:12] == b"WEBP":
        return _in_dtype(_webp(data, channels), kind)
    raise errors.invalid(
        "Unknown image file format. One of JPEG, PNG, GIF, BMP, WEBP, JPEG XL required. "
        f"[Op:{label}]"
    )


def _unsigned(dtype: Any, label: str) -> np.dtype:
    kind = attribute_dtype(dtype, "dtype", label)
    if kind not in (np.uint8, np.uint16):
        raise errors.wrong_dtype(
            f"Value for attr 'dtype' of {convert.c_name(kind)} is not in the list of allowed "
            f"values: uint8, uint16 [Op:{label}]"
        )
    return kind


def decode_image(
    contents: Any,
    channels: Any = None,
    dtype: Any = dtypes.uint8,
    name: str | None = None,
    expand_animations: bool = True,
) -> Any:
    """The pixels of a file, whichever format it has; a GIF gives frames, if not told otherwise."""
    count = _check_channels(channels, (0, 1, 3, 4), "DecodeImage")
    kind = dtypes.as_dtype(dtype)
    if kind not in (dtypes.uint8, dtypes.uint16, dtypes.float32):
        from ..image.colour import convert_image_dtype

        deep = decode_image(contents, channels, dtypes.uint16, name, expand_animations)
        return convert_image_dtype(deep, kind)

    def decode(given: Any) -> Any:
        data = bytes_of(given)
        if kind is not dtypes.float32:
            whole = np.dtype(kind.as_numpy_dtype)
            return _any(data, count, whole, "DecodeImage", expand_animations)
        deep = data.startswith(_PNG) and data[24:26] == b"\x10\0"  # 16 bits of grey
        whole = np.dtype(np.uint16 if deep else np.uint8)
        found = _any(data, count, whole, "DecodeImage", expand_animations)
        return found.astype(np.float32) * np.float32(1.0 / np.iinfo(whole).max)

    return performed("decode_image", decode, string(contents, "DecodeImage"))


def is_jpeg(contents: Any, name: str | None = None) -> Any:
    """Whether a string begins as JPEG files do."""
    given = as_input(contents, object, "Substr")._value
    begins = np.frompyfunc(lambda data: bytes_of(data)[:3] == _JPEG, 1, 1)
    return performed(
        "is_jpeg", lambda data: np.asarray(begins(data), bool)[()], given,
        like=lambda size: np.zeros(given.shape, bool)[()], exact=True,
    )  # fmt: skip


def extract_jpeg_shape(contents: Any, output_type: Any = dtypes.int32, name: Any = None) -> Any:
    """Height, width and channels of a JPEG file, of which only the head is read."""
    kind = attribute_dtype(output_type, "output_type", "ExtractJpegShape")

    def read(data: Any) -> Any:
        image = _opened(bytes_of(data), "ExtractJpegShape", "JPEG")
        return np.array([image.height, image.width, len(image.getbands())], kind)

    given = string(contents, "ExtractJpegShape")
    like = lambda size: np.full(3, size, kind)
    return performed("extract_jpeg_shape", read, given, like=like, exact=True)


# --- encoding -------------------------------------------------------------------------------------
def encode_png(image: Any, compression: int = -1, name: str | None = None) -> Any:
    """Pixels [height, width, 1 to 4 channels] of uint8 or uint16 as a PNG file; also batches.

    >>> import gradtape as tf
    >>> tf.io.encode_png(tf.zeros([2, 2, 3], tf.uint8)).numpy()[:4]
    b'\\x89PNG'
    """
    compression = integer(compression, "compression")
    given = convert.to_tensor(image)
    if given._value.dtype.kind == "O":
        allow(given, "EncodePng", "uint8 uint16")
    if dtypes.of(given._value.dtype) not in (dtypes.uint8, dtypes.uint16):
        given = convert.to_tensor(image, np.dtype(np.uint8))
    value = given._value
    if value.ndim < 3 or value.shape[-1] not in _MODES:
        raise errors.invalid(
            "image must be [..., height, width, channels] with 1, 2, 3 or 4 channels, got "
            f"{list(value.shape)} [Op:EncodePng]"
        )

    def encode(pixels: Any) -> Any:
        from .png import png

        made = np.empty(pixels.shape[:-3], object)
        for at in np.ndindex(*pixels.shape[:-3]):
            made[at] = png(pixels[at], compression)
        return made

    like = lambda size: np.full(value.shape[:-3], b"0" * size, object)
    return performed("encode_png", encode, value, like=like, exact=True)


def encode_jpeg(
    image: Any,
    format: str = "",
    quality: int = 95,
    progressive: bool = False,
    optimize_size: bool = False,
    chroma_downsampling: bool = True,
    density_unit: str = "in",
    x_density: int = 300,
    y_density: int = 300,
    xmp_metadata: str = "",
    name: str | None = None,
) -> Any:
    """Pixels [height, width, 1 or 3 channels] of uint8 as a JPEG file."""
    quality = integer(quality, "quality")
    progressive, smaller = truth(progressive, "progressive"), truth(optimize_size, "optimize_size")
    halved = truth(chroma_downsampling, "chroma_downsampling", True)
    density = integer(x_density, "x_density"), integer(y_density, "y_density")
    for argument, value in (("format", format), ("density_unit", density_unit)):
        if not isinstance(value, (str, bytes)):
            raise TypeError(f"Expected string for argument '{argument}' not {value!r}.")
    value = convert.to_tensor(image, np.dtype(np.uint8))._value
    if value.ndim != 3 or value.shape[-1] not in (1, 3):
        raise errors.invalid(
            f"image must be 3-dimensional with 1 or 3 channels, got {list(value.shape)} "
            "[Op:EncodeJpeg]"
        )
    wanted = {"": value.shape[-1], "grayscale": 1, "rgb": 3}.get(format)
    if wanted != value.shape[-1] or not 0 <= quality <= 100:
        raise errors.invalid(
            f"format {format!r} and quality {quality} do not fit {value.shape[-1]} channels "
            "[Op:EncodeJpeg]"
        )

    def encode(pixels: Any) -> Any:
        import io

        file = io.BytesIO()
        picture = _pillow().fromarray(pixels[..., 0] if pixels.shape[-1] == 1 else pixels)
        picture.save(
            file, "JPEG", quality=quality, progressive=progressive, optimize=smaller,
            subsampling="4:2:0" if halved else "4:4:4", dpi=density,
        )  # fmt: skip
        return text(file.getvalue())

    like = lambda size: text(b"0" * size)
    return performed("encode_jpeg", encode, value, like=like, exact=True)
