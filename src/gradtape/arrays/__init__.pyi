"""The names of this namespace; written by `python -m tests.stubs` from `_HOMES`."""

from .creation import (
    broadcast_dynamic_shape as broadcast_dynamic_shape, broadcast_static_shape as
    broadcast_static_shape, eye as eye, fill as fill, linspace as linspace, meshgrid as
    meshgrid, one_hot as one_hot, ones as ones, ones_like as ones_like, range as range, rank as
    rank, sequence_mask as sequence_mask, shape as shape, shape_n as shape_n, size as size,
    zeros as zeros, zeros_like as zeros_like,
)  # fmt: skip
from .gathering import (
    boolean_mask as boolean_mask, dynamic_partition as dynamic_partition, dynamic_stitch as
    dynamic_stitch, embedding_lookup as embedding_lookup, gather as gather, gather_nd as
    gather_nd, scatter_nd as scatter_nd, tensor_scatter_nd_add as tensor_scatter_nd_add,
    tensor_scatter_nd_max as tensor_scatter_nd_max, tensor_scatter_nd_min as
    tensor_scatter_nd_min, tensor_scatter_nd_sub as tensor_scatter_nd_sub,
    tensor_scatter_nd_update as tensor_scatter_nd_update, where as where,
)  # fmt: skip
from .reshaping import (
    broadcast_to as broadcast_to, concat as concat, ensure_shape as ensure_shape, expand_dims as
    expand_dims, pad as pad, repeat as repeat, reshape as reshape, reverse as reverse,
    reverse_sequence as reverse_sequence, roll as roll, slice as slice, split as split, squeeze
    as squeeze, stack as stack, strided_slice as strided_slice, tile as tile, transpose as
    transpose, unstack as unstack,
)  # fmt: skip
from .sorting import (
    argsort as argsort, searchsorted as searchsorted, sort as sort, top_k as top_k, unique as
    unique, unique_with_counts as unique_with_counts,
)  # fmt: skip
from .space_depth import (
    batch_to_space as batch_to_space, depth_to_space as depth_to_space, space_to_batch as
    space_to_batch, space_to_depth as space_to_depth,
)  # fmt: skip
from .values import (
    bitcast as bitcast, cast as cast, constant as constant, convert_to_tensor as
    convert_to_tensor, get_static_value as get_static_value, identity as identity, identity_n as
    identity_n, is_tensor as is_tensor, newaxis as newaxis, saturate_cast as saturate_cast,
    stop_gradient as stop_gradient, tensor_diag as tensor_diag,
)  # fmt: skip
