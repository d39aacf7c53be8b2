"""`tf.ragged`: rows of different lengths."""

from ..framework.namespaces import lookup

# isort: skip_file

from .tensor import RaggedTensor, RaggedTensorSpec
from .functions import (
    boolean_mask, constant, map_flat_values, range, row_splits_to_segment_ids,
    segment_ids_to_row_splits, stack, stack_dynamic_partitions,
)  # fmt: skip

__getattr__ = lookup(__name__)

__all__ = [
    "RaggedTensor", "RaggedTensorSpec", "boolean_mask", "constant", "map_flat_values", "range",
    "row_splits_to_segment_ids", "segment_ids_to_row_splits", "stack",
    "stack_dynamic_partitions",
]  # fmt: skip
