"""Tensors as arrays: made, cast, indexed, reshaped, sorted; most of TensorFlow's top level."""

from __future__ import annotations

from ..framework.namespaces import namespace

_HOMES = {
    "creation": """
        broadcast_dynamic_shape broadcast_static_shape eye fill linspace meshgrid one_hot ones
        ones_like range rank sequence_mask shape shape_n size zeros zeros_like""",
    "gathering": """
        boolean_mask dynamic_partition dynamic_stitch embedding_lookup gather gather_nd
        scatter_nd tensor_scatter_nd_add tensor_scatter_nd_max tensor_scatter_nd_min
        tensor_scatter_nd_sub tensor_scatter_nd_update where""",
    "reshaping": """
        broadcast_to concat ensure_shape expand_dims pad repeat reshape reverse reverse_sequence
        roll slice split squeeze stack strided_slice tile transpose unstack""",
    "sorting": "argsort searchsorted sort top_k unique unique_with_counts",
    "space_depth": "batch_to_space depth_to_space space_to_batch space_to_depth",
    "values": """
        bitcast cast constant convert_to_tensor get_static_value identity identity_n is_tensor
        newaxis saturate_cast stop_gradient tensor_diag""",
}  # fmt: skip
__getattr__, __dir__, __all__ = namespace(__name__, _HOMES)
