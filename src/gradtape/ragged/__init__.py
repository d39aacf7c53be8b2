"""`tf.ragged`: rows of different lengths."""

# isort: skip_file

from .tensor import RaggedTensor, RaggedTensorSpec
from .functions import (
    boolean_mask, constant, map_flat_values, range, row_splits_to_segment_ids,
    segment_ids_to_row_splits, stack, stack_dynamic_partitions,
)  # fmt: skip

__all__ = [
    "RaggedTensor", "RaggedTensorSpec", "boolean_mask", "constant", "map_flat_values", "range",
    "row_splits_to_segment_ids", "segment_ids_to_row_splits", "stack",
    "stack_dynamic_partitions",
]  # fmt: skip
