"""`tf.io`: files, records and images as bytes."""

from ..framework.namespaces import namespace

_HOMES = {
    "decoding": """
        decode_base64 decode_compressed decode_raw encode_base64 parse_tensor serialize_tensor""",
    "files": "matching_files read_file write_file",
    "images": """
        decode_and_crop_jpeg decode_bmp decode_gif decode_image decode_jpeg decode_png decode_webp
        encode_jpeg encode_png extract_jpeg_shape is_jpeg""",
    "records": "TFRecordOptions TFRecordWriter",
    "": "gfile",  # modules
}
__getattr__, __dir__, __all__ = namespace(__name__, _HOMES)
