"""`tf.strings`: functions of tensors that hold bytes."""

from __future__ import annotations

from ..framework.namespaces import namespace

_HOMES = {
    "basic": """
        as_string bytes_split format join length lower reduce_join regex_full_match
        regex_replace split strip substr to_number upper""",
    "unicode": """
        ngrams to_hash_bucket to_hash_bucket_fast to_hash_bucket_strong unicode_decode
        unicode_decode_with_offsets unicode_encode unicode_split unicode_split_with_offsets
        unicode_transcode unsorted_segment_join""",
}  # fmt: skip
__getattr__, __dir__, __all__ = namespace(__name__, _HOMES)
