"""The names of this namespace; written by `python -m tests.stubs` from `_HOMES`."""

from . import gfile as gfile
from .decoding import (
    decode_base64 as decode_base64, decode_compressed as decode_compressed, decode_raw as
    decode_raw, encode_base64 as encode_base64, parse_tensor as parse_tensor, serialize_tensor
    as serialize_tensor,
)  # fmt: skip
from .files import (
    matching_files as matching_files, read_file as read_file, write_file as write_file,
)  # fmt: skip
from .images import (
    decode_and_crop_jpeg as decode_and_crop_jpeg, decode_bmp as decode_bmp, decode_gif as
    decode_gif, decode_image as decode_image, decode_jpeg as decode_jpeg, decode_png as
    decode_png, decode_webp as decode_webp, encode_jpeg as encode_jpeg, encode_png as
    encode_png, extract_jpeg_shape as extract_jpeg_shape, is_jpeg as is_jpeg,
)  # fmt: skip
from .records import TFRecordOptions as TFRecordOptions, TFRecordWriter as TFRecordWriter
