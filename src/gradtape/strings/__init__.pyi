"""The names of this namespace; written by `python -m tests.stubs` from `_HOMES`."""

from .basic import (
    as_string as as_string, bytes_split as bytes_split, format as format, join as join, length
    as length, lower as lower, reduce_join as reduce_join, regex_full_match as regex_full_match,
    regex_replace as regex_replace, split as split, strip as strip, substr as substr, to_number
    as to_number, upper as upper,
)  # fmt: skip
from .unicode import (
    ngrams as ngrams, to_hash_bucket as to_hash_bucket, to_hash_bucket_fast as
    to_hash_bucket_fast, to_hash_bucket_strong as to_hash_bucket_strong, unicode_decode as
    unicode_decode, unicode_decode_with_offsets as unicode_decode_with_offsets, unicode_encode
    as unicode_encode, unicode_split as unicode_split, unicode_split_with_offsets as
    unicode_split_with_offsets, unicode_transcode as unicode_transcode, unsorted_segment_join as
    unsorted_segment_join,
)  # fmt: skip
